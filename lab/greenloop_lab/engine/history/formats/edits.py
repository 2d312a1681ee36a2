"""One row for each step to a better score: instruction, input, output; and problem, faulty, feedback, fixed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from greenloop_lab.engine.history.formats._row import Row, column, error_of, head
from greenloop_lab.engine.history.trajectories import Trajectory
from greenloop_lab.engine.history.trajectory_texts import changed_regions, code_of, problem_of


@dataclass(frozen=True, kw_only=True)
class EditsRow(Row):
    """An attempt and the code that it changes: that of its parent, or the user's."""

    attempt: int = column("the number of the attempt")
    parent: int = column("the number of the attempt that it changes; 0: the user's code")
    instruction: str = column("the feedback, or the problem where there was none")
    input: str = column("the code before")
    output: str = column("the code after")
    problem: str = column("the problem in words, with the user's code")
    faulty: str = column("the same as input")
    feedback: str = column("what was said of the code before")
    fixed: str | None = column("the same as output, where it passes; null: it is only better")
    input_score: float = column("the share of the tests that passed before")
    output_score: float = column("the share of the tests that pass after")


ROW = EditsRow


def rows(run: Trajectory) -> Iterator[EditsRow]:
    for step in run.steps:
        parent = run.step(step.parent)
        if parent is None or not step.code or not (parent.code or not parent.number):
            continue
        regions = changed_regions(parent, step)
        before, after = code_of(run, parent, regions), code_of(run, step, regions)
        if before and after != before and step.score > parent.score and step.right is not False:
            yield EditsRow(
                **head(run, "edits", error_of(parent)),
                attempt=step.number,
                parent=parent.number,
                instruction=parent.feedback or problem_of(run),
                input=before,
                output=after,
                problem=problem_of(run),
                faulty=before,
                feedback=parent.feedback,
                fixed=after if step.has_passed else None,
                input_score=parent.score,
                output_score=step.score,
            )
