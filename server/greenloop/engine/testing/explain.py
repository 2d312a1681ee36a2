"""Explains a failing test without a model: what fails where, and which functions and lines are most suspicious."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from greenloop.core.deadline import Deadline, before_search
from greenloop.core.records.spec import Region
from greenloop.core.run_state import Baseline
from greenloop.core.text.diff import split_lines
from greenloop.engine.sandbox_spec import build_sandbox_spec, ignore_status, open_session
from greenloop.localize.baseline import measure_baseline
from greenloop.localize.context import BaselineContext
from greenloop.localize.findings import findings_of
from greenloop.project import typed_targets, workspace
from greenloop.project.settings import Settings
from greenloop.project.snapshot import Snapshot
from greenloop_sandbox import SandboxPool
from greenloop_sandbox.report.inspections import ShownFrame

MOST_LINES = 10


@dataclass(frozen=True, kw_only=True)
class SuspiciousLine:
    """A line that the failing cases run; `suspicion` is its Ochiai score, 0..1."""

    path: str
    line: int
    text: str
    suspicion: float


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The baseline of a test, with the functions that may be at fault, most suspicious first, and their worst lines.

    `frames` are those of the project in the first failure's traceback, innermost last, with the values of locals.
    """

    baseline: Baseline
    suspects: tuple[Region, ...]
    lines: tuple[SuspiciousLine, ...]
    frames: tuple[ShownFrame, ...] = ()


async def explain(
    root: Path,
    target: str,
    *,
    settings: Settings,
    pool: SandboxPool | None = None,
    report_status: Callable[[str], None] = ignore_status,
) -> Explanation:
    """Explains a failing test without a model: its failure, and the functions and lines most likely at fault.

    `target` is a pytest node id or `file.py::function`; `pool` keeps the sandbox open for the next call.
    Raises `UsageError` for a target that does not exist, `CannotVerifyError` where no sandbox or interpreter can be
    used or the time of `seconds` ends before.
    """
    deadline = Deadline(seconds=settings.seconds)
    snapshot = Snapshot(root=workspace.check_root(root), buffers={})
    parsed = typed_targets.parse_target(target, snapshot.root, read_text=snapshot.text).target
    place = await build_sandbox_spec(snapshot.root, settings, report_status)
    async with before_search(deadline), open_session(place, settings, report_status, pool) as (_sandbox, session):
        context = BaselineContext(
            target=parsed,
            snapshot=snapshot,
            session=session,
            place=place,
            settings=settings,
            report_status=report_status,
            deadline=deadline,
        )
        baseline = await measure_baseline(context)
        findings = None if baseline.has_result else await findings_of(context, baseline, baseline.problem)
    problem = baseline.problem
    suspects = () if baseline.has_result else (*problem.regions, *problem.suspects)
    inspected = next(iter(findings.inspected.values()), None) if findings else None
    frames = tuple(frame for raised in (inspected.chain[-1:] if inspected else ()) for frame in raised.frames)
    return Explanation(
        baseline=baseline,
        suspects=suspects,
        lines=_worst_lines(baseline, suspects),
        frames=tuple(frame for frame in frames if frame.values),
    )


def _worst_lines(baseline: Baseline, suspects: tuple[Region, ...]) -> tuple[SuspiciousLine, ...]:
    problem = baseline.problem
    inside = {(region.path, line) for region in suspects for line in range(region.start, region.end + 1)}
    scores = [
        (score, path, line)
        for path, lines in problem.suspicion.items()
        for line, score in lines.items()
        if (path, line) in inside
    ]
    texts = {path: split_lines(problem.files[path]) for path in {path for _score, path, _line in scores}}
    return tuple(
        SuspiciousLine(path=path, line=line, text=texts[path][line - 1].rstrip(), suspicion=round(score, 3))
        for score, path, line in sorted(scores, key=lambda each: (-each[0], each[1], each[2]))[:MOST_LINES]
    )
