"""Which code to change: the functions of the workspace that a failing test really reaches, most suspicious first.

Tests, conftests and configuration are never regions. Test first: what an import names and nobody has written yet is a
region to create (`missing`, `stub`); what only the environment can cure is named as such (`find_environment_fault`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, Protocol

from greenloop.core.python import stubs as placeholders
from greenloop.core.records.spec import Region, Target
from greenloop.core.records.verdict import Failure, Frame
from greenloop.localize.stubs import MissingNames as MissingNames  # noqa: PLC0414
from greenloop.localize.stubs import add_stubs as add_stubs  # noqa: PLC0414
from greenloop.localize.stubs import find_missing as find_missing  # noqa: PLC0414
from greenloop.project.environment_faults import Fault as Fault  # noqa: PLC0414 - one of this module's answers
from greenloop.project.environment_faults import find_environment_fault as find_environment_fault  # noqa: PLC0414
from greenloop.project.sources import is_trusted
from greenloop.project.syntax import definitions
from greenloop.project.targets import region_for
from greenloop.project.workspace import is_masked

TextOf = Callable[[str], str | None]
SMALL_REGION = 25  # lines up to which further regions ride along


class EnteredFunction(Protocol):
    """A function that a case entered: where its code begins, its name, how deep below the test, called from where."""

    @property
    def path(self) -> str: ...
    @property
    def firstlineno(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def depth(self) -> int: ...
    @property
    def caller(self) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """A region and why it stands where it does.

    `frame` counts workspace frames from where the exception was raised (0: there; None: in no traceback);
    `ochiai` is 0..1; `named` is 0 when the failing line names it, 1 when the test does, else 2; `depth` is that below
    the test (1: called by it); `order` is when it was first entered.
    """

    region: Region
    frame: int | None
    ochiai: float
    named: int
    depth: int
    order: int

    @property
    def key(self) -> tuple[float, ...]:
        raised = float("inf") if self.frame is None else float(self.frame)
        made = self.region.qualname.rpartition(".")[2].startswith("__")
        return (raised, -self.ochiai, self.named, made, self.depth, -self.order)


def for_function(target: Target, text: str) -> Region:
    """The region of a function that the user pointed at."""
    return region_for(target, text)


def rank(
    reached: Mapping[str, Iterable[EnteredFunction]],
    failing: Mapping[str, Failure | None],
    passing: Collection[str],
    text_of: TextOf,
    *,
    patterns: Sequence[str] | None = None,
) -> list[Region]:
    """The regions that may be at fault, most suspicious first.

    By the traceback (deepest workspace frame outside tests first), then the spectrum of failing against passing cases,
    then whether the failing line names it, then depth. `patterns` is pytest's `python_files`.
    """
    return [item.region for item in suspects(reached, failing, passing, text_of, patterns=patterns)]


def suspects(
    reached: Mapping[str, Iterable[EnteredFunction]],
    failing: Mapping[str, Failure | None],
    passing: Collection[str],
    text_of: TextOf,
    *,
    patterns: Sequence[str] | None = None,
) -> list[Suspect]:
    """As `rank`, with the reasons."""
    entered = {case: _entered_regions(reached.get(case, ()), text_of, patterns) for case in {*failing, *passing}}
    frames = _traceback_positions(failing, text_of, patterns)
    words = [_test_names(failure, text_of, patterns) for failure in failing.values() if failure]
    found: dict[Region, tuple[int, int]] = {}
    for case in failing:
        for region, (depth, order) in entered[case].items():
            known = found.get(region, (depth, order))
            found[region] = (min(known[0], depth), max(known[1], order))
    for region in frames:
        found.setdefault(region, (1, 0))
    result = []
    for region, (depth, order) in found.items():
        bad = sum(region in entered[case] for case in failing) or (1 if region in frames else 0)
        good = sum(region in entered[case] for case in passing)
        name = region.qualname.rpartition(".")[2]
        result.append(
            Suspect(
                region=region,
                frame=frames.get(region),
                ochiai=bad / sqrt(max(1, len(failing)) * (bad + good)) if bad else 0.0,
                named=min((0 if name in line else 1 if name in body else 2 for line, body in words), default=2),
                depth=depth,
                order=order,
            )
        )
    return sorted(result, key=lambda item: (*item.key, item.region.path, item.region.start))


def choose(
    ranked: Sequence[Region], text_of: TextOf, failures: Iterable[Failure | None] = (), *, most: int = 2
) -> tuple[Region, ...]:
    """The first region, and the next ones, up to `most`, when all are small and the first is not plainly unwritten."""
    chosen = list(ranked[:1])
    if not chosen or _line_count(chosen[0]) > SMALL_REGION or is_unwritten(chosen[0], text_of):
        return tuple(chosen)
    if any(_raises_unwritten(failure, chosen[0]) for failure in failures if failure):
        return tuple(chosen)
    for region in ranked[1:most]:
        if _line_count(region) > SMALL_REGION or not all(_is_disjoint(region, other) for other in chosen):
            break
        chosen.append(region)
    return tuple(chosen)


def _is_disjoint(one: Region, other: Region) -> bool:
    return one.path != other.path or one.end < other.start or other.end < one.start


def relocate(region: Region, text: str) -> Region:
    """The same region with the lines it has in this text; unchanged when it is not there."""
    found = definitions.find_by_qualname(definitions.find_definitions(text, region.path), region.qualname)
    return region if found is None else replace(region, start=found.start, end=found.end)


def _line_count(region: Region) -> int:
    return region.end - region.start + 1


def is_unwritten(region: Region, text_of: TextOf) -> bool:
    """Whether its body is a placeholder."""
    text = text_of(region.path)
    return text is not None and placeholders.is_unwritten(definitions.line_span(text, region.start, region.end))


def _raises_unwritten(failure: Failure, region: Region) -> bool:
    """Did the region itself say that it is not written?"""
    if failure.type != "NotImplementedError":
        return False
    last = failure.frames[-1] if failure.frames else None
    return last is not None and last.path == region.path and region.start <= last.line <= region.end


def _in_workspace(path: str) -> bool:
    parts = path.split("/")
    return path.endswith(".py") and parts[0] != "" and ":" not in parts[0] and "site-packages" not in parts


def _region_at(path: str, line: int, text_of: TextOf, patterns: Sequence[str] | None) -> Region | None:
    """The smallest addressable function around a line that a candidate may replace."""
    if not _in_workspace(path) or is_trusted(path, patterns) or is_masked(path, (".*", "venv")):
        return None
    text = text_of(path)
    found = definitions.enclosing_definition(text, line, path) if text is not None else None
    if found is None or found.kind != "function":
        return None
    return Region(path=path, qualname=found.qualname, start=found.start, end=found.end)


def _entered_regions(
    items: Iterable[EnteredFunction], text_of: TextOf, patterns: Sequence[str] | None
) -> dict[Region, tuple[int, int]]:
    """Each region a case entered with its least depth and the order of its first entry."""
    result: dict[Region, tuple[int, int]] = {}
    for order, item in enumerate(items):
        # A module's own code "begins" in line 1, where a function may stand.
        module = item.name == "<module>"
        region = None if module else _region_at(item.path, item.firstlineno, text_of, patterns)
        if region is not None:
            depth, first = result.get(region, (item.depth, order))
            result[region] = (min(depth, item.depth), first)
    return result


def _traceback_positions(
    failing: Mapping[str, Failure | None], text_of: TextOf, patterns: Sequence[str] | None
) -> dict[Region, int]:
    result: dict[Region, int] = {}
    for failure in failing.values():
        regions = [
            _region_at(frame.path, frame.line, text_of, patterns) for frame in (failure.frames if failure else ())
        ]
        inward = list(dict.fromkeys(region for region in reversed(regions) if region is not None))
        for position, region in enumerate(inward):
            result[region] = min(position, result.get(region, position))
    return result


def _test_names(failure: Failure, text_of: TextOf, patterns: Sequence[str] | None) -> tuple[set[str], set[str]]:
    """The names in the test's failing statement, and in all of the test."""
    frame = next((item for item in reversed(failure.frames) if is_trusted(item.path, patterns)), None)
    text = text_of(frame.path) if frame is not None else None
    if frame is None or text is None:
        return set(), set()
    around = definitions.enclosing_definition(text, frame.line, frame.path)
    body = definitions.line_span(text, around.start, around.end) if around else ""
    return set(_NAME.findall(_failing_statement(text, frame))), set(_NAME.findall(body))


_NAME = re.compile(r"[^\W\d]\w*")


def _failing_statement(text: str, frame: Frame) -> str:
    taken = ""
    for line in definitions.split_lines(text)[frame.line - 1 : frame.line + 9]:
        taken += line
        if sum(taken.count(mark) for mark in "([{") <= sum(taken.count(mark) for mark in ")]}"):
            break
    return taken
