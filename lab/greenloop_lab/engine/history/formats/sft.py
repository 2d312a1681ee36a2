"""One row for each accepted attempt: the request, and the answer that a model should learn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from greenloop_lab.engine.history.formats._row import Message, Row, Template, column, error_of, head, template_hashes
from greenloop_lab.engine.history.trajectories import Trajectory
from greenloop_lab.engine.history.trajectory_texts import answer_of, code_of, request_of


@dataclass(frozen=True, kw_only=True)
class SftRow(Row):
    """An accepted attempt."""

    attempt: int = column("its number")
    move: str = column("how it was made; mutate and merge asked no model")
    templates: tuple[Template, ...] = column("the templates of its prompt")
    prompt: tuple[Message, ...] = column("as sent, or made of the problem and what failed before")
    as_sent: bool = column("the prompt is the one that the model was sent")
    completion: tuple[Message, ...] = column(
        "one message of the assistant: its answer; the code where the prompt is made"
    )
    code: str = column("the accepted code")


ROW = SftRow


def rows(run: Trajectory) -> Iterator[SftRow]:
    for step in run.steps:
        if step.accepted and step.code and step.right is not False:
            yield SftRow(
                **head(run, "sft", error_of(run.step(step.parent))),
                attempt=step.number,
                move=step.move,
                templates=template_hashes(step),
                prompt=request_of(run, step),
                as_sent=bool(step.messages),
                completion=(Message(role="assistant", content=answer_of(run, step)),),
                code=code_of(run, step),
            )
