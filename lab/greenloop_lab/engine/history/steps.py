"""Reads stored runs as trajectories, one at a time.

It must not know in which format they are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from greenloop.core.records import model
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Outcome, Verified
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import split_lines
from greenloop.core.text.written_calls import as_plain
from greenloop.engine.history.rows import CUT_SHORT, StoredProblem, StoredRun
from greenloop.engine.history.store import History
from greenloop.engine.loop.candidate_runs import REPEATED
from greenloop_lab.engine.history.trajectories import Message, Step, Trajectory

SOURCE = "history"
ALL = 1_000_000  # runs; a history has far fewer


def stored_trajectories(history: History, root: Path | None = None, run: int | None = None) -> Iterator[Trajectory]:
    """Yields the runs of one workspace or of all, or only one run, oldest first. Only one of them is in memory."""
    solved = solved_by_target(history)
    for number in history.ids(root) if run is None else [run]:
        record = history.run(number)
        if record is not None and record.state != "running":
            rate = solved.get((record.root, record.target), (0, 0))
            yield to_trajectory(record, history.problem(number), rate)


def solved_by_target(history: History) -> dict[tuple[str, str], tuple[int, int]]:
    """Returns for each workspace and target how many runs of it ended, and how many of these it was solved in."""
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for record in history.runs(limit=ALL):
        if record.outcome is not None and record.outcome.reason not in CUT_SHORT:
            runs, solved = counts.get((record.root, record.target), (0, 0))
            counts[record.root, record.target] = runs + 1, solved + record.outcome.solved
    return counts


def to_trajectory(record: StoredRun, problem: StoredProblem, rate: tuple[int, int] = (0, 0)) -> Trajectory:
    """A stored run as its steps; `rate`: how many runs of its target ended, and how many solved it."""
    outcome = record.outcome
    before = _texts_before(outcome, record.attempts)
    return Trajectory(
        id=str(record.id),
        source=SOURCE,
        root=record.root,
        target=record.target,
        model=record.model,
        preset=record.preset,
        steps=tuple(_to_step(attempt) for attempt in record.attempts),
        instruction=problem.instruction,
        goal=problem.goal,
        names=problem.names,
        code=problem.code or before,
        suspects={**before, **problem.suspects},
        is_solved=outcome is not None and outcome.solved,
        is_verified=outcome is not None and outcome.solved and outcome.verified is Verified.VERIFIED,
        reason=outcome.reason.value if outcome else record.state,
        runs=rate[0],
        solved_runs=rate[1],
    )


def _to_step(attempt: Attempt) -> Step:
    draft, candidate, verdict, sent = attempt.draft, attempt.candidate, attempt.verdict, attempt.sent
    gate = attempt.finding.error_class if attempt.finding else ""
    return Step(
        number=attempt.number,
        parent=attempt.parent,
        move=draft.move.value if draft else "",
        role=draft.role.value if draft else "",
        model=attempt.model,
        temperature=draft.temperature if draft else None,
        plan=(draft.hint or draft.label) if draft else "",
        templates=sent.templates if sent else {},
        messages=tuple(_as_text(message) for message in sent.messages) if sent else (),
        answer=attempt.answer,
        code=candidate.texts if candidate else {},
        added=(*candidate.imports, *candidate.helpers) if candidate else (),
        feedback=_feedback_on(attempt),
        error_class=attempt.error_class,
        group=attempt.group.value if attempt.group else "",
        status=verdict.status.value,
        score=verdict.score,
        passed=verdict.passed,
        total=verdict.total,
        time=verdict.data["improve"]["ratio"] if "improve" in verdict.data else None,
        accepted=attempt.accepted,
        refused=attempt.refused,
        is_clean=candidate is not None and gate in ("", REPEATED),
    )


def _as_text(message: model.Message) -> Message:
    plain = as_plain(message)
    return Message(role=plain.role, content=plain.content)


def _feedback_on(attempt: Attempt) -> str:
    """Returns the feedback on an attempt; for one that was too small to be described, its first failure."""
    notes = "\n\n".join(note.text for note in attempt.notes if note.text)
    failures = (
        f"{case.id}: {case.failure.type}: {case.failure.message}".rstrip(": ")
        for case in attempt.verdict.failing
        if case.failure
    )
    return notes or attempt.verdict.reason or next(failures, "")


def _texts_before(outcome: Outcome | None, attempts: tuple[Attempt, ...]) -> Mapping[Region, str]:
    """The user's text of every region that an attempt changes, as far as the outcome has its file."""
    before = {path: split_lines(text) for path, text in outcome.before.items() if text} if outcome else {}
    regions = {region for attempt in attempts if attempt.candidate for region in attempt.candidate.texts}
    return {
        region: "".join(before[region.path][region.start - 1 : region.end])
        for region in regions
        if region.path in before and not region.created
    }
