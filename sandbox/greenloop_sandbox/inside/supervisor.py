"""The supervisor: runs inside the sandbox, forks one worker for each run and reports how it ended.

    python -s -B supervisor.py [--alone] [--packages FOLDER] [--addresses A,B]

`--alone`: every process of the pid namespace but pid 1 and this one belongs to the runs, so all may be killed.
`--packages`: a folder with pytest and its dependencies, used only where the interpreter has no pytest of its own.
`--addresses`: additional addresses for the loopback device.
`--services`: a descriptor of the host's, and ports of the loopback that it serves.
Standard library on Python 3.9 or newer, and the project's own pytest. Single-threaded, so that forking is safe.
"""

import functools
import gc
import importlib.machinery
import importlib.util
import marshal
import os
import select
import signal
import sys
import types

SANDBOX_FOLDER = os.path.dirname(os.path.abspath(__file__))
FOLDERS = ("", "apart", "tracing")  # in a sandbox all files lie in one
LOADED_AT_START = ("processes", "run_supervision", "worker", "options", "failures", "plugin")
LOADED_WHEN_IDLE = (
    "isolation", "cleanup", "overlay", "preimport", "pytest_session", "doctest_cases", "load_tests", "function_tracer",
    "safe_repr", "traced_cases", "line_tracer", "call_costs", "failure_inspection", "apart_stubs",
)  # fmt: skip


def main(argv):
    environ = dict(os.environ)  # a prepared session changes it
    gc.disable()  # importing makes hardly any garbage; the worker's session enables it again
    requests, replies = _claim_streams()
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != SANDBOX_FOLDER]
    protocol, siblings = _load_sibling("protocol"), Siblings()
    # As pid 1 of the namespace this process ignores signals from inside, except SIGINT, which has Python's handler.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    processes = siblings["processes"]
    # A worker of the same uid can neither trace this process nor read its memory.
    processes.prctl(processes.PR_SET_DUMPABLE, 0)
    processes.prctl(processes.PR_SET_CHILD_SUBREAPER, 1)
    if "--addresses" in argv:
        siblings["loopback"].add_addresses(argv[argv.index("--addresses") + 1].split(","))

    def send(message):
        replies.write(protocol.pack(message, protocol.REPLY_LIMIT))
        replies.flush()

    reason, borrowed = _import_pytest(argv[argv.index("--packages") + 1] if "--packages" in argv else "")
    if "--services" in argv:
        control, *ports = map(int, argv[argv.index("--services") + 1].split(","))
        reason = reason or siblings["loopback"].hand_out_ports(control, ports)
    if reason:
        send({"kind": "broken", "reason": reason})
        return 1
    import pytest

    for name in LOADED_AT_START:
        siblings[name]
    gc.freeze()
    send(
        {
            "kind": "ready",
            "protocol": protocol.VERSION,
            "python": list(sys.version_info[:3]),
            "pytest": pytest.__version__,
            "borrowed": borrowed,
            "machine": os.uname().machine,
        }
    )
    restart = functools.partial(_restart, requests, replies, argv, environ)
    _serve_requests(requests, send, siblings, protocol, "--alone" in argv, restart)
    return 0


def _restart(requests, replies, argv, environ, request):
    """Becomes a new supervisor with other variables, among them the hash seed; keeps the streams and nothing else."""
    os.dup2(requests.fileno(), 0)
    os.dup2(replies.fileno(), 1)
    os.chdir("/")
    command = [sys.executable, "-s", "-B", os.path.join(SANDBOX_FOLDER, "supervisor.py"), *argv]
    os.execve(sys.executable, command, dict(environ, **request["environ"]))


def _serve_requests(requests, send, siblings, protocol, alone, restart):
    """Answers each request until the host closes the stream."""
    request_handler = RequestHandler(siblings, protocol, alone, requests)
    handlers = {"write": request_handler.write, "run": request_handler.run, "prepare": request_handler.prepare}
    handlers["restart"] = restart
    idle_tasks = None
    while True:
        while idle_tasks is not None and not select.select([requests], [], [], 0)[0]:
            if next(idle_tasks, idle_tasks) is idle_tasks:  # one small task after the other
                break
        request = protocol.read_message(requests, protocol.REQUEST_LIMIT)
        if request is None:
            return
        handler = handlers.get(request["kind"])
        if handler is None:
            send({"kind": "broken", "reason": "Unknown request %r." % request["kind"]})
            continue
        try:
            send(handler(request))
        except (OSError, protocol.ProtocolError) as error:
            send({"kind": "broken", "reason": "The files could not be written: %s." % error})
        if request["kind"] == "run" and idle_tasks is None:
            idle_tasks = _idle_tasks(siblings)


def _idle_tasks(siblings):
    """Yields after each import that every run would otherwise do itself; done later, to not delay the first run."""
    from _pytest.config import default_plugins

    for name in (*("_pytest." + plugin for plugin in default_plugins), "doctest", "unittest.mock"):
        try:
            __import__(name)
        except ImportError:
            pass  # not in this version
        yield
    for name in LOADED_WHEN_IDLE:
        siblings[name]
        yield
    siblings["preimport"].index_modules()
    freeze_heap()


# The code's process gets all but the last, in this order; each imports some of those before it.
APART = (
    "rules", "handles", "signatures", "tables", "values", "encoder", "decoder", "objects", "peer", "context",
    "tasks", "view", "modules", "code", "sources", "changes", "wrong", "variation", "constructions", "assertions",
    "states", "rewriting", "expected", "questions", "executions", "evidence", "replaced", "judge", "stubs",
)  # fmt: skip
FOR_THE_CODE = APART[: APART.index("sources")]


class Siblings(dict):
    """The other files of this folder and those in it by name, each loaded on first use."""

    def __missing__(self, name):
        if name.startswith("apart_"):
            self.update(_load_together(["apart_" + each for each in APART]))
        else:
            self[name] = _load_sibling(name)
        return self[name]


class RequestHandler:
    """Answers the host's requests, one after the other; keeps what was prepared for later runs."""

    def __init__(self, siblings, protocol, alone, requests):
        self._siblings, self._protocol, self._alone, self._requests = siblings, protocol, alone, requests
        self._initial_names, self._listings = {}, {}
        self._session = None

    def write(self, request):
        self._listings.clear()
        self._siblings["overlay"].write_permanently(request, self._protocol, self._siblings["cleanup"])
        return {"kind": "written"}

    def run(self, request):
        self._siblings["worker"].scratch_folder(request["scratch"])  # chosen here, so that all runs use the same
        if request["wall"] is not None:  # the worker writes the files itself, into its private mounts
            return self._supervise(request)
        overlay, cleanup, root = self._siblings["overlay"], self._siblings["cleanup"], request["root"]
        leftovers = cleanup.RunLeftovers(root, request["scratch"], request["uid"], self._initial_names, self._listings)
        undo = overlay.apply(cleanup, root, self._protocol.decode_files(request["files"]), request["without"])
        try:
            reply = self._supervise(request)
        finally:
            # Before the reply: the host may look at the files as soon as it has it.
            leftovers.remove_as_user(self._siblings["worker"].become_user)
            overlay.revert(cleanup, undo)
            all_gone = leftovers.remove_rest()
        return dict(reply, dirty=not all_gone)

    def _supervise(self, request):
        session = self._session if request["session"] else None
        supervise_run = self._siblings["run_supervision"].supervise_run
        return supervise_run(request, self._siblings, self._protocol, self._alone, self._requests, session)

    def prepare(self, request):
        """Imports packages and opens a pytest session, once for all later runs."""
        preimport, pytest_session = self._siblings["preimport"], self._siblings["pytest_session"]
        plain, rewritten, left_out = preimport.select_packages(
            request["modules"], request["root"], trial=request["trial"]
        )
        reason = ""
        if request["session"] and self._session is None:
            self._session, reason = pytest_session.prepare(request, self._siblings)
        rewritten = [*request["rewritten"], *rewritten] if self._session is not None else []
        failed = preimport.import_packages([*plain, *rewritten])
        preimport.index_modules()
        thread_count, from_workspace = preimport.thread_count(), preimport.workspace_modules(request["root"])
        spoilt = "it runs %d threads" % thread_count if thread_count != 1 else ""
        spoilt = spoilt or ("it has imported %s of the workspace" % from_workspace[0] if from_workspace else "")
        freeze_heap()
        return {
            "kind": "prepared",
            "modules": [name for name in plain if name not in failed],
            "rewritten": [name for name in rewritten if name not in failed],
            "left_out": dict(left_out, **failed),
            "session": self._session is not None,
            "reason": reason,
            "spoilt": spoilt,
        }


def freeze_heap():
    """Freezes the heap, which makes the worker's garbage collections short."""
    gc.collect()
    gc.freeze()


def _claim_streams():
    """Reserves the real stdin and stdout for messages; anything else written to fd 1 goes to stderr."""
    requests, replies = os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    return requests, replies


def _load_sibling(name):
    """Loads another file of this folder, but not into sys.modules, where a candidate would find it by name."""
    module = types.ModuleType("_greenloop_" + name)
    module.__file__ = _path_of(name)
    exec(code_of(name), vars(module))
    return module


def _load_together(names):
    """Loads files that import each other. While they do, they are in sys.modules; no code of the project runs then."""
    loaded = {}
    try:
        for name in names:
            module = loaded[name] = sys.modules[name] = types.ModuleType(name)
            exec(code_of(name), vars(module))
    finally:
        for name in loaded:
            del sys.modules[name]
    loaded["apart_stubs"].CODES = [("apart_" + name, _unnamed(code_of("apart_" + name))) for name in FOR_THE_CODE]
    return loaded


def code_of(name):
    """The code of another file of this folder."""
    code = _compiled_siblings().get(name)
    return code or importlib.machinery.SourceFileLoader(name, _path_of(name)).get_code(name)


def _unnamed(code):
    """The same code from no file: frames of the code's process say nothing of greenloop."""
    constants = [_unnamed(each) if isinstance(each, types.CodeType) else each for each in code.co_consts]
    return code.replace(co_filename="<frozen runpy>", co_consts=tuple(constants))


def _path_of(name):
    paths = [os.path.join(SANDBOX_FOLDER, folder, name + ".py") for folder in FOLDERS]
    return next(filter(os.path.exists, paths), paths[0])


@functools.lru_cache(maxsize=None)
def _compiled_siblings():
    """{name: code} of the other files, where the host could compile them for this interpreter."""
    try:
        with open(os.path.join(SANDBOX_FOLDER, "bundle"), "rb") as stream:
            data = stream.read()
    except OSError:
        return {}
    magic = importlib.util.MAGIC_NUMBER
    return marshal.loads(data[len(magic) :]) if data.startswith(magic) else {}


def _import_pytest(packages):
    """Imports pytest: ("", whether it was borrowed), or (why it cannot be imported, False)."""
    problem = ""
    for borrowed, folder in ((False, ""), (True, packages)):
        if borrowed:
            if not folder or importlib.util.find_spec("pytest") is not None:
                break
            sys.path.append(folder)
        try:
            import pytest  # noqa: F401
        except BaseException as error:
            problem = "%s: %s" % (type(error).__name__, error)
            continue
        return "", borrowed
    return "pytest cannot be imported by %s (%s): install it there." % (sys.executable, problem), False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
