"""Isolation probes: programs in the sandbox try what docs/security.md says it prevents, and the host checks.

Each usable back end is opened over a small temporary workspace, with a secret in every place that must stay unreadable.
It must not know who is shown the findings.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files as resource
from pathlib import Path

import psutil

from greenloop.core.errors import CannotVerifyError, GreenloopError
from greenloop.project import sandbox_selection, workspace
from greenloop.project.hidden import MASKED
from greenloop.project.settings import Settings, state_folder
from greenloop_sandbox import (
    Environment,
    Execution,
    Limits,
    Probe,
    Sandbox,
    SandboxSpec,
    Session,
    TestRun,
    case_results,
)

PATIENCE = 40.0  # seconds to wait for one back end
LIMITS = Limits(seconds=10.0, memory=128 << 20, processes=32)
PROMPTLY = 0.5  # time limit in seconds of the run that never ends
FILE = "test_promises.py"
# In the order of docs/security.md: the name of the probe's test, and the promise.
PROMISES = {
    "network": "network off",
    "files": "files of the host not readable",
    "workspace": "workspace on the host never written",
    "hidden": ".env, keys and .git empty",
    "environment": "environment variables not passed on",
    "user": "never root",
    "capabilities": "no capabilities",
    "privileges": "no new privileges",
    "namespaces": "no user namespaces",
    "seccomp": "system calls filtered",
    "memory": "memory bounded",
    "processes": "processes bounded",
    "disk": "disk bounded",
    "time": "time bounded",
    "output": "output bounded",
    "remains": "nothing left after a run",
}
# These probes may end the whole run, so each runs alone; the others share a run.
ALONE = ("memory", "processes", "disk")
# Limits enforced by a watchdog because the kernel cannot enforce them for all processes together.
BEST_EFFORT = {"bubblewrap": ("memory", "processes")}

Finding = tuple[bool | None, str]  # did the promise hold (None: it could not be tried), and what was tried


@dataclass(frozen=True, kw_only=True)
class ProbeResult:
    """Result for one promise: `held` None means that it could not be tried. `status` is the word shown to the user."""

    promise: str
    held: bool | None
    probed: str
    best_effort: bool = False

    @property
    def status(self) -> str:
        if self.held is None:
            return "not tried"
        return ("best effort" if self.best_effort else "held") if self.held else "not held"


async def run_probes(sandbox: Sandbox, probe: Probe, environment: Environment) -> list[ProbeResult]:
    """Tries every promise of this back end. `probe` is the result of its self-test, which must have passed.

    Raises `CannotVerifyError` when the back end does not open.
    """
    marker = f"greenloop-probe-{secrets.token_hex(8)}"
    with _workspace(marker) as root:
        place = SandboxSpec(
            root=root,
            environment=environment,
            masked=MASKED,
            limits=LIMITS,
            image=probe.image,
            variables={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # plugins of the project must not interfere
        )
        before = _read_files(root)
        session = await sandbox.open(place)
        try:
            findings = await _run_inside(session)
        finally:
            await session.close()
        after = _read_files(root)
    if changed := sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)):
        findings["workspace"] = False, f"on the host changed: {', '.join(changed)}"
    findings["remains"] = find_leftovers(marker)
    best_effort = BEST_EFFORT.get(sandbox.name, ())
    return [
        ProbeResult(promise=text, held=findings[name][0], probed=findings[name][1], best_effort=name in best_effort)
        for name, text in PROMISES.items()
    ]


async def check_isolation(
    root: Path, settings: Settings, probes: Sequence[Probe]
) -> Mapping[str, Sequence[ProbeResult] | str]:
    """The findings of each back end by its name, or the reason why nothing could be tried.

    They are probed one by one, as they would disturb each other's limits. Never raises for missing parts.
    """
    try:
        environment = await asyncio.to_thread(workspace.find_environment, root, settings)
    except GreenloopError:
        return {}
    kind = settings.sandbox.kind
    usable = [probe for probe in probes if probe.ok and probe.name != "none" and kind in ("auto", probe.name)]
    return {probe.name: await _check_sandbox(probe, environment, settings) for probe in usable}


async def _check_sandbox(probe: Probe, environment: Environment, settings: Settings) -> Sequence[ProbeResult] | str:
    if probe.name == "docker" and not probe.image:
        return "its image is not here yet; ask again after the first run"
    if probe.name == "ray":
        return "each node has a back end of its own: run `greenloop doctor` there"
    sandbox = sandbox_selection.make(probe.name, settings)
    try:
        async with asyncio.timeout(PATIENCE):
            return await run_probes(sandbox, probe, environment)
    except TimeoutError:
        return f"it took longer than {PATIENCE:g} s"
    except (GreenloopError, OSError) as error:
        return str(error)


# -- the probes ---------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _workspace(marker: str) -> Iterator[Path]:
    """Yields a workspace with the probes, between files that must be unreadable inside.

    Sets a variable that must not get there.
    """
    with tempfile.TemporaryDirectory(prefix="greenloop-probe-") as folder:
        root = Path(folder).resolve()
        closed = [state_folder() / f"{marker}.txt", Path(f"{root}-beside.txt")]
        try:
            root.chmod(0o755)
            os.environ["GREENLOOP_PROBE"] = marker
            for file in closed:
                file.write_text(marker)
            _write_workspace(root, marker, [*map(str, closed), "/etc/shadow", *_home_files()])
            yield root
        finally:
            os.environ.pop("GREENLOOP_PROBE", None)
            for file in closed:
                file.unlink(missing_ok=True)


def _home_files() -> list[str]:
    """Lists up to five files of the user's home folder."""
    with contextlib.suppress(OSError):
        return [str(path) for path in sorted(Path.home().iterdir()) if path.is_file() and not path.is_symlink()][:5]
    return []


def _write_workspace(root: Path, marker: str, closed: list[str]) -> None:
    facts = {
        "marker": marker,
        "secret": closed,
        "shown": ["the home folder", "/etc/shadow", "greenloop's state"],
        "memory": LIMITS.memory,
        "processes": LIMITS.processes,
        "disk": LIMITS.disk,
    }
    program = resource(__package__).joinpath("probe.txt").read_text(encoding="utf-8")
    for name, text in {
        FILE: program,
        "facts.json": json.dumps(facts),
        "pytest.ini": "[pytest]\n",
        "kept.txt": "kept",
        "deleted.txt": "kept",
        ".env": marker,
        "sub/.env.local": marker,
        ".git/config": marker,
    }.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


async def _run_inside(session: Session) -> dict[str, Finding]:
    """Runs the probes; returns their findings by promise."""
    shared = [name for name in PROMISES if name not in (*ALONE, "time", "output", "remains")]
    execution = await _run(session, shared, LIMITS.seconds)
    findings = {name: _read_finding(execution, name) for name in shared}
    for name in ALONE:
        findings[name] = _read_finding(await _run(session, [name], LIMITS.seconds), name, killed=name)
    execution = await _run(session, ["time"], PROMPTLY)
    findings["time"] = _read_finding(execution, "time", killed="timeout")
    kept_bytes = len(execution.output.encode())
    held = kept_bytes <= 2 * LIMITS.output if findings["time"][0] else None
    findings["output"] = held, f"wrote 8 MiB: {kept_bytes >> 10} KiB kept"
    return findings


async def _run(session: Session, names: list[str], seconds: float) -> Execution:
    execution = await session.run(TestRun(selectors=tuple(f"{FILE}::test_{name}" for name in names), seconds=seconds))
    if execution.broken:
        raise CannotVerifyError(f"The probe could not be run: {execution.broken}")
    return execution


def _read_finding(execution: Execution, name: str, *, killed: str = "") -> Finding:
    """The finding of a probe; a run that a limit ended (`killed`) shows that the limit holds."""
    if killed and execution.killed == killed:
        return True, f"went over the limit: ended after {execution.seconds:.1f} s"
    for result in case_results(execution):
        if result.id == f"{FILE}::test_{name}" and result.failure is not None:
            with contextlib.suppress(ValueError, TypeError, KeyError):
                answer = json.loads(result.failure.message)
                return bool(answer["held"]), str(answer["probed"])
            return None, f"{result.failure.type}: {result.failure.message}"[:200]
    rows = [row.strip() for row in execution.output.splitlines() if row.strip()]
    last_line = f": {rows[-1][:120]}" if rows else ""
    return None, f"the probe did not run ({execution.killed or f'status {execution.status}'}{last_line})"


def _read_files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def find_leftovers(marker: str) -> Finding:
    """Does no process have the marker in its command line?"""
    lines = ((process.pid, process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"]))
    pid = next((pid for pid, words in lines if marker in " ".join(words)), None)
    return pid is None, f"a process in a session of its own: {f'alive as {pid}' if pid else 'gone'}"
