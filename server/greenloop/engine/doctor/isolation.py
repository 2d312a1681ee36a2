"""Isolation probes: programs in the sandbox try what docs/sandbox.md says it prevents, and the host checks.

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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
# In the order of docs/sandbox.md: the name of the probe's test, and the promise.
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
ALONE = ("memory", "processes", "disk", "time")
# Limits enforced by a watchdog because the kernel cannot enforce them for all processes together.
BEST_EFFORT = {"bubblewrap": {"memory", "processes"}, "docker": set()}


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
    with _secrets(marker) as (root, closed):
        place = SandboxSpec(
            root=root,
            environment=environment,
            masked=MASKED,
            limits=LIMITS,
            image=probe.image,
            variables={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # plugins of the project must not interfere
        )
        _write_workspace(root, marker, closed)
        before = _read_files(root)
        session = await sandbox.open(place)
        try:
            results = await _run_inside(session)
        finally:
            await session.close()
        results["workspace"] = _with_host_changes(results["workspace"], before, _read_files(root))
        results["remains"] = _find_leftovers(marker)
    best_effort_names = BEST_EFFORT.get(sandbox.name, set())
    return [
        replace(results[name], promise=text, best_effort=name in best_effort_names) for name, text in PROMISES.items()
    ]


# -- for the doctor ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class IsolationReport:
    """Findings on one back end's isolation, or the reason why nothing could be tried."""

    name: str
    findings: tuple[ProbeResult, ...] = ()
    reason: str = ""

    @property
    def broken_promises(self) -> list[str]:
        """The promises that do not hold."""
        return [finding.promise for finding in self.findings if finding.held is False]


async def check_isolation(root: Path, settings: Settings, probes: Sequence[Probe]) -> list[IsolationReport]:
    """Probes the back ends one by one, as they would disturb each other's limits. Never raises for missing parts."""
    try:
        environment = await asyncio.to_thread(workspace.find_environment, root, settings)
    except GreenloopError:
        return []
    kind = settings.sandbox.kind
    usable = [probe for probe in probes if probe.ok and probe.name != "none" and kind in ("auto", probe.name)]
    return [await _check_sandbox(probe, environment, settings) for probe in usable]


async def _check_sandbox(probe: Probe, environment: Environment, settings: Settings) -> IsolationReport:
    if probe.name == "docker" and not probe.image:
        return IsolationReport(name=probe.name, reason="its image is not here yet; ask again after the first run")
    if probe.name == "ray":
        reason = "each node has a back end of its own: run `greenloop doctor` there"
        return IsolationReport(name=probe.name, reason=reason)
    sandbox = sandbox_selection.make(probe.name, settings)
    try:
        async with asyncio.timeout(PATIENCE):
            return IsolationReport(name=probe.name, findings=tuple(await run_probes(sandbox, probe, environment)))
    except TimeoutError:
        return IsolationReport(name=probe.name, reason=f"it took longer than {PATIENCE:g} s")
    except (GreenloopError, OSError) as error:
        return IsolationReport(name=probe.name, reason=str(error))


def remedy_for(name: str, usable: Sequence[str]) -> str:
    """Returns the remedy for a back end that breaks a promise."""
    others = [other for other in usable if other != name]
    instead = f"Use the other one: set sandbox.kind = {others[0]}." if others else "Run only code that you trust."
    return f"{instead} docs/sandbox.md says what is promised; please report this."


# -- the probes ---------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _secrets(marker: str) -> Iterator[tuple[Path, list[str]]]:
    """Yields a workspace and host files that must be unreadable inside; sets a variable that must not get there."""
    state_file = state_folder() / f"{marker}.txt"
    with tempfile.TemporaryDirectory(prefix="greenloop-probe-") as folder, contextlib.ExitStack() as stack:
        root = Path(folder).resolve()
        root.chmod(0o755)
        state_file.write_text(marker)
        stack.callback(lambda: state_file.unlink(missing_ok=True))
        os.environ["GREENLOOP_PROBE"] = marker
        stack.callback(lambda: os.environ.pop("GREENLOOP_PROBE", None))
        sibling = Path(f"{root}-beside.txt")
        sibling.write_text(marker)
        stack.callback(lambda: sibling.unlink(missing_ok=True))
        yield root, [str(state_file), str(sibling), "/etc/shadow", *_home_files()]


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
    program = resource("greenloop").joinpath("engine", "doctor", "probe.txt").read_text(encoding="utf-8")
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


async def _run_inside(session: Session) -> dict[str, ProbeResult]:
    """Runs the probes; returns their results by promise."""
    shared = [name for name in PROMISES if name not in (*ALONE, "output", "remains")]
    execution = await _run(session, shared, LIMITS.seconds)
    results = {name: _read_result(execution, name) for name in shared}
    for name, killed in (("memory", "memory"), ("processes", "processes"), ("disk", "disk")):
        execution = await _run(session, [name], LIMITS.seconds)
        results[name] = _killed_result(execution, killed) or _read_result(execution, name)
    execution = await _run(session, ["time"], PROMPTLY)
    results["time"] = _killed_result(execution, "timeout") or _read_result(execution, "time")
    kept_bytes = len(execution.output.encode())
    held = kept_bytes <= 2 * LIMITS.output if results["time"].held else None
    results["output"] = ProbeResult(promise="", held=held, probed=f"wrote 8 MiB: {kept_bytes >> 10} KiB kept")
    return results


async def _run(session: Session, names: list[str], seconds: float) -> Execution:
    execution = await session.run(TestRun(selectors=tuple(f"{FILE}::test_{name}" for name in names), seconds=seconds))
    if execution.broken:
        raise CannotVerifyError(f"The probe could not be run: {execution.broken}")
    return execution


def _read_result(execution: Execution, name: str) -> ProbeResult:
    for result in case_results(execution):
        if result.id == f"{FILE}::test_{name}" and result.failure is not None:
            with contextlib.suppress(ValueError, TypeError, KeyError):
                answer = json.loads(result.failure.message)
                return ProbeResult(promise="", held=bool(answer["held"]), probed=str(answer["probed"]))
            return ProbeResult(promise="", held=None, probed=f"{result.failure.type}: {result.failure.message}"[:200])
    rows = [row.strip() for row in execution.output.splitlines() if row.strip()]
    last_line = f": {rows[-1][:120]}" if rows else ""
    return ProbeResult(
        promise="",
        held=None,
        probed=f"the probe did not run ({execution.killed or f'status {execution.status}'}{last_line})",
    )


def _killed_result(execution: Execution, limit: str) -> ProbeResult | None:
    if execution.killed != limit:
        return None
    return ProbeResult(promise="", held=True, probed=f"went over the limit: ended after {execution.seconds:.1f} s")


def _read_files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def _with_host_changes(result: ProbeResult, before: dict[str, bytes], after: dict[str, bytes]) -> ProbeResult:
    if before == after:
        return result
    changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return replace(result, held=False, probed=f"on the host changed: {', '.join(changed)}")


def _find_leftovers(marker: str) -> ProbeResult:
    leftovers = [pid for pid, line in _command_lines() if marker in line]
    text = f"a process in a session of its own: {'gone' if not leftovers else f'alive as {leftovers[0]}'}"
    return ProbeResult(promise="", held=not leftovers, probed=text)


def _command_lines() -> Iterator[tuple[int, str]]:
    for process in psutil.process_iter(["cmdline"]):
        yield process.pid, " ".join(process.info["cmdline"] or ())
