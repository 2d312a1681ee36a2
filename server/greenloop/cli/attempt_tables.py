"""Draws the attempts of a run as tables for a terminal: a row for each, its looks, what it cost; and diffs in colour.

It must not know whether the run is still under way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from greenloop.cli import render
from greenloop.core.records.attempt import Attempt, Look
from greenloop.core.records.verdict import Status
from greenloop.wording.attempt import attempt_label, attempt_result, count_passed
from greenloop.wording.model import describe_questions, describe_tokens, list_looks

_COLOURS = {Status.PASSED: "green", Status.REFUSED: "yellow", Status.TAMPERED: "magenta"}


def draw_attempts(
    attempts: Sequence[Attempt], label_cells: Callable[[str], str] = str, *, looks: Mapping[int, Sequence[Look]] = {}
) -> Group:
    """The attempts, below them the looks of the model before each, and how much it was asked.

    `looks` are those of attempts that are not complete yet, by number.
    """
    parts: list[RenderableType] = [_attempt_table(attempts, label_cells)]
    made = {attempt.number: attempt.looks for attempt in attempts if attempt.looks} | {**looks}
    if any(made.values()):
        parts += ["", _look_table(made, label_cells)]
    if questions := describe_questions(attempts):
        parts += ["", Text(questions, style="dim")]
    return Group(*parts)


def _attempt_table(attempts: Sequence[Attempt], label_cells: Callable[[str], str]) -> Table:
    """Attempts as rows; on narrow terminals model and error shrink first."""
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    grid.add_column("attempt", justify="right", no_wrap=True)
    grid.add_column("model", overflow="ellipsis", max_width=28)
    grid.add_column("result", no_wrap=True)
    grid.add_column("error", overflow="ellipsis")
    grid.add_column("tokens", justify="right", no_wrap=True)
    grid.add_column("seconds", justify="right", no_wrap=True)
    for attempt in attempts:
        verdict = attempt.verdict
        colour, is_partial = _COLOURS.get(verdict.status, "red"), verdict.passed < verdict.total
        is_partial = is_partial and verdict.status is Status.FAILED
        grid.add_row(
            attempt_label(attempt) if attempt.number else "baseline",
            Text(render.model_name(attempt.model)),
            Text(count_passed(verdict) if is_partial else attempt_result(attempt), style=colour),
            Text(label_cells(render.attempt_error(attempt))),
            describe_tokens(attempt.spent) if attempt.number or attempt.spent.tokens else "",
            f"{render.attempt_seconds(attempt) or attempt.verdict.seconds:.1f}",
        )
    return grid


def _look_table(looks: Mapping[int, Sequence[Look]], label_cells: Callable[[str], str]) -> Table:
    """Looks as rows, each in one line: what is too long is cut."""
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    grid.add_column("attempt", justify="right", min_width=len("baseline"))
    grid.add_column("looks before the answer", no_wrap=True, overflow="ellipsis")
    for number, made in looks.items():
        for row in list_looks(made):
            grid.add_row(str(number), Text(label_cells(render.escape_controls(row)), style="dim"))
    return grid


def print_diff(text: str) -> None:
    """Prints a unified diff in the usual colours."""
    Console(highlight=False).print(colour_diff(text), soft_wrap=True)


def colour_diff(text: str) -> Text:
    """A unified diff in the usual colours, with control characters made visible."""
    result = Text()
    for line in render.escape_controls(text).split("\n"):
        style = ""
        if line.startswith(("+++", "---", "diff ")):
            style = "bold"
        elif line.startswith("@@"):
            style = "cyan"
        elif line.startswith("+"):
            style = "green"
        elif line.startswith("-"):
            style = "red"
        result.append(line + "\n", style=style)
    result.right_crop(1)
    return result
