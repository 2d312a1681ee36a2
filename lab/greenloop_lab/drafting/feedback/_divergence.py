"""Finds where a traced run first leaves the values that a plan expects.

A plan rarely lists every value, so the values of each variable are compared in their own order: one by one where there
are as many, else those of the plan have to occur in the run, and its last one at the end. Of all variables the earliest
difference counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop_lab.drafting.feedback._blocks import HOW
from greenloop_lab.drafting.feedback._expected_values import RETURN, Expected, same_value
from greenloop_sandbox.report.traces import LineTrace, TracedStep

RAISED = "raise "  # before the exception that ended a call, in place of its result


@dataclass(frozen=True, kw_only=True)
class Divergence:
    """The first value of a run that is not the plan's. `observed` is "" where the run has no such value any more."""

    variable: str
    path: str
    line: int
    expected: str
    observed: str


@dataclass(frozen=True, kw_only=True)
class _Value:
    """A value that a variable got in a run: at which step, and by which line."""

    text: str
    step: int
    path: str
    line: int


def first_divergence(expected: Expected, trace: LineTrace) -> Divergence | None:
    """The earliest difference of a run from the plan; None where no variable of both differs."""
    steps = trace.steps[: trace.gap] if trace.left_out else trace.steps
    observed = _observed_values(steps)
    earliest: tuple[int, Divergence] | None = None
    for name in dict.fromkeys(name for name, _value in expected):
        wanted = _without_repeats([value for other, value in expected if other == name])
        difference = _compare(name, wanted, observed.get(name, []), is_whole=not trace.left_out, end=len(steps))
        if difference and (earliest is None or difference[0] < earliest[0]):
            earliest = difference
    return earliest[1] if earliest else None


def _compare(
    name: str, wanted: Sequence[str], values: Sequence[_Value], *, is_whole: bool, end: int
) -> tuple[int, Divergence] | None:
    """The first difference of one variable, with the step where it appears."""
    if not values:
        return None  # the code has no such variable
    position = _start(wanted, values)
    is_listed = len(values) - position <= len(wanted)
    for number, text in enumerate(wanted, 1):
        if not is_listed:  # the run may have values that the plan leaves out
            places = range(position, len(values))
            place = next((place for place in places if not _differs(text, values[place])), None)
            if place is None and not (number == len(wanted) and is_whole):
                continue
            position = len(values) - 1 if place is None else place
        if position >= len(values):
            last = values[-1]
            lacking = Divergence(variable=name, path=last.path, line=last.line, expected=text, observed="")
            return (end, lacking) if is_whole else None
        value = values[position]
        if _differs(text, value):
            divergence = Divergence(variable=name, path=value.path, line=value.line, expected=text, observed=value.text)
            return value.step, divergence
        position += 1
    return None


def _differs(text: str, value: _Value) -> bool:
    """Is it certainly another value? A shortened one may be the same; an exception never is."""
    return value.text.startswith(RAISED) or same_value(text, value.text) is False


def _start(wanted: Sequence[str], values: Sequence[_Value]) -> int:
    """The place of the plan's first value where the run has one value more before it, such as `total = 0`."""
    is_second = len(values) > 1 and same_value(wanted[0], values[1].text)
    return 1 if is_second and same_value(wanted[0], values[0].text) is False else 0


def _observed_values(steps: Sequence[TracedStep]) -> dict[str, list[_Value]]:
    """The values of each variable in the calls that a test makes, in order and without repeats."""
    observed: dict[str, list[_Value]] = {}
    for number, step, line in _outer_steps(steps):
        for name, text in step.values.items():
            if name not in HOW:
                value = _Value(text=text, step=number, path=step.path, line=line)
            elif name == "yield":
                continue
            else:
                shown = text if name == RETURN else f"{RAISED}{text}"
                value = _Value(text=shown, step=number, path=step.path, line=step.line)
            values = observed.setdefault(RETURN if name in HOW else name, [])
            if not values or values[-1].text != value.text:
                values.append(value)
    return observed


def _outer_steps(steps: Sequence[TracedStep]) -> Iterator[tuple[int, TracedStep, int]]:
    """The steps of calls that no other watched call made, each with the line that set its values."""
    running: dict[int, int] = {}
    for number, step in enumerate(steps):
        if step.call == next(iter(running), step.call):
            yield number, step, running.get(step.call, step.line)
        running[step.call] = step.line
        if RETURN in step.values or "raise" in step.values:
            running.pop(step.call, None)


def _without_repeats(values: Sequence[str]) -> list[str]:
    return [value for number, value in enumerate(values) if not number or value != values[number - 1]]
