"""One row for each chain of attempts: the user's code, and the diff of each step to the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.core.text.diff import diff_files
from greenloop_lab.engine.history.formats._row import Row, column, error_of, head
from greenloop_lab.engine.history.trajectories import Step, Trajectory
from greenloop_lab.engine.history.trajectory_texts import changed_regions, code_by_path, code_of


@dataclass(frozen=True, kw_only=True)
class EditRow:
    """One step."""

    attempt: int = column("the number of the attempt")
    diff: str = column("unified, of the changed functions alone; line numbers count in them")
    is_clean: bool = column("the code after it compiles and uses no name that is not defined")
    score: float = column("the share of the tests that passed")


@dataclass(frozen=True, kw_only=True)
class DiffsRow(Row):
    """A chain from the user's code to an attempt that no other one changes."""

    start: str = column("the user's code")
    edits: tuple[EditRow, ...] = column("in order; applied to start they give end")
    end: str = column("the code of the last attempt")
    is_clean: bool = column("every edit is")
    accepted: bool = column("the last attempt was accepted")


ROW = DiffsRow


def rows(run: Trajectory) -> Iterator[DiffsRow]:
    changed = {step.parent for step in run.steps if step.code}
    for leaf in run.steps:
        if not leaf.code or leaf.number in changed or leaf.right is False:
            continue
        chain = _chain(run, leaf)
        regions = changed_regions(*chain)
        texts = [code_by_path(run, step, regions) for step in (None, *chain)]
        edits = tuple(
            EditRow(
                attempt=step.number,
                diff=diff_files({path: text or None for path, text in before.items()}, after),
                is_clean=step.is_clean,
                score=step.score,
            )
            for step, before, after in zip(chain, texts, texts[1:], strict=False)
        )
        yield DiffsRow(
            **head(run, "diffs", error_of(run.step(chain[0].parent))),
            start=code_of(run, None, regions),
            edits=edits,
            end=code_of(run, leaf, regions),
            is_clean=all(edit.is_clean for edit in edits),
            accepted=leaf.accepted,
        )


def _chain(run: Trajectory, leaf: Step) -> list[Step]:
    """The attempts that lead to a leaf, as far as they have code."""
    chain = [leaf]
    while (parent := run.step(chain[0].parent)) is not None and parent.code and parent.number < chain[0].number:
        chain.insert(0, parent)
    return chain
