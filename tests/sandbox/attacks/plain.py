"""Plain pytest without any wall, forked from a process that has imported it: run as a script by `unprotected.py`.

Each line of stdin is a job: {"folder", "home", "steps", "walls", "user"}. Its steps run one after another as children
of the first process of namespaces that end with the job; what they print and their exit codes go to files beside them.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import _pytest.junitxml
import pytest

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID = 0x00020000, 0x08000000, 0x10000000, 0x20000000
_REC_PRIVATE = 16384 | 1 << 18
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        outer = os.fork()
        if outer == 0:
            os.setsid()
            _outer(job)
            return
        os.waitpid(outer, 0)
        sys.stdout.write("done\n")
        sys.stdout.flush()


def _outer(job) -> None:
    """Dies, and all of the job with it, when its time is over; otherwise goes on as a step of the job."""
    if job["walls"]:
        _call("unshare", _NEWNS | _NEWPID | _NEWIPC | (_NEWUSER if job["user"] else 0))
        if job["user"]:
            uid, gid = job["user"]
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
            Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    first = os.fork()
    if first == 0:
        _libc.prctl(1, signal.SIGKILL, 0, 0, 0)
        if job["walls"]:
            _private()
        _steps(job)
        return
    signal.signal(signal.SIGALRM, lambda *_: os.kill(first, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, job["seconds"])
    os.waitpid(first, 0)
    os._exit(0)


def _private() -> None:
    prefix = os.open(sys.prefix, os.O_PATH)  # it may be below /tmp
    _mount("none", "/", None, _REC_PRIVATE)
    _mount("proc", "/proc", "proc")
    _mount("none", "/tmp", "tmpfs")
    _mount("none", "/dev/shm", "tmpfs")
    os.makedirs("/tmp/.upper")
    os.makedirs("/tmp/.work")
    # What would be written into this very Python goes to memory.
    os.makedirs(sys.prefix, exist_ok=True)
    lower = f"/proc/self/fd/{prefix}"
    _mount("none", sys.prefix, "overlay", 0, f"lowerdir={lower},upperdir=/tmp/.upper,workdir=/tmp/.work")
    os.close(prefix)
    subprocess.Popen(["sleep", "600"])  # somebody for `kill -1` to hit


def _steps(job) -> None:
    os.chdir(job["folder"])
    os.environ["HOME"] = job["home"]
    for step in job["steps"]:
        child = os.fork()
        if child == 0:
            out = os.open(step + ".out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out, 1)
            os.dup2(out, 2)
            sys.path.insert(0, job["folder"])
            # An ordinary end of the interpreter, for some programs wait for it.
            examples = [] if os.path.basename(step).startswith("test_") else ["--doctest-modules"]
            arguments = ["-q", "--tb=short", "-s", f"--junitxml={step}.xml", *examples, step]
            raise SystemExit(int(pytest.main(arguments)))
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        Path(job["folder"], step + ".rc").write_text(str(code))
    os._exit(0)


def _mount(source: str, target: str, kind: str | None, flags: int = 0, data: str = "") -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    _call("mount", *words, ctypes.c_ulong(flags), os.fsencode(data) or None)


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), f"{name} {arguments}")


if __name__ == "__main__":
    assert _pytest.junitxml
    main()
