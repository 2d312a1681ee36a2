"""Reads results of the harness as trajectories: with the stored runs where these are kept, else with the answers alone.

It must not know in which format they are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from greenloop.core.aims import find_aim
from greenloop.core.errors import UsageError
from greenloop.core.records.outcome import Verified
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import Status
from greenloop.drafting.candidates.answers.code_blocks import find_blocks
from greenloop.engine.history.store import History
from greenloop_lab.bench import results
from greenloop_lab.bench.results import BROKEN, MAX_MESSAGE, TaskRunResult
from greenloop_lab.engine.history.steps import to_trajectory
from greenloop_lab.engine.history.trajectories import NO_MODEL, Step, Trajectory

SOURCE = "bench"
ANSWER = Region(path="", qualname="", start=0, end=0)  # stands for the code of an answer, whose place is not known


def check_answers(paths: Sequence[Path]) -> None:
    """Raises `UsageError` where nothing was answered in these results, as in those of an older greenloop."""
    done = results.read(paths)
    if not done:
        raise UsageError("The results have no task-run to export.", remedy="Run `greenloop bench` first.")
    if not any(row.get("answer") for each in done for row in each.attempts):
        raise UsageError(
            "The results have no answer of a model, so there is nothing to learn from them.",
            remedy="Run the experiment again with this version, and a model that is asked.",
        )


def read_trajectories(paths: Sequence[Path]) -> Iterator[Trajectory]:
    """Yields the task-runs that have a result, in the order of their files. Raises `UsageError` for other files."""
    done = [(path, each) for path in paths for each in results.read([path]) if each.run["reason"] not in BROKEN]
    rates: dict[str, tuple[int, int]] = {}
    for _path, each in done:
        runs, solved = rates.get(each.run["task"], (0, 0))
        rates[each.run["task"]] = (runs + 1, solved + bool(each.run["right"]))
    histories = {path: file for path in paths if (file := path.with_suffix(".history.sqlite3")).is_file()}
    opened = {path: History.open(file) for path, file in histories.items()}
    try:
        for path, each in done:
            stored = _stored_run(opened.get(path), each)
            yield _to_trajectory(each, stored, rates[each.run["task"]])
    finally:
        for history in opened.values():
            history.close()


def _stored_run(history: History | None, done: TaskRunResult) -> Trajectory | None:
    """The run in the history next to the results; None where it is another one, or no longer there."""
    number = done.run.get("history")
    record = history.run(number) if history is not None and number is not None else None
    if history is None or record is None:
        return None
    stored = to_trajectory(record, history.problem(record.id))
    answers = [step.answer[:MAX_MESSAGE] for step in stored.steps]
    return stored if answers == [row.get("answer", "") for row in done.attempts] else None


def _to_trajectory(done: TaskRunResult, stored: Trajectory | None, rate: tuple[int, int]) -> Trajectory:
    run = done.run
    steps = {step.number: step for step in stored.steps} if stored else {}
    is_solved = bool(run["shown_passed"]) and run["right"]
    common: dict[str, Any] = {
        "id": f"{run['arm']}/{run['task']}/{run['repeat']}",
        "source": SOURCE,
        "task": run["task"],
        "steps": tuple(_judge(steps.get(row["number"]) or _to_step(row), row) for row in done.attempts),
        "is_solved": is_solved,
        "is_verified": is_solved and run.get("verified") == Verified.VERIFIED.value,
        "reason": run["reason"],
        "runs": rate[0],
        "solved_runs": rate[1],
    }
    if stored is not None:
        return replace(stored, **common)
    preset = run.get("preset", run["arm"])
    aim = find_aim(run.get("goal"))
    goal = aim.words if aim is not None else ""
    return Trajectory(root="", target=run["task"], model=run.get("model", ""), preset=preset, goal=goal, **common)


def _judge(step: Step, row: Mapping[str, Any]) -> Step:
    return replace(step, right=row.get("right"))


def _to_step(row: Mapping[str, Any]) -> Step:
    """An attempt of which only its line in the results is known: its code is what its answer has."""
    answer, move = row.get("answer", ""), row.get("move", "")
    blocks = find_blocks(answer) if answer and len(answer) < MAX_MESSAGE and move not in NO_MODEL else []
    text = "\n\n".join(block.text for block in blocks if block.closed and block.is_python)
    status = row["status"]
    return Step(
        number=row["number"],
        parent=row["parent"],
        move=move,
        role=row["role"],
        model=row["model"],
        temperature=row["temperature"],
        answer=answer,
        code={ANSWER: text} if text and row["number"] else {},
        feedback=row.get("reason", ""),
        error_class=row["error_class"],
        group=row["group"],
        status=status,
        score=row["score"],
        passed=row["passed"],
        total=row["total"],
        accepted=row["accepted"],
        is_clean=status != Status.REFUSED,
    )
