"""One run as the supervisor sees it: forks the worker, watches it until it ends or must be ended."""

import os
import select
import signal
import time

TICK = 0.03  # seconds between two looks at memory, processes and disk
GRACE = 0.15  # seconds a worker gets to write down where it hung


def run(request, parts, protocol, alone, session=None):
    """Forks the worker, watches it until it ends or must be ended, and says what happened (a `done` message).

    `alone`: every process but pid 1 and this one belongs to the run. `session`: a prepared pytest
    session to go on with.
    """
    began = time.monotonic()
    processes = parts["processes"]
    report_in, report_out = os.pipe()
    output_in, output_out = os.pipe()
    control_in, control_out = os.pipe()
    worker = os.fork()
    if worker == 0:
        code = 97
        try:
            code = parts["worker"].work(request, parts, protocol, control_out, report_out, output_out, session)
        except BaseException as error:
            os.write(2, ("%s: %s\n" % (type(error).__name__, error)).encode("utf-8", "replace"))
        finally:
            os._exit(code)
    for fd in (report_out, output_out, control_out):
        os.close(fd)
    report, output = _Kept(protocol.REPORT_LIMIT), _Ends(request["output"])
    streams = {report_in: report, output_in: output}
    for stream in (*streams, control_in):
        os.set_blocking(stream, False)
    killed, status = _watch(request, worker, streams, began, processes)
    if killed == "timeout":
        # pytest's faulthandler prints every thread's stack on SIGABRT: the only way to say where a loop hangs.
        processes.send_signal(worker, signal.SIGABRT)
        status = _await_exit(worker, streams, processes)
    leftover, status = processes.end_all(worker, status, alone)
    for stream in streams:
        _drain(stream, streams)
        os.close(stream)
    stood = _Kept(len(parts["worker"].UP))
    _drain(control_in, {control_in: stood})
    os.close(control_in)
    if stood.data != parts["worker"].UP:
        return {"kind": "broken", "reason": _unmade(output.text(), status)}
    return {
        "kind": "done",
        "report": report.data.decode("ascii", "replace"),
        "status": status,
        "killed": killed,
        "output": output.text(),
        "leftover": leftover,
        "seconds": time.monotonic() - began,
    }


def _unmade(text, status):
    """Why the worker never stood behind its wall: nothing of the project was run."""
    last = next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "status %s" % status)
    return "The run's wall could not be made: %s." % last.rstrip(".")


def _watch(request, worker, streams, began, processes):
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
            pid, raw = processes.wait(worker, os.WNOHANG)
            if pid == worker:
                return "", os.waitstatus_to_exitcode(raw)
            for sink in streams.values():
                if sink.overflow:
                    return sink.overflow, None
            if time.monotonic() >= look:
                look = time.monotonic() + TICK
                excess = _excess(request, base, processes)
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


def _await_exit(worker, streams, processes):
    until = time.monotonic() + GRACE
    while time.monotonic() < until:
        for stream in select.select(list(streams), [], [], 0.005)[0]:
            _drain(stream, streams, 1 << 20)
        pid, raw = processes.wait(worker, os.WNOHANG)
        if pid == worker:
            return os.waitstatus_to_exitcode(raw)
    return None


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


def _excess(request, base, processes):
    """Which limit the tree of the worker is over, or ""."""
    tree = processes.tree()
    if sum(threads for _, threads, _ in tree) > request["processes"]:
        return "processes"
    if sum(pages for _, _, pages in tree) > request["memory"] and processes.memory(tree) > request["memory"]:
        return "memory"
    if request["watch_disk"]:
        used, entries = _used(request["root"])
        if used - base[0] > request["disk"] or entries - base[1] > 200_000:
            return "disk"
    return ""


def _used(path):
    found = os.statvfs(path)
    return (found.f_blocks - found.f_bfree) * found.f_frsize, found.f_files - found.f_ffree
