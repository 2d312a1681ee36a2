"""The supervisor: lives inside the wall, forks one worker for each run and reports how it ended.

    python -s -B runner.py [--alone] [--packages FOLDER] [--addresses A,B]

`--alone`: every process of the pid namespace but pid 1 and this one belongs to the runs, so all may be killed.
`--packages`: a folder with pytest and what it needs, used only where the interpreter has no pytest of its own.
`--addresses`: what the loopback device is given beside its own addresses.
Standard library on Python 3.9 or newer, and the project's own pytest. Single-threaded, so that forking is safe.
"""

import functools
import gc
import importlib.util
import marshal
import os
import select
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST = ("processes", "watch", "worker", "options", "failures", "plugin")
LATER = (
    "wall",
    "wipe",
    "laying",
    "warmth",
    "session",
    "examples",
    "tracing",
    "showing",
    "watching",
    "crossing",
    "jail",
    "oracle",
)


def main(argv):
    gc.disable()  # importing makes no garbage worth looking for; the worker's session switches it on again
    requests, replies = _claim_streams()
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != HERE]
    protocol, parts = _load("protocol"), Parts()
    # As pid 1 of the namespace no signal from inside can end this process; SIGINT has Python's handler otherwise.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    processes = parts["processes"]
    # A worker of the same uid can neither trace this process nor read its memory.
    processes.prctl(processes.PR_SET_DUMPABLE, 0)
    processes.prctl(processes.PR_SET_CHILD_SUBREAPER, 1)
    if "--addresses" in argv:
        parts["addresses"].add(argv[argv.index("--addresses") + 1].split(","))

    def send(message):
        replies.write(protocol.pack(message, protocol.REPLY_LIMIT))
        replies.flush()

    reason, borrowed = _import_pytest(argv[argv.index("--packages") + 1] if "--packages" in argv else "")
    if reason:
        send({"kind": "broken", "reason": reason})
        return 1
    import pytest

    for name in FIRST:
        parts[name]
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
    runs = Runs(parts, protocol, "--alone" in argv)
    answers = {"write": runs.write, "run": runs.run, "prepare": runs.prepare}
    chores = None
    while True:
        if chores is not None:
            _while_idle(requests, chores)
        request = protocol.read(requests, protocol.REQUEST_LIMIT)
        if request is None:
            return 0
        answer = answers.get(request["kind"])
        if answer is None:
            send({"kind": "broken", "reason": "Unknown request %r." % request["kind"]})
            continue
        try:
            send(answer(request))
        except (OSError, protocol.ProtocolError) as error:
            send({"kind": "broken", "reason": "The files could not be laid down: %s." % error})
        if request["kind"] == "run" and chores is None:
            chores = _chores(parts)


def _while_idle(requests, chores):
    """Does one small thing after the other until somebody asks for something."""
    while not select.select([requests], [], [], 0)[0]:
        if next(chores, chores) is chores:
            return


def _chores(parts):
    """What makes later runs shorter and the first one later: imports that every run would do for itself."""
    from _pytest.config import default_plugins

    for name in (*("_pytest." + plugin for plugin in default_plugins), "doctest", "unittest.mock"):
        try:
            __import__(name)
        except ImportError:
            pass  # not in this version
        yield
    for name in LATER:
        parts[name]
        yield
    parts["warmth"].index()
    freeze()


class Parts(dict):
    """The neighbours of this file by name, each loaded when it is first asked for."""

    def __missing__(self, name):
        self[name] = _load(name)
        return self[name]


class Runs:
    """Answers the host's requests, one after the other; remembers what has been prepared for them."""

    def __init__(self, parts, protocol, alone):
        self._parts, self._protocol, self._alone = parts, protocol, alone
        self._kept, self._known = {}, {}
        self._session = None

    def write(self, request):
        self._known.clear()
        self._parts["laying"].lay_for_good(request, self._protocol, self._parts["wipe"])
        return {"kind": "written"}

    def run(self, request):
        session = self._session if request["session"] else None
        if request["wall"] is not None:  # the worker lays its files itself, where nobody else sees them
            return self._parts["watch"].run(request, self._parts, self._protocol, self._alone, session)
        laying, wipe, root = self._parts["laying"], self._parts["wipe"], request["root"]
        left = wipe.Left(root, request["scratch"], request["uid"], self._kept, self._known)
        taken = laying.lay(wipe, root, self._protocol.decode_files(request["files"]), request["without"])
        try:
            reply = self._parts["watch"].run(request, self._parts, self._protocol, self._alone, session)
        finally:
            # Before the reply: whoever hears it may look at the files.
            left.give(self._parts["worker"].become)
            laying.take_back(wipe, taken)
            clean = left.clear()
        return dict(reply, dirty=not clean)

    def prepare(self, request):
        """Imports packages and opens a pytest session, both once for all later runs."""
        warmth, session = self._parts["warmth"], self._parts["session"]
        plain, rewritten, left_out = warmth.worth(request["modules"], request["root"], trial=request["trial"])
        reason = ""
        if request["session"] and self._session is None:
            self._session, reason = session.prepare(request, self._parts)
        rewritten = [*request["rewritten"], *rewritten] if self._session is not None else []
        failed = warmth.take([*plain, *rewritten])
        warmth.index()
        threads, foreign = warmth.threads(), warmth.of_workspace(request["root"])
        spoilt = "it runs %d threads" % threads if threads != 1 else ""
        spoilt = spoilt or ("it has imported %s of the workspace" % foreign[0] if foreign else "")
        freeze()
        return {
            "kind": "prepared",
            "modules": [name for name in plain if name not in failed],
            "rewritten": [name for name in rewritten if name not in failed],
            "left_out": dict(left_out, **failed),
            "session": self._session is not None,
            "reason": reason,
            "spoilt": spoilt,
        }


def freeze():
    """A frozen heap makes the worker's collections short."""
    gc.collect()
    gc.freeze()


def _claim_streams():
    """The real stdin and stdout for messages alone; whatever else writes to fd 1 goes to stderr."""
    requests, replies = os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    return requests, replies


def _load(name):
    """A neighbour of this file, kept out of sys.modules so that a candidate does not find it by name."""
    path = os.path.join(HERE, name + ".py")
    spec = importlib.util.spec_from_file_location("_greenloop_" + name, path)
    module = importlib.util.module_from_spec(spec)
    code = _bundle().get(name)
    if code is None:
        spec.loader.exec_module(module)
    else:
        exec(code, module.__dict__)
    return module


@functools.lru_cache(maxsize=None)
def _bundle():
    """{name: code} of the neighbours, where the host could compile them for this interpreter."""
    try:
        with open(os.path.join(HERE, "bundle"), "rb") as stream:
            data = stream.read()
    except OSError:
        return {}
    magic = importlib.util.MAGIC_NUMBER
    return marshal.loads(data[len(magic) :]) if data.startswith(magic) else {}


def _import_pytest(packages):
    """("", whether pytest was borrowed), or the sentence that says why there is none."""
    missing = ""
    for borrowed, entry in ((False, ""), (True, packages)):
        if borrowed:
            if not entry or importlib.util.find_spec("pytest") is not None:
                break
            sys.path.append(entry)
        try:
            import pytest  # noqa: F401
        except BaseException as error:
            missing = "%s: %s" % (type(error).__name__, error)
            continue
        return "", borrowed
    return "pytest cannot be imported by %s (%s): install it there." % (sys.executable, missing), False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
