"""Imports before the fork the slow third-party packages that the project's tests import."""

import contextlib
import importlib.metadata
import inspect
import json
import os
import select
import signal
import sys
import time

MIN_IMPORT_SECONDS = 0.01  # seconds of import time from which an early import pays
MOST_MODULES = 5000
MAX_TRIAL_SECONDS = 30.0  # seconds for the trial of all packages
HAS_PLUGIN = "it has a plugin for pytest"
PYTEST_PACKAGES = ("pytest", "_pytest", "pluggy")  # imported from the start, though not every submodule
INSTALLED = ("site-packages", "dist-packages")
END = ""  # of a trial


def loaded_packages(modules_before):
    """Names of installed modules imported since `modules_before` (names of modules); packages first.

    Many packages (scipy, sklearn) import next to nothing by themselves: what takes long is in their modules.
    """
    names = [
        name for name in sys.modules if name not in modules_before and name.partition(".")[0] not in PYTEST_PACKAGES
    ]
    packages = [name.partition(".")[0] for name in names]
    # A module comes behind those that it has imported, and a package behind its own.
    ordered = dict.fromkeys([*packages, *sorted(names, key=lambda name: name.count("."))])
    return [name for name in ordered if is_installed(sys.modules.get(name))][:MOST_MODULES]


def is_installed(module):
    """True if a module came from a folder of installed packages."""
    path = getattr(getattr(module, "__spec__", None), "origin", None)
    return isinstance(path, str) and any(part in INSTALLED for part in path.split(os.sep))


def workspace_modules(root):
    """Names of this process's modules that lie in the workspace and are not installed there."""
    names = []
    for name, module in list(sys.modules.items()):
        path = getattr(getattr(module, "__spec__", None), "origin", None)
        if isinstance(path, str) and path.startswith(root + os.sep) and not is_installed(module):
            names.append(name)
    return names


def thread_count():
    """The number of this process's threads, as the kernel counts them."""
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        return 1


def select_packages(names, root, trial):
    """Selects packages to import: ([harmless ones], [those with plugins for pytest], {left out: why}).

    With `trial` a forked process imports them first and reports what each costs, and whether it starts threads or
    imports code of the workspace: a process with threads must not be forked, and must not contain workspace code.
    Plugins, and packages that import them, need a pytest session first: its import hook rewrites their assertions, and
    pytest warns of plugins that were imported in another way.
    """
    names = [name for name in names if name not in sys.modules]
    trial_results = _run_trial(names, root) if trial and names else dict.fromkeys(names, (MIN_IMPORT_SECONDS, ""))
    plain, rewritten, left_out = [], [], {}
    for name in names:
        if name not in trial_results and END in trial_results:
            continue  # another one has imported it
        seconds, problem = trial_results.get(name, (0.0, "its trial did not end"))
        if seconds < MIN_IMPORT_SECONDS or problem not in ("", HAS_PLUGIN):
            left_out[name] = problem or "it takes %d ms" % (1000 * seconds)
        else:
            (rewritten if problem else plain).append(name)
    return plain, rewritten, left_out


def import_packages(names):
    """Imports packages, whatever it costs; returns {left out: why}."""
    left_out = {}
    for name in names:
        try:
            __import__(name)
        except BaseException as error:
            left_out[name] = "%s: %s" % (type(error).__name__, error)
    return left_out


def index_modules():
    """Fills the module cache of `inspect`, which a failing test's traceback uses to find each file's module."""
    inspect.getmodule(index_modules.__code__)


def _run_trial(names, root):
    """Imports the packages one after the other in a forked process: {name: (seconds, why not or "")}.

    Without those that others have imported, if it came to its end, which is an item of its own.
    """
    results_in, results_out = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(results_in)
            rewritten = plugin_packages().difference(sys.modules)
            # Plugins last, or it is unknown which package imports them.
            for name in sorted(names, key=rewritten.__contains__):
                if name not in sys.modules:
                    os.write(results_out, (json.dumps([name, *_try_import(name, root, rewritten)]) + "\n").encode())
            os.write(results_out, (json.dumps([END, 0.0, ""]) + "\n").encode())
        finally:
            os._exit(0)
    os.close(results_out)
    data, deadline = b"", time.monotonic() + MAX_TRIAL_SECONDS
    while time.monotonic() < deadline:
        if not select.select([results_in], [], [], max(0.0, deadline - time.monotonic()))[0]:
            break
        chunk = os.read(results_in, 65536)
        if not chunk:
            break
        data += chunk
    os.close(results_in)
    with contextlib.suppress(OSError):
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    lines = [json.loads(line) for line in data.split(b"\n")[:-1]]
    return {name: (seconds, problem) for name, seconds, problem in lines}


def plugin_packages():
    """Names of modules and packages whose assertions pytest rewrites, because their distribution has a plugin."""
    names = set()
    for distribution in importlib.metadata.distributions():
        if any(entry_point.group == "pytest11" for entry_point in distribution.entry_points):
            for file in distribution.files or ():
                if file.suffix == ".py" and len(file.parts) <= 2:
                    names.add(file.parts[0] if len(file.parts) == 2 else file.stem)
            names.update(entry_point.value.split(".")[0].split(":")[0] for entry_point in distribution.entry_points)
    return names


def _try_import(name, root, rewritten):
    started = time.perf_counter()
    try:
        __import__(name)
    except BaseException as error:
        return 0.0, "%s: %s" % (type(error).__name__, str(error)[:200])
    seconds = time.perf_counter() - started
    if thread_count() != 1:
        return seconds, "it starts threads"
    from_workspace = workspace_modules(root)
    if from_workspace:
        return seconds, "it imports %s of the workspace" % from_workspace[0]
    return seconds, HAS_PLUGIN if rewritten.intersection(sys.modules) else ""
