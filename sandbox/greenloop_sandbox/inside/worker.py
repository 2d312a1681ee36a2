"""Turns a forked process into the worker of one run: gives up every unneeded right, then runs pytest."""

import contextlib
import errno
import os
import resource
import signal
import sys
import tempfile

ISOLATED = b"up"  # what a worker writes to its control pipe once it is isolated


def run_worker(request, siblings, protocol, control, report, output, session, marks):
    """Runs pytest and returns its exit status. `control`, `report` and `output` are descriptors to write to.

    `session` is a prepared pytest session of this process, `marks` the socket of a measured run; either may be None.
    Raises `OSError` when isolation fails.
    """
    os.setsid()
    siblings["processes"].use_long_slices()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    kept = {*siblings["pytest_session"].held_descriptors, *([marks.fileno()] if marks else ())}
    _close_all_but({0, 1, 2, control, report, *kept})
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as stream:
        stream.write("1000")  # where memory is short, this process ends
    root, scratch, processes = request["root"], scratch_folder(request["scratch"]), siblings["processes"]
    if request["wall"] is not None:
        files = protocol.decode_files(request["files"])
        siblings["isolation"].enter_private_mounts(root, files, request["without"], request["wall"], request["disk"])
    elif request["uid"] is not None:
        become_user(request["uid"])
    os.mkdir(scratch, 0o700)
    os.mkdir(os.path.join(scratch, "home"), 0o700)
    set_limits(request)
    if request["wall"] is not None or request["filters"]:
        siblings["isolation"].drop_rights(protocol.decode(request["filters"]))
    processes.prctl(processes.PR_SET_CHILD_SUBREAPER, 0)
    # Tests may read their own /proc; nothing of the supervisor's is in this process. With the code apart nobody may
    # read the memory of the process that judges it.
    processes.prctl(processes.PR_SET_DUMPABLE, 1 if request["apart"] is None else 0)
    os.write(control, ISOLATED)
    os.close(control)
    enter_workspace(root, request["start"], scratch, request["environ"])
    if session is None:
        reopen_streams()
    key = bytes.fromhex(request["key"])
    request["key"] = ""
    code = siblings["plugin"].run_pytest(request, report, key, scratch, protocol.sign, siblings, session, marks)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return code


_scratch_folders = {}


def scratch_folder(parent):
    """The run's own folder for temporary files; it does not exist before the run.

    Its name is chosen once, before any code of the project runs: the workspace or an interpreter may be below a folder
    with the first name.
    """
    if parent not in _scratch_folders:
        paths = [os.path.join(parent, "greenloop" + suffix) for suffix in ("", "-run", "-runs")]
        _scratch_folders[parent] = next((path for path in paths if not os.path.lexists(path)), paths[0])
    return _scratch_folders[parent]


def enter_workspace(root, folder, scratch, environ):
    """Sets working folder, variables and import path as `python -m pytest` in the root, or a folder in it, has them."""
    start = os.path.join(root, folder) if folder else root
    os.chdir(start)
    os.environ.update(environ)
    os.environ.update({"HOME": os.path.join(scratch, "home"), "TMPDIR": scratch, "PWD": start})
    tempfile.tempdir = None
    sys.argv[:] = ["pytest"]
    # PYTHONPATH as if the interpreter had been started with it.
    entries = [
        *dict.fromkeys((start, root)),
        *(entry for entry in environ.get("PYTHONPATH", "").split(os.pathsep) if entry),
    ]
    if sys.path[: len(entries)] != entries:
        sys.path[:0] = entries
    if _find_plain not in sys.path_hooks:
        sys.path_hooks.insert(0, _find_plain)


def _find_plain(entry):
    """A hook for imports: code from `a/../b` has a file name without `..`, by which traces know the workspace's."""
    path = os.path.normpath(entry)
    if os.pardir not in entry.split(os.sep) or not os.path.exists(path) or not os.path.samefile(path, entry):
        raise ImportError
    return sys.path_hooks[-1](path)


def reopen_streams():
    """Opens new standard streams: the old ones remember the kind of file that they were opened on."""
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", errors="replace", closefd=False)
    sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)


def become_user(uid):
    """Switches to another user and group permanently."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _close_all_but(keep):
    try:
        descriptors = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        descriptors = list(range(min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 65536)))
    for fd in {*descriptors} - keep:
        with contextlib.suppress(OSError):
            os.close(fd)


def set_limits(request):
    seconds, memory = int(request["seconds"]), request["memory"]
    limits = {
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": request["disk"],
        "RLIMIT_NOFILE": 1024,
        "RLIMIT_CPU": 8 * seconds + 8,
        # A process may reserve far more than it uses; the supervisor counts what is used.
        "RLIMIT_AS": 4 * memory + (1 << 30),
        "RLIMIT_DATA": memory + memory // 4,
    }
    if request["count_processes"]:
        limits["RLIMIT_NPROC"] = request["processes"]
    for name, value in limits.items():
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
