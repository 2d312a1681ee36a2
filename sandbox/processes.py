"""The process table as the supervisor sees it: who descends from it, what they use, and how all of them end."""

import ctypes
import os
import resource
import signal
import time

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36


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


def end_all(worker, alone):
    """Kills what is left of the run, also in other sessions. Returns how many there were beside the worker."""
    first = None
    for _ in range(400):
        _reap(worker)
        left = [pid for pid, _, _ in tree()]
        if first is None:
            first = sum(pid != worker for pid in left)
        if not left:
            break
        if alone:
            # One walk over all processes but pid 1 and this one, atomic as the kernel sees it: no fork escapes it.
            send_signal(-1, signal.SIGKILL)
        else:
            for pid in left:
                send_signal(pid, signal.SIGKILL)
        time.sleep(0.002)
    return first


def _reap(worker):
    """Takes the exit status of adopted orphans, never that of the worker."""
    for pid, (parent, state, _, _) in _processes().items():
        if parent == os.getpid() and state == b"Z" and pid != worker:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


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
