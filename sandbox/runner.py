"""The supervisor: lives inside the wall, forks one worker for each run and reports how it ended.

    python -s -B runner.py [--alone] [--packages FOLDER]

`--alone`: every process of the pid namespace but pid 1 and this one belongs to the runs, so all may be killed.
`--packages`: a folder with pytest and what it needs, used only where the interpreter has no pytest of its own.
Standard library on Python 3.9 or newer, and the project's own pytest. Single-threaded, so that forking is safe.
"""

import ctypes
import errno
import importlib.util
import os
import resource
import select
import signal
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = ("plugin", "options", "failures", "examples", "tracing")
TICK = 0.03  # seconds between two looks at memory, processes and disk
GRACE = 0.15  # seconds a worker gets to write down where it hung
WARM = ("doctest", "unittest.mock", "_pytest.assertion.rewrite", "_pytest.fixtures", "_pytest.runner", "_pytest.tmpdir")
PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36


def main(argv):
    requests, replies = _claim_streams()
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != HERE]
    protocol = _load("protocol")
    # As pid 1 of the namespace no signal from inside can end this process; SIGINT has Python's handler otherwise.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prctl(PR_SET_DUMPABLE, 0)  # a worker of the same uid can neither trace this process nor read its memory
    _prctl(PR_SET_CHILD_SUBREAPER, 1)

    def send(message):
        replies.write(protocol.pack(message, protocol.REPLY_LIMIT))
        replies.flush()

    reason, borrowed = _import_pytest(argv[argv.index("--packages") + 1] if "--packages" in argv else "")
    if reason:
        send({"kind": "broken", "reason": reason})
        return 1
    import pytest

    # What is imported before the fork is paid for once, and a frozen heap makes the worker's collections short.
    parts = {name: _load(name) for name in PARTS}
    for name in WARM:
        __import__(name)
    _freeze()
    send(
        {
            "kind": "ready",
            "protocol": protocol.VERSION,
            "python": list(sys.version_info[:3]),
            "pytest": pytest.__version__,
            "borrowed": borrowed,
        }
    )
    alone = "--alone" in argv
    wipe = _load("wipe")
    kept, known = {}, {}
    while True:
        request = protocol.read(requests, protocol.REQUEST_LIMIT)
        if request is None:
            return 0
        if request["kind"] == "write":
            known.clear()
            send(_write(protocol, wipe, request))
        elif request["kind"] == "run":
            scratch = request["scratch"]
            left = wipe.Left(request["root"], scratch, request["uid"], kept, known)
            try:
                taken = _lay(wipe, request["root"], protocol.decode_files(request["files"]), request["without"])
            except (OSError, protocol.ProtocolError) as error:
                send({"kind": "broken", "reason": "The files for the run could not be laid down: %s." % error})
                continue
            try:
                reply = _run(request, parts, protocol, alone)
            finally:
                left.give(_become)
                _take_back(wipe, taken)
                clean = left.clear()
            reply["dirty"] = not clean
            send(reply)  # only now: whoever hears it may look at the files
        else:
            send({"kind": "broken", "reason": "Unknown request %r." % request["kind"]})


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


def _freeze():
    import gc

    gc.collect()
    gc.freeze()


def _prctl(option, value):
    try:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (OSError, AttributeError):
        pass  # not Linux; only the back end without a wall runs there


# -- files ------------------------------------------------------------------------------------------------------


def _write(protocol, wipe, request):
    root = request["root"]
    try:
        for folder in request["folders"]:
            _make_folders(wipe, root, os.path.join(root, protocol.check_path(folder)))
        files = protocol.decode_files(request["files"])
        _lay(wipe, root, files)
        for path in files:
            os.chmod(os.path.join(root, path), 0o755 if path in request["executable"] else 0o644)
    except (OSError, protocol.ProtocolError) as error:
        return {"kind": "broken", "reason": "The workspace could not be laid down: %s." % error}
    return {"kind": "written"}


def _lay(wipe, root, files, without=()):
    """Writes and removes files; returns what undoes it: (path, old content and mode or None, folder made)."""
    taken = []
    for relative in without:
        path = os.path.join(root, relative)
        if os.path.isfile(path) and not os.path.islink(path):
            taken.append((path, _old(path), None))
            os.unlink(path)
    for relative, data in files.items():
        path = os.path.join(root, relative)
        made = _make_folders(wipe, root, os.path.dirname(path))
        taken.append((path, _old(path) if os.path.lexists(path) else None, made))
        _put(path, data, os.O_TRUNC)
    return taken


def _old(path):
    with open(path, "rb") as stream:
        return stream.read(), os.fstat(stream.fileno()).st_mode & 0o777


def _put(path, data, flags, mode=0o644):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | flags, mode), "wb") as stream:
        stream.write(data)


def _make_folders(wipe, root, folder):
    made = None
    missing = []
    while len(folder) > len(root) and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for path in reversed(missing):
        os.mkdir(path, 0o755)
        wipe.open_like(root, path)
        made = made or path
    return made


def _take_back(wipe, taken):
    for path, old, made in reversed(taken):
        if made is not None:
            wipe.remove(made)
            continue
        # Never written in place: a test may have put something else there.
        if os.path.lexists(path):
            os.unlink(path)
        if old is not None:
            _put(path, old[0], os.O_EXCL, old[1])


# -- one run ----------------------------------------------------------------------------------------------------


def _run(request, parts, protocol, alone):
    """Forks the worker, watches it until it ends or must be ended, and says what happened."""
    began = time.monotonic()
    report_in, report_out = os.pipe()
    output_in, output_out = os.pipe()
    folder = os.path.join(request["scratch"], "greenloop-" + os.urandom(8).hex())
    worker = os.fork()
    if worker == 0:
        code = 97
        try:
            code = _work(request, parts, protocol, report_out, output_out, folder)
        except BaseException as error:
            os.write(2, ("%s: %s\n" % (type(error).__name__, error)).encode("utf-8", "replace"))
        finally:
            os._exit(code)
    os.close(report_out)
    os.close(output_out)
    report, output = _Kept(protocol.REPORT_LIMIT), _Ends(request["output"])
    streams = {report_in: report, output_in: output}
    for stream in streams:
        os.set_blocking(stream, False)
    killed, status = _watch(request, worker, streams, began)
    if killed == "timeout":
        # pytest's faulthandler prints every thread's stack on SIGABRT: the only way to say where a loop hangs.
        _signal(worker, signal.SIGABRT)
        status = _await_exit(worker, streams, GRACE)
    leftover = _end_all(worker, alone)
    if status is None:
        status = os.waitstatus_to_exitcode(_wait(worker, 0)[1])
    for stream in streams:
        _drain(stream, streams)
        os.close(stream)
    return {
        "kind": "done",
        "report": report.data.decode("ascii", "replace"),
        "status": status,
        "killed": killed,
        "output": output.text(),
        "leftover": leftover,
        "seconds": time.monotonic() - began,
    }


def _watch(request, worker, streams, began):
    """(why the worker must be killed or "", its exit status or None while it lives)."""
    deadline = began + request["seconds"]
    base = _used(request["root"]) if request["watch_disk"] else (0, 0)
    look = began + TICK
    live = set(streams)
    exit_fd = _exit_fd(worker)
    try:
        while True:
            now = time.monotonic()
            if now >= deadline:
                return "timeout", None
            wait = max(0.0, min(look, deadline) - now)
            for stream in select.select([*live, *exit_fd], [], [], wait)[0]:
                if stream in live and _drain(stream, streams, 1 << 20) == 0:
                    live.discard(stream)  # nobody has this pipe open any more; that says nothing about the worker
            pid, raw = _wait(worker, os.WNOHANG)
            if pid == worker:
                return "", os.waitstatus_to_exitcode(raw)
            for sink in streams.values():
                if sink.overflow:
                    return sink.overflow, None
            if time.monotonic() >= look:
                look = time.monotonic() + TICK
                excess = _excess(request, base)
                if excess:
                    return excess, None
    finally:
        for fd in exit_fd:
            os.close(fd)


def _exit_fd(worker):
    """A descriptor that becomes readable when the worker ends, where the system has such (else it is polled for)."""
    try:
        return [os.pidfd_open(worker)]
    except (AttributeError, OSError):
        return []


def _wait(pid, flags):
    while True:
        try:
            return os.waitpid(pid, flags)
        except InterruptedError:
            continue


def _await_exit(worker, streams, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for stream in select.select(list(streams), [], [], 0.005)[0]:
            _drain(stream, streams, 1 << 20)
        pid, raw = _wait(worker, os.WNOHANG)
        if pid == worker:
            return os.waitstatus_to_exitcode(raw)
    return None


def _signal(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass


class _Kept:
    """All bytes up to a limit; more is an overflow."""

    def __init__(self, limit):
        self.limit, self.data, self.overflow = limit, bytearray(), ""

    def take(self, data):
        if len(self.data) + len(data) > self.limit:
            self.overflow = "report"
        else:
            self.data += data


class _Ends:
    """The first and the last bytes of a stream; the middle is dropped, and a flood is an overflow."""

    def __init__(self, limit):
        self.half, self.head, self.tail, self.total, self.overflow = limit // 2, bytearray(), bytearray(), 0, ""
        self.most = max(64 << 20, limit * 16)

    def take(self, data):
        self.total += len(data)
        if self.total > self.most:
            self.overflow = "output"
        room = self.half - len(self.head)
        self.head += data[:room]
        self.tail += data[room:] if room > 0 else data
        if len(self.tail) > 2 * self.half:
            del self.tail[: len(self.tail) - self.half]

    def text(self):
        tail = self.tail[-self.half :]
        dropped = self.total - len(self.head) - len(tail)
        middle = b"\n[... %d bytes left out ...]\n" % dropped if dropped else b""
        return (bytes(self.head) + middle + bytes(tail)).decode("utf-8", "replace")


def _drain(stream, streams, most=8 << 20):
    """Reads what is there, at most so many bytes. Returns 0 at the end of the stream."""
    got = 1
    while most > 0:
        try:
            data = os.read(stream, 65536)
        except BlockingIOError:
            break
        got = len(data)
        if not data:
            break
        most -= got
        streams[stream].take(data)
    return got


# -- limits -----------------------------------------------------------------------------------------------------


def _excess(request, base):
    """Which limit the tree of the worker is over, or ""."""
    tree = _tree()
    if sum(threads for _, threads, _ in tree) > request["processes"]:
        return "processes"
    if sum(pages for _, _, pages in tree) > request["memory"] and _memory(tree) > request["memory"]:
        return "memory"
    if request["watch_disk"]:
        used, entries = _used(request["root"])
        if used - base[0] > request["disk"] or entries - base[1] > 200_000:
            return "disk"
    return ""


def _used(path):
    found = os.statvfs(path)
    return (found.f_blocks - found.f_bfree) * found.f_frsize, found.f_files - found.f_ffree


def _processes():
    """Every process to be seen: pid -> (parent, threads, resident bytes). Empty where there is no /proc."""
    found = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return found
    page = resource.getpagesize()
    for name in names:
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as stream:
                    fields = stream.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] not in b"ZX":
                found[int(name)] = (int(fields[1]), int(fields[17]), int(fields[21]) * page)
    return found


def _tree():
    """(pid, threads, resident bytes) of this process's descendants: as sub-reaper it adopts every orphan."""
    found = _processes()
    children = {}
    for pid, (parent, _, _) in found.items():
        children.setdefault(parent, []).append(pid)
    result, todo = [], [os.getpid()]
    while todo:
        for pid in children.get(todo.pop(), ()):
            result.append((pid, found[pid][1], found[pid][2]))
            todo.append(pid)
    return result


def _memory(tree):
    """Bytes of the tree with shared pages counted once, where the kernel tells."""
    total = 0
    for pid, _, size in tree:
        resident = size
        try:
            with open("/proc/%d/smaps_rollup" % pid, "rb") as stream:
                for line in stream:
                    if line.startswith(b"Pss:"):
                        resident = int(line.split()[1]) << 10
                        break
        except OSError:
            pass
        total += resident
    return total


def _end_all(worker, alone):
    """Kills what is left of the run, also in other sessions. Returns how many there were beside the worker."""
    first = None
    for _ in range(400):
        _reap(worker)
        left = [pid for pid, _, _ in _tree()]
        if first is None:
            first = sum(pid != worker for pid in left)
        if not left:
            break
        if alone:
            # One walk over all processes but pid 1 and this one, atomic as the kernel sees it: no fork escapes it.
            _signal(-1, signal.SIGKILL)
        else:
            for pid in left:
                _signal(pid, signal.SIGKILL)
        time.sleep(0.002)
    return first


def _reap(worker):
    """Takes the exit status of adopted orphans, never that of the worker."""
    for pid, (parent, state) in _zombies().items():
        if parent == os.getpid() and state and pid != worker:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def _zombies():
    found = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return found
    for name in names:
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as stream:
                    fields = stream.read().rpartition(b")")[2].split()
            except OSError:
                continue
            found[int(name)] = (int(fields[1]), fields[0] == b"Z")
    return found


# -- the worker -------------------------------------------------------------------------------------------------


def _work(request, parts, protocol, report, output, folder):
    """Becomes the worker: gives up every right it does not need, then runs pytest. Returns pytest's exit status."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    _close_all_but({0, 1, 2, report})
    _write_oom_score()
    uid = request["uid"]
    if uid is not None:
        _become(uid)
    os.mkdir(folder, 0o700)
    _limit(request)
    _prctl(PR_SET_CHILD_SUBREAPER, 0)
    _prctl(PR_SET_DUMPABLE, 1)  # tests may read their own /proc; nothing of the supervisor's is in this process
    root = request["root"]
    os.chdir(root)
    home = os.path.join(folder, "home")
    os.mkdir(home, 0o700)
    os.environ.update(request["environ"])
    # As if the interpreter had been started with it.
    sys.path[:0] = [entry for entry in request["environ"].get("PYTHONPATH", "").split(os.pathsep) if entry]
    os.environ.update({"HOME": home, "TMPDIR": folder, "PWD": root})
    tempfile.tempdir = None
    sys.argv[:] = ["pytest"]
    sys.path.insert(0, root)  # as `python -m pytest` in the root has it
    # New objects: the old ones remember what kind of file they were opened on.
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", errors="replace", closefd=False)
    sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    key = bytes.fromhex(request["key"])
    request["key"] = ""
    code = parts["plugin"].run(request, report, key, folder, protocol.sign, parts)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    return code


def _become(uid):
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _close_all_but(keep):
    try:
        opened = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        opened = list(range(min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 65536)))
    for fd in opened:
        if fd not in keep:
            try:
                os.close(fd)
            except OSError:
                pass


def _write_oom_score():
    try:
        with open("/proc/self/oom_score_adj", "w") as stream:
            stream.write("1000")
    except OSError:
        pass


def _limit(request):
    seconds, memory = int(request["seconds"]), request["memory"]
    wanted = {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": request["disk"],
        "RLIMIT_NOFILE": 1024,
        "RLIMIT_CPU": 8 * seconds + 8,
        # What a process may reserve is far more than what it uses; the watchdog counts what is used.
        "RLIMIT_AS": 4 * memory + (1 << 30),
        "RLIMIT_DATA": memory + memory // 4,
    }
    if request["count_processes"]:
        wanted["RLIMIT_NPROC"] = request["processes"]
    for name, value in wanted.items():
        number = getattr(resource, name, None)
        if number is None:
            continue
        hard = resource.getrlimit(number)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(number, (bound, bound))
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno not in (errno.EPERM, errno.EINVAL):
                raise


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
