"""The supervisor: lives inside the wall, forks one worker for each run and reports how it ended.

    python -s -B runner.py [--alone] [--packages FOLDER]

`--alone`: every process of the pid namespace but pid 1 and this one belongs to the runs, so all may be killed.
`--packages`: a folder with pytest and what it needs, used only where the interpreter has no pytest of its own.
Standard library on Python 3.9 or newer, and the project's own pytest. Single-threaded, so that forking is safe.
"""

import gc
import importlib.util
import os
import shutil
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = ("processes", "watch", "worker", "wall", "warmth", "options", "failures")
PYTEST_PARTS = ("plugin", "session", "examples", "tracing")
WARM = ("doctest", "unittest.mock", "_pytest.assertion.rewrite", "_pytest.fixtures", "_pytest.runner", "_pytest.tmpdir")


def main(argv):
    requests, replies = _claim_streams()
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != HERE]
    protocol, parts = _load("protocol"), {name: _load(name) for name in PARTS}
    # As pid 1 of the namespace no signal from inside can end this process; SIGINT has Python's handler otherwise.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    processes = parts["processes"]
    # A worker of the same uid can neither trace this process nor read its memory.
    processes.prctl(processes.PR_SET_DUMPABLE, 0)
    processes.prctl(processes.PR_SET_CHILD_SUBREAPER, 1)

    def send(message):
        replies.write(protocol.pack(message, protocol.REPLY_LIMIT))
        replies.flush()

    reason, borrowed = _import_pytest(argv[argv.index("--packages") + 1] if "--packages" in argv else "")
    if reason:
        send({"kind": "broken", "reason": reason})
        return 1
    import pytest

    parts.update((name, _load(name)) for name in PYTEST_PARTS)
    # What is imported before the fork is paid for once, and a frozen heap makes the worker's collections short.
    for name in WARM:
        __import__(name)
    freeze()
    send(
        {
            "kind": "ready",
            "protocol": protocol.VERSION,
            "python": list(sys.version_info[:3]),
            "pytest": pytest.__version__,
            "borrowed": borrowed,
        }
    )
    runs = Runs(parts, protocol, "--alone" in argv)
    answers = {"write": runs.write, "run": runs.run, "prepare": runs.prepare}
    while True:
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


class Runs:
    """Answers the host's requests, one after the other; remembers what has been prepared for them."""

    def __init__(self, parts, protocol, alone):
        self._parts, self._protocol, self._alone = parts, protocol, alone
        self._kept = {}
        self._session = None

    def write(self, request):
        _lay(request["root"], self._protocol.decode_files(request["files"]))
        return {"kind": "written"}

    def run(self, request):
        session = self._session if request["session"] else None
        if request["wall"] is not None:  # the worker lays its files itself, where nobody else sees them
            return self._parts["watch"].run(request, self._parts, self._protocol, self._alone, session)
        scratch = request["scratch"]
        kept = self._kept.setdefault(scratch, frozenset(os.listdir(scratch)))
        taken = _lay(request["root"], self._protocol.decode_files(request["files"]), request["without"])
        try:
            return self._parts["watch"].run(request, self._parts, self._protocol, self._alone, session)
        finally:
            # Before the reply: whoever hears it may look at the files.
            _take_back(taken)
            _empty(scratch, kept, request["uid"], self._parts)

    def prepare(self, request):
        """Imports packages and opens a pytest session, both once for all later runs."""
        warmth, session = self._parts["warmth"], self._parts["session"]
        imported, left_out = warmth.warm(request["modules"], request["root"], trial=request["trial"])
        reason = ""
        if request["session"] and self._session is None:
            self._session, reason = session.prepare(request, self._parts)
        threads, foreign = warmth.threads(), warmth.of_workspace(request["root"])
        spoilt = "it runs %d threads" % threads if threads != 1 else ""
        spoilt = spoilt or ("it has imported %s of the workspace" % foreign[0] if foreign else "")
        freeze()
        return {
            "kind": "prepared",
            "modules": imported,
            "left_out": left_out,
            "session": self._session is not None,
            "reason": reason,
            "spoilt": spoilt,
        }


def freeze():
    gc.collect()
    gc.freeze()


def _claim_streams():
    """The real stdin and stdout for messages alone; whatever else writes to fd 1 goes to stderr."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    return requests, replies


def _load(name):
    """A neighbour of this file, kept out of sys.modules so that a candidate does not find it by name."""
    spec = importlib.util.spec_from_file_location("_greenloop_" + name, os.path.join(HERE, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


# -- files ------------------------------------------------------------------------------------------------------


def _lay(root, files, without=()):
    """Writes and removes files; returns what undoes it: (path, old content or None where none was, folder made)."""
    taken = []
    for relative in without:
        path = os.path.join(root, relative)
        if os.path.isfile(path) and not os.path.islink(path):
            with open(path, "rb") as stream:
                taken.append((path, stream.read(), None))
            os.unlink(path)
    for relative, data in files.items():
        path = os.path.join(root, relative)
        made = _make_folders(root, os.path.dirname(path))
        old = None
        if os.path.lexists(path):
            with open(path, "rb") as stream:
                old = stream.read()
        taken.append((path, old, made))
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644), "wb") as stream:
            stream.write(data)
    return taken


def _make_folders(root, folder):
    made = None
    missing = []
    while len(folder) > len(root) and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for path in reversed(missing):
        os.mkdir(path, 0o755)
        made = made or path
    return made


def _take_back(taken):
    for path, old, made in reversed(taken):
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        elif old is None:
            try:
                os.unlink(path)
            except OSError:
                pass
        else:
            with open(path, "wb") as stream:
                stream.write(old)


def _empty(scratch, keep, uid, parts):
    """What a run left in the scratch folder goes, or the next run could import it.

    Folders of another user are closed to a root without capabilities, so that user removes its own first.
    """
    if uid is not None:
        child = os.fork()
        if child == 0:
            try:
                parts["worker"].become(uid)
                _remove(scratch, keep)
                _remove("/dev/shm", frozenset())
            finally:
                os._exit(0)
        parts["processes"].wait(child, 0)
    _remove(scratch, keep)


def _remove(scratch, keep):
    for name in set(os.listdir(scratch)) - keep:
        path = os.path.join(scratch, name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            try:
                os.unlink(path)
            except OSError:
                pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
