"""Notices which code of the workspace reads the sources of tests, or looks at the frames of its callers.

An audit hook sees every open, whatever function made it; it cannot be taken back, and it only lists what it sees. It
leaves alone what the tests do themselves, what pytest does, and what prints tracebacks and warnings. The host judges:
it knows which code is new, and what the user's own code did.
"""

import fnmatch
import os
import re
import sys
import threading
import types

MOST_READS = 200
MOST_SOURCES = 5000
MOST_FRAMES = 8  # frames of the workspace between a read and the test
MOST_VALUES = 50  # values of a test's variable that are looked into

_PATTERNS = ("test_*.py", "*_test.py")
_MOVES = frozenset(("os.rename", "os.link", "os.symlink"))
_PROGRAMS = frozenset(("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.spawn"))
_PRINTERS = ("traceback.py", "warnings.py", "logging/__init__.py")
_FILE_NAME = re.compile(r"[\w./-]+\.py\b")


def watch(root, texts=()):
    """Begins to watch this process. Returns (a pytest plugin, `list_records()`).

    `texts` are files with tests that are no Python files, relative to the root.
    """
    texts = frozenset(texts)
    state = {"patterns": _PATTERNS, "programs": False}
    reads, sources, busy = {}, {}, set()
    prefix, pid, getpid, ident = root + os.sep, os.getpid(), os.getpid, threading.get_ident
    get_frame, real_path = sys._getframe, os.path.realpath

    def relative(path):
        """The path of a source in the workspace (also of its byte code), relative to it; else ""."""
        path = real_path(path)
        if not path.startswith(prefix):
            return ""
        folder, name = os.path.split(path)
        if os.path.basename(folder) == "__pycache__":
            path = os.path.join(os.path.dirname(folder), name.partition(".")[0] + ".py")
        path = path[len(prefix) :].replace(os.sep, "/")
        return path if path.endswith(".py") or path in texts else ""

    def holds_tests(path):
        if path in texts:
            return True
        *folders, name = path.split("/")
        if name == "conftest.py" or "test" in folders or "tests" in folders:
            return True
        return any(fnmatch.fnmatch(path if "/" in each else name, each) for each in state["patterns"])

    def inside(frame):
        """The path of a frame's code in the workspace, else ""."""
        path = frame.f_code.co_filename
        if not path.startswith(prefix) or "-packages" + os.sep in path:
            return ""
        return path[len(prefix) :].replace(os.sep, "/")

    def is_called_by_workspace(frame):
        while frame is not None and not inside(frame):
            frame = frame.f_back
        return frame is not None

    def note(how, path, frame):
        """Remembers a read by the frames of the workspace above the test, unless the test handed the path over."""
        by_import = by_inspect = False
        while frame is not None and not inside(frame):
            file = frame.f_code.co_filename.replace(os.sep, "/")
            if how == "open" and not by_import and (file.endswith(_PRINTERS) or _is_pytest(file)):
                return
            by_import = by_import or file.startswith("<frozen importlib")
            by_inspect = by_inspect or file.endswith("/inspect.py")
            frame = frame.f_back
        frames = []
        while frame is not None:
            file = inside(frame)
            if file and holds_tests(file):
                if not frames or (path and _hands_over(frame, prefix + path, by_inspect)):
                    return
                break
            if file and len(frames) < MOST_FRAMES:
                frames.append((file, frame.f_lineno or 0, frame.f_code.co_name))
            frame = frame.f_back
        if frames and len(reads) < MOST_READS:
            reads[("import" if by_import and how == "open" else how, path, tuple(frames))] = None

    def see(event, arguments):
        if event == "open" or event in _MOVES:
            file = arguments[0]
            if isinstance(file, bytes):
                file = os.fsdecode(file)
            if not isinstance(file, str) or (not texts and ".py" not in file):
                return
            path = relative(file)
            if path and len(sources) < MOST_SOURCES:
                sources[path] = None
            if path and holds_tests(path):
                note("open", path, get_frame(2))
        elif event == "sys._getframe":
            frame = get_frame(2)
            while frame is not None and frame.f_code.co_filename.endswith("/inspect.py") and not inside(frame):
                frame = frame.f_back
            if frame is not None and inside(frame):
                note("frame", "", frame)
        elif event in _PROGRAMS:
            if not is_called_by_workspace(get_frame(2)):
                return  # packages ask the machine about itself
            state["programs"] = True
            for name in _FILE_NAME.findall(repr(arguments[:2])):  # the environment names the running test
                path = relative(name)
                if path and holds_tests(path):
                    note("program", path, get_frame(2))

    def hook(event, arguments):
        if event not in _EVENTS:
            return
        thread = ident()
        if thread in busy or getpid() != pid:
            return
        busy.add(thread)
        try:
            see(event, arguments)
        except Exception:  # what the code under test did must not fail by being watched
            pass
        finally:
            busy.discard(thread)

    def list_records():
        """The records of what was seen so far."""
        yield {"kind": "sources", "files": list(sources), "programs": state["programs"]}
        for how, path, frames in list(reads):
            yield {"kind": "source_read", "how": how, "path": path, "frames": [list(frame) for frame in frames]}

    class Patterns:
        def pytest_collection(self, session):
            state["patterns"] = tuple(session.config.getini("python_files")) or _PATTERNS

    sys.addaudithook(hook)
    return Patterns(), list_records


_EVENTS = frozenset(("open", "sys._getframe")) | _MOVES | _PROGRAMS


def _is_pytest(file):
    # The importer that rewrites assertions also serves code that imports tests.
    return "/_pytest/" in file and not file.endswith("/assertion/rewrite.py")


def _hands_over(frame, path, inspected):
    """Does the function of a test mention the path, a folder above it or, where it is inspected, code in it?"""
    code = frame.f_code
    if code.co_name == "<module>":
        return False
    local, names = frame.f_locals, {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    for name in names:
        value = local[name] if name in local else frame.f_globals.get(name)
        values = value if type(value) in (list, tuple, set) else value.values() if type(value) is dict else (value,)
        for each in list(values)[:MOST_VALUES]:
            if _leads_to(each, path) or (inspected and _is_code_of(each, path)):
                return True
    return any(_leads_to(each, path) for each in code.co_consts)


def _leads_to(value, path):
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    elif type(value) is not str or value in ("", ".", os.sep) or len(value) > 4096 or "\0" in value:
        return False
    found = os.path.realpath(value) if isinstance(value, str) else ""
    return bool(found) and (path == found or path.startswith(found + os.sep))


def _is_code_of(value, path):
    if isinstance(value, types.FunctionType):
        return os.path.realpath(value.__code__.co_filename) == path
    module = value if isinstance(value, types.ModuleType) else None
    if isinstance(value, type):
        module = sys.modules.get(value.__module__)
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and os.path.realpath(file) == path
