"""Supervises one run: forks the worker and watches it until it ends or must be killed."""

import os
import select
import signal
import time

TICK_SECONDS = 0.03  # between two checks of memory, processes and disk
GRACE_SECONDS = 0.15  # given to a worker to write where it hung
BEGIN = b'"kind": "begin"'  # in the report from the first case on


def supervise_run(request, siblings, protocol, alone, host, session=None):
    """Forks the worker, watches it until it ends or must be killed, and reports the result (a `done` message).

    `alone`: every process but pid 1 and this one belongs to the run. `host`: the stream of requests, which ends with
    the host. `session`: a prepared pytest session, or None.
    """
    started = time.monotonic()
    processes = siblings["processes"]
    report_in, report_out = os.pipe()
    output_in, output_out = os.pipe()
    control_in, control_out = os.pipe()
    meter = siblings["call_costs"].Meter(processes.waiting_seconds) if request["passes"] else None
    worker = os.fork()
    if worker == 0:
        code = 97
        try:
            code = siblings["worker"].run_worker(
                request, siblings, protocol, control_out, report_out, output_out, session, meter and meter.end
            )
        except BaseException as error:
            os.write(2, ("%s: %s\n" % (type(error).__name__, error)).encode("utf-8", "replace"))
        finally:
            os._exit(code)
    for fd in (report_out, output_out, control_out):
        os.close(fd)
    report, output = _BoundedBuffer(protocol.REPORT_LIMIT), _HeadAndTail(request["output"])
    streams = {report_in: report, output_in: output}
    for stream in (*streams, control_in):
        os.set_blocking(stream, False)
    report.last = started
    if meter is not None:
        meter.start(worker)
    load = protocol.load()
    killed, status = _watch_worker(request, worker, streams, started, processes, report, meter, load, hosts=[host])
    silent = time.monotonic() - report.last
    if killed == "timeout":
        # pytest's faulthandler prints every thread's stack on SIGABRT: the only way to see where a loop hangs.
        processes.send_signal(worker, signal.SIGABRT)
        status = _await_exit(worker, streams, processes)
    leftover, status = processes.kill_all(worker, status, alone)
    for stream in streams:
        _drain(stream, streams)
        os.close(stream)
    setup_signal = _BoundedBuffer(len(siblings["worker"].ISOLATED))
    _drain(control_in, {control_in: setup_signal})
    os.close(control_in)
    if setup_signal.data != siblings["worker"].ISOLATED:
        # Nothing of the project was run.
        lines = [line.strip() for line in output.text().splitlines() if line.strip()] or ["status %s" % status]
        return {"kind": "broken", "reason": "The run could not be isolated: %s." % lines[-1].rstrip(".")}
    return {
        "kind": "done",
        "report": report.data.decode("ascii", "replace"),
        "status": status,
        "killed": killed,
        "output": output.text(),
        "leftover": leftover,
        "seconds": time.monotonic() - started,
        "silent": silent,
        "costs": meter and meter.result(),
    }


def _watch_worker(request, worker, streams, started, processes, report, meter, load, clock=time.monotonic, hosts=()):
    """(why the worker must be killed or "", its exit status or None while it lives)."""
    whole, case_seconds, has_begun = started + request["seconds"], request["case_seconds"], False
    disk_before = _disk_use(request["root"]) if request["watch_disk"] else (0, 0)
    next_check = started + TICK_SECONDS
    last, waited_before, most = started, 0.0, request["seconds"] * (load - 1.0)
    open_streams = set(streams)
    exit_fd = _exit_fd(worker)
    marks = [meter.stream] if meter is not None else []
    try:
        while True:
            now, deadline = clock(), whole
            if case_seconds:
                has_begun = has_begun or BEGIN in report.data
                deadline = min(whole, report.last + case_seconds) if has_begun else whole
            if now >= deadline:
                waited = min(processes.waited(), most)
                case_end = report.last + case_seconds + waited - waited_before
                if now >= (min(whole, case_end) if has_begun else whole + (0.0 if case_seconds else waited)):
                    return "timeout", None
                deadline = now + TICK_SECONDS
            timeout = max(0.0, min(next_check, deadline) - now)
            if marks:
                meter.rest()
            for stream in select.select([*marks, *open_streams, *exit_fd, *hosts], [], [], timeout)[0]:
                if stream in hosts:  # it sends nothing during a run: it has ended
                    return "abandoned", None
                if stream in marks:
                    marks = marks if meter.answer() else []
                elif stream in open_streams and _drain(stream, streams, 1 << 20) == 0:
                    open_streams.discard(stream)  # no process has this pipe open any more; the worker may still run
            _is_any_left, status = processes.reap(worker, None)  # orphans too, as init does elsewhere
            if status is not None:
                return "", status
            for sink in streams.values():
                if sink.overflow:
                    return sink.overflow, None
            if clock() >= next_check:
                next_check = clock() + TICK_SECONDS
                if report.last != last and most:
                    last, waited_before = report.last, min(processes.waited(), most)
                excess = _exceeded_limit(request, disk_before, processes)
                if excess:
                    return excess, None
                if meter is not None:
                    meter.look(processes.descendants())
    finally:
        for fd in exit_fd:
            os.close(fd)


def _exit_fd(worker):
    """A descriptor that becomes readable when the worker ends; none where the system lacks it (then it is polled)."""
    try:
        return [os.pidfd_open(worker)]
    except (AttributeError, OSError):
        return []


def _await_exit(worker, streams, processes):
    deadline = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < deadline:
        for stream in select.select(list(streams), [], [], 0.005)[0]:
            _drain(stream, streams, 1 << 20)
        pid, raw = processes.waitpid(worker, os.WNOHANG)
        if pid == worker:
            return os.waitstatus_to_exitcode(raw)
    return None


class _BoundedBuffer:
    """Keeps all bytes up to a limit; more is an overflow, after which nothing is kept, so that no gap arises."""

    def __init__(self, limit):
        self.limit, self.data, self.overflow = limit, bytearray(), ""
        self.last = 0.0  # when something came

    def add(self, data):
        self.last = time.monotonic()
        if self.overflow or len(self.data) + len(data) > self.limit:
            self.overflow = "report"
        else:
            self.data += data


class _HeadAndTail:
    """Keeps the first and the last bytes of a stream; drops the middle, and reports a flood as overflow."""

    def __init__(self, limit):
        self.half_size, self.head, self.tail, self.total, self.overflow = limit // 2, bytearray(), bytearray(), 0, ""
        self.flood_size = max(64 << 20, limit * 16)

    def add(self, data):
        self.total += len(data)
        if self.total > self.flood_size:
            self.overflow = "output"
        room = self.half_size - len(self.head)
        self.head += data[:room]
        self.tail += data[room:] if room > 0 else data
        if len(self.tail) > 2 * self.half_size:
            del self.tail[: len(self.tail) - self.half_size]

    def text(self):
        tail = self.tail[-self.half_size :]
        dropped = self.total - len(self.head) - len(tail)
        middle = b"\n[... %d bytes left out ...]\n" % dropped if dropped else b""
        return (bytes(self.head) + middle + bytes(tail)).decode("utf-8", "replace")


def _drain(stream, streams, limit=8 << 20):
    """Reads what is available, at most `limit` bytes. Returns 0 at the end of the stream."""
    count = 1
    while limit > 0:
        try:
            data = os.read(stream, 65536)
        except BlockingIOError:
            break
        count = len(data)
        if not data:
            break
        limit -= count
        streams[stream].add(data)
    return count


# -- limits -----------------------------------------------------------------------------------------------------


def _exceeded_limit(request, disk_before, processes):
    """The limit that the worker's process tree exceeds, or ""."""
    descendants = processes.descendants()
    if sum(threads for _, threads, _ in descendants) > request["processes"]:
        return "processes"
    if (
        sum(size for _, _, size in descendants) > request["memory"]
        and processes.memory_used(descendants) > request["memory"]
    ):
        return "memory"
    if request["watch_disk"]:
        used, entries = _disk_use(request["root"])
        if used - disk_before[0] > request["disk"] or entries - disk_before[1] > 200_000:
            return "disk"
    return ""


def _disk_use(path):
    status = os.statvfs(path)
    return (status.f_blocks - status.f_bfree) * status.f_frsize, status.f_files - status.f_ffree
