"""The process table as the supervisor sees it: who descends from it, what they use, and how all of them end."""

import ctypes
import os
import resource
import signal
import struct
import time

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}  # the system call's number
TURN = 100_000_000  # nanoseconds, the longest there is


def _processes():
    """Every process to be seen: pid -> (parent, state, threads, resident bytes). Empty where there is no /proc."""
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
            found[int(name)] = (int(fields[1]), fields[0], int(fields[17]), int(fields[21]) * page)
    return found


def tree():
    """(pid, threads, resident bytes) of this process's descendants: as sub-reaper it adopts every orphan."""
    found = {pid: about for pid, about in _processes().items() if about[1] not in b"ZX"}
    children = {}
    for pid, (parent, _, _, _) in found.items():
        children.setdefault(parent, []).append(pid)
    result, todo = [], [os.getpid()]
    while todo:
        for pid in children.get(todo.pop(), ()):
            result.append((pid, found[pid][2], found[pid][3]))
            todo.append(pid)
    return result


def memory(tree):
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


def end_all(worker, status, alone):
    """Kills what is left of the run, also in other sessions. Returns how many there were beside the worker.

    And the worker's exit status, which is `status` where it was taken before. This process adopts every orphan, so
    nothing is left when it has no child.
    """
    first = 0
    for lap in range(400):
        children, status = _reap(worker, status)
        if not children:
            break
        left = [pid for pid, _, _ in tree()]
        if lap == 0:
            first = sum(pid != worker for pid in left)
        if alone:
            # One walk over all processes but pid 1 and this one, atomic as the kernel sees it: no fork escapes it.
            send_signal(-1, signal.SIGKILL)
        else:
            # Where there is no /proc the worker is the only one whose number is known.
            for pid in left if status is not None else {worker, *left}:
                send_signal(pid, signal.SIGKILL)
        time.sleep(0.002)
    if status is None:
        status = os.waitstatus_to_exitcode(wait(worker, 0)[1])
    return first, status


def _reap(worker, status):
    """Takes the exit status of every child that is dead: (whether any child is left, the status of the worker)."""
    while True:
        try:
            pid, raw = wait(-1, os.WNOHANG)
        except ChildProcessError:
            return False, status
        if pid == 0:
            return True, status
        if pid == worker:
            status = os.waitstatus_to_exitcode(raw)


def send_signal(pid, number):
    """Signals a process that may be gone already."""
    try:
        os.kill(pid, number)
    except OSError:
        pass


def wait(pid, flags):
    """`waitpid` that is not disturbed by signals."""
    while True:
        try:
            return os.waitpid(pid, flags)
        except InterruptedError:
            continue


def prctl(option, value):
    """One of Linux's `prctl` switches; elsewhere it does nothing."""
    try:
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)
    except (OSError, AttributeError):
        pass  # not Linux; only the back end without a wall runs there


def long_turns():
    """Who wakes up beside this process (the editor, the language server) runs at once, not after this one's turn.

    Its share of the processor stays what it was, so no test becomes slower. `nice` would not do: Linux weighs
    sessions against each other, and each run has its own. Kernels before 6.12 take no notice.
    """
    number = SCHED_SETATTR.get(os.uname().machine)
    if number is not None:
        # struct sched_attr: size, policy, flags, nice, priority, and the length of a turn in nanoseconds
        policy, nice = os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)
        attributes = struct.pack("IIQiIQQQ", 48, policy, 0, nice, 0, TURN, 0, 0)
        ctypes.CDLL(None).syscall(number, 0, attributes, 0)
