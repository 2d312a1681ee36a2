"""Reads the process table for the supervisor: its descendants, their memory, and killing all of them."""

import contextlib
import ctypes
import os
import resource
import signal
import struct
import time

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}  # the system call's number
SLICE_NANOSECONDS = 100_000_000  # the longest slice there is


def _list_processes():
    """All visible processes: pid -> (parent, state, threads, resident bytes). Empty where there is no /proc."""
    processes = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return processes
    page = resource.getpagesize()
    for name in names:
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as stream:
                    fields = stream.read().rpartition(b")")[2].split()
            except OSError:
                continue
            processes[int(name)] = (int(fields[1]), fields[0], int(fields[17]), int(fields[21]) * page)
    return processes


def descendants():
    """(pid, threads, resident bytes) of each descendant of this process, which as sub-reaper adopts every orphan."""
    live = {pid: entry for pid, entry in _list_processes().items() if entry[1] not in b"ZX"}
    children = {}
    for pid, (parent, _, _, _) in live.items():
        children.setdefault(parent, []).append(pid)
    result, todo = [], [os.getpid()]
    while todo:
        for pid in children.get(todo.pop(), ()):
            result.append((pid, live[pid][2], live[pid][3]))
            todo.append(pid)
    return result


def memory_used(processes):
    """Bytes that these processes use, with shared pages counted once where the kernel reports it."""
    total = 0
    for pid, _, size in processes:
        resident = size
        with contextlib.suppress(OSError), open("/proc/%d/smaps_rollup" % pid, "rb") as stream:
            resident = next((int(line.split()[1]) << 10 for line in stream if line.startswith(b"Pss:")), size)
        total += resident
    return total


def waited():
    """Seconds for which the descendants could have run and had no processor, as far as the kernel tells."""
    return sum(waiting_seconds(pid) for pid, _, _ in descendants())


def waiting_seconds(pid):
    """Returns how long the main thread of a process was ready to run, but had no processor; 0.0 where it is unknown."""
    try:
        with open("/proc/%d/schedstat" % pid, "rb") as stream:
            return int(stream.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def kill_all(worker, status, alone):
    """Kills what is left of the run, in other sessions too: (number of processes besides the worker, worker's status).

    `status` is the worker's exit status where it was already taken. This process adopts every orphan, so nothing is
    left when it has no child.
    """
    count = 0
    for attempt in range(400):
        children, status = reap(worker, status)
        if not children:
            break
        remaining = [pid for pid, _, _ in descendants()]
        if attempt == 0:
            count = sum(pid != worker for pid in remaining)
        if alone:
            # Signals all processes but pid 1 and this one, atomically: no fork escapes it.
            send_signal(-1, signal.SIGKILL)
        else:
            # Without /proc only the worker's pid is known.
            for pid in remaining if status is not None else {worker, *remaining}:
                send_signal(pid, signal.SIGKILL)
        time.sleep(0.002)
    if status is None:
        status = os.waitstatus_to_exitcode(waitpid(worker, 0)[1])
    return count, status


def reap(worker, status):
    """Takes the exit status of every dead child: (whether any child is left, the worker's status)."""
    while True:
        try:
            pid, raw = waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False, status
        if pid == 0:
            return True, status
        if pid == worker:
            status = os.waitstatus_to_exitcode(raw)


def send_signal(pid, number):
    """Signals a process that may already be gone."""
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def waitpid(pid, flags):
    """`os.waitpid`, repeated when a signal interrupts it."""
    while True:
        try:
            return os.waitpid(pid, flags)
        except InterruptedError:
            continue


def prctl(option, value):
    """Sets one of Linux's `prctl` options; does nothing elsewhere."""
    try:
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)
    except (OSError, AttributeError):
        pass  # not Linux; only the back end without isolation runs there


def use_long_slices():
    """Lets processes that wake up (the editor, the language server) preempt this one at once.

    This process gets long time slices but keeps its share of the processor, so no test becomes slower. `nice` would not
    do: Linux weighs sessions against each other, and each run has its own. Kernels before 6.12 ignore it.
    """
    number = SCHED_SETATTR.get(os.uname().machine)
    if number is not None:
        # struct sched_attr: size, policy, flags, nice, priority, and the length of a slice in nanoseconds
        policy, nice = os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)
        attributes = struct.pack("IIQiIQQQ", 48, policy, 0, nice, 0, SLICE_NANOSECONDS, 0, 0)
        ctypes.CDLL(None).syscall(number, 0, attributes, 0)
