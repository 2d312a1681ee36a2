"""No isolation: the same supervisor as a plain subprocess over a private copy of the workspace.

Only with the user's consent (`sandbox.unsafe`), because candidates then run with the user's own rights.
It still guarantees that the workspace itself is never written, runs end in time, and no process of a run is left.
"""

# The copy visits many thousand paths: plain strings.
# ruff: noqa: PTH112, PTH113, PTH114, PTH118

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from greenloop_sandbox import bundled_hypothesis, payload
from greenloop_sandbox.backends import _masking, _mounts, _services, _supervisor
from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.ports import SelectionSettings, Session
from greenloop_sandbox.records import Execution, Probe, SandboxSpec, TestRun

log = logging.getLogger(__name__)

NAME = "none"
_REMEDY = "Use bubblewrap or Docker, or set sandbox.unsafe = true in your own configuration file."
# Never copied: caches, and folders that may be very large; the interpreter's own folder is used in place.
_EXCLUDED = frozenset(
    {"__pycache__", ".git", ".hg", "node_modules", ".tox", ".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
)


def create(settings: SelectionSettings) -> NoIsolation:
    return NoIsolation(consent=settings.unsafe)


class NoIsolation:
    """The back end without isolation. `consent`: the user has agreed to it."""

    def __init__(self, *, consent: bool) -> None:
        self._consent = consent
        self.report_status: Callable[[str], None] = log.debug

    @property
    def name(self) -> str:
        return NAME

    async def probe(self) -> Probe:
        if not self._consent:
            return Probe(
                name=NAME, ok=False, detail="needs your consent: candidates would run with your rights", remedy=_REMEDY
            )
        return Probe(name=NAME, ok=True, detail="no isolation: candidates run with your rights")

    async def open(self, spec: SandboxSpec) -> NoIsolationSession:
        """Raises `CannotVerifyError` without the user's consent."""
        if not self._consent:
            raise CannotVerifyError("Running candidates without a sandbox needs your consent.", remedy=_REMEDY)
        _services.refuse(spec, '`sandbox.kind = "none"`')
        return NoIsolationSession(spec)


class NoIsolationSession(Session):
    """Runs in a fresh copy of the workspace each time."""

    def __init__(self, spec: SandboxSpec) -> None:
        self._place = spec
        self._search = _masking.FolderScanner(spec.root, spec.masked, spec.environment.prefix)

    @property
    def name(self) -> str:
        return NAME

    async def run(self, run: TestRun) -> Execution:
        """Runs the tests. A failure of the copy or the supervisor is reported in `Execution.broken`."""
        folder = await asyncio.to_thread(lambda: Path(tempfile.mkdtemp(prefix="greenloop-")).resolve())
        try:
            run = _mounts.follow_links(self._place.root, run)
            root, scratch = folder / self._place.root.name, folder / "tmp"
            scratch.mkdir()
            (folder / "packages").mkdir()
            for name, path in payload.borrowed_packages().items():
                (folder / "packages" / name).symlink_to(path)
            (folder / bundled_hypothesis.NAME).write_bytes(bundled_hypothesis.archive())
            await asyncio.to_thread(self._copy, root)
            return await self._run_supervised(run, root, scratch)
        except (_supervisor.SupervisorError, OSError, ValueError) as error:
            return Execution(broken=str(error))
        finally:
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))

    async def _run_supervised(self, run: TestRun, root: Path, scratch: Path) -> Execution:
        environment = self._place.environment
        argv = [str(environment.executable), "-s", "-B", str(payload.folder() / "supervisor.py")]
        argv += ["--packages", str(scratch.parent / "packages")]
        supervisor = await _supervisor.Supervisor.start(
            argv, title="The test runner", env=_variables(self._place, run, scratch), cwd=str(root)
        )
        try:
            return await _supervisor.run_once(
                supervisor, self._place, run, files=run.files, root=str(root), scratch=str(scratch)
            )
        finally:
            await asyncio.shield(supervisor.end())

    def _copy(self, root: Path) -> None:
        hidden = self._search.scan()
        covered = {str(self._place.root / name) for name in (*hidden.files, *hidden.folders)}
        prefix = os.path.realpath(self._place.environment.prefix)

        def ignored(folder: str, names: list[str]) -> list[str]:
            paths = {name: os.path.join(folder, name) for name in names}
            return [
                name
                for name, path in paths.items()
                if name in _EXCLUDED or path in covered or os.path.realpath(path) == prefix or _is_special(path)
            ]

        shutil.copytree(self._place.root, root, symlinks=True, ignore=ignored)


def _is_special(path: str) -> bool:
    """True if the path is a socket or pipe, on which a copy would block."""
    return not (os.path.isfile(path) or os.path.isdir(path) or os.path.islink(path))


def _variables(place: SandboxSpec, run: TestRun, scratch: Path) -> dict[str, str]:
    hypothesis = str(scratch.parent / bundled_hypothesis.NAME)
    own = {"HOME": str(scratch), "TMPDIR": str(scratch), bundled_hypothesis.PATH_VARIABLE: hypothesis}
    return {**_mounts.variables(place, run.hash_seed), **own, **place.variables}
