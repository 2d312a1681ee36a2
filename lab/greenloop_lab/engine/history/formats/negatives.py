"""One row for each hard negative: code that looked right and was refused, best first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from greenloop_lab.engine.history.formats._row import Message, Row, Template, column, head, template_hashes
from greenloop_lab.engine.history.trajectories import Trajectory, hard_negatives
from greenloop_lab.engine.history.trajectory_texts import code_of, request_of


@dataclass(frozen=True, kw_only=True)
class NegativesRow(Row):
    """An attempt that was refused."""

    attempt: int = column("its number")
    rank: int = column("its place among the hard negatives of the run, from 1")
    refused_by: str = column("judge: the harness's hidden tests; acceptance: its own tests pass; tests: they do not")
    templates: tuple[Template, ...] = column("the templates of its prompt")
    prompt: tuple[Message, ...] = column("as sent, or made of the problem and what failed before")
    code: str = column("its code")
    score: float = column("the share of the tests that passed")
    feedback: str = column("what was said of it")


ROW = NegativesRow


def rows(run: Trajectory) -> Iterator[NegativesRow]:
    for rank, step in enumerate(hard_negatives(run), 1):
        yield NegativesRow(
            **head(run, "negatives", step.error_class),
            attempt=step.number,
            rank=rank,
            refused_by=step.refused_by,
            templates=template_hashes(step),
            prompt=request_of(run, step),
            code=code_of(run, step),
            score=step.score,
            feedback=step.feedback,
        )
