"""One row for each two consecutive answers of models, with both scores, for training in several turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from greenloop_lab.engine.history.formats._row import Message, Row, Template, column, head, template_hashes
from greenloop_lab.engine.history.trajectories import Trajectory
from greenloop_lab.engine.history.trajectory_texts import code_of, request_of


@dataclass(frozen=True, kw_only=True)
class TurnsRow(Row):
    """Two turns. An answer without code has an empty code and the score 0."""

    turn: int = column("the place of the first answer among those of the run, from 1")
    first: int = column("the number of the first attempt")
    second: int = column("the number of the second attempt")
    is_revision: bool = column("the second attempt was asked to change the first")
    templates: tuple[Template, ...] = column("the templates of the second prompt")
    prompt: tuple[Message, ...] = column("the request of the first answer")
    first_answer: str = column("the first answer, as the model gave it")
    first_code: str = column("its code")
    first_score: float = column("the share of the tests that passed")
    first_passed: int = column("tests that passed")
    feedback: str = column("what the model was told of it, where the second attempt changes it")
    second_answer: str = column("the second answer, as the model gave it")
    second_code: str = column("its code")
    second_score: float = column("the share of the tests that passed")
    second_passed: int = column("tests that passed")
    total: int = column("tests that count")
    difference: float = column("second_score - first_score")
    accepted: bool = column("the second attempt was accepted")


ROW = TurnsRow


def rows(run: Trajectory) -> Iterator[TurnsRow]:
    answers = [step for step in run.steps if step.by_model]
    for turn, (first, second) in enumerate(pairwise(answers), 1):
        is_revision = second.parent == first.number
        yield TurnsRow(
            **head(run, "turns", first.error_class),
            turn=turn,
            first=first.number,
            second=second.number,
            is_revision=is_revision,
            templates=template_hashes(second),
            prompt=request_of(run, first),
            first_answer=first.answer,
            first_code=code_of(run, first) if first.code else "",
            first_score=first.score,
            first_passed=first.passed,
            feedback=first.feedback if is_revision else "",
            second_answer=second.answer,
            second_code=code_of(run, second) if second.code else "",
            second_score=second.score,
            second_passed=second.passed,
            total=max(first.total, second.total),
            difference=round(second.score - first.score, 6),
            accepted=second.accepted,
        )
