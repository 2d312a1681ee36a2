"""How a forked process becomes the worker of one run: gives up every right it does not need, then runs pytest."""

import errno
import os
import resource
import signal
import sys
import tempfile

UP = b"up"  # what a worker says on its control pipe once it stands behind the wall


def work(request, parts, protocol, control, report, output, session):
    """Runs pytest and returns its exit status. `control`, `report` and `output` are descriptors to write to.

    `session` is a prepared pytest session of this process, or None. Raises `OSError` when the wall cannot be made.
    """
    os.setsid()
    parts["processes"].long_turns()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    _close_all_but({0, 1, 2, control, report, *(session.fds if session else ())})
    _write_oom_score()
    root, folder, processes = request["root"], scratch_folder(request["scratch"]), parts["processes"]
    _stand_behind_the_wall(request, parts["wall"], protocol, root)
    os.mkdir(folder, 0o700)
    os.mkdir(os.path.join(folder, "home"), 0o700)
    limit(request)
    if request["wall"] is not None or request["filters"]:
        parts["wall"].drop(protocol.decode(request["filters"]))
    processes.prctl(processes.PR_SET_CHILD_SUBREAPER, 0)
    # Tests may read their own /proc; nothing of the supervisor's is in this process.
    processes.prctl(processes.PR_SET_DUMPABLE, 1)
    os.write(control, UP)
    os.close(control)
    surroundings(root, folder, request["environ"])
    if session is None:
        streams()
    oracle = parts["oracle"].start(request, parts) if request["oracle"] else None
    key = bytes.fromhex(request["key"])
    request["key"] = ""
    code = parts["plugin"].run(request, report, key, folder, protocol.sign, parts, session, oracle)
    if oracle is not None:
        oracle.close()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    return code


def scratch_folder(scratch):
    """The run's own folder for temporary files; each run finds it not there yet."""
    return os.path.join(scratch, "greenloop")


def surroundings(root, folder, environ):
    """Working folder, variables and import path as `python -m pytest` in the root has them."""
    os.chdir(root)
    os.environ.update(environ)
    os.environ.update({"HOME": os.path.join(folder, "home"), "TMPDIR": folder, "PWD": root})
    tempfile.tempdir = None
    sys.argv[:] = ["pytest"]
    # PYTHONPATH as if the interpreter had been started with it.
    wanted = [root, *(entry for entry in environ.get("PYTHONPATH", "").split(os.pathsep) if entry)]
    if sys.path[: len(wanted)] != wanted:
        sys.path[:0] = wanted


def streams():
    """New standard streams: the old ones remember what kind of file they were opened on."""
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", errors="replace", closefd=False)
    sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)


def become(uid):
    """Another user and group for good."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _stand_behind_the_wall(request, wall, protocol, root):
    if request["wall"] is not None:
        files = protocol.decode_files(request["files"])
        wall.enter(root, files, request["without"], request["wall"], request["disk"])
    elif request["uid"] is not None:
        become(request["uid"])


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


def limit(request):
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
