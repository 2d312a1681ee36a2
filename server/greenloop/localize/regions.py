"""Ranks the workspace functions that a failing test really reaches by how suspicious they are.

Tests, conftests and configuration are never regions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from greenloop.core.python import stubs as placeholders
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import Failure, Frame
from greenloop.core.report import ReachedFunction
from greenloop.project.sources import is_trusted
from greenloop.project.syntax import definitions
from greenloop.project.workspace import is_masked

TextOf = Callable[[str], str | None]
MOST_SUSPECTS = 9  # besides the chosen regions
SMALL_REGION = 25  # lines up to which further regions are added


@dataclass(frozen=True, kw_only=True)
class _Suspect:
    """A region and the reasons for its rank.

    `frame` counts workspace frames from where the exception was raised (0: there; None: in no traceback);
    `ochiai` is 0..1; `named` is 0 when the failing line names it, 1 when the test does, else 2; `depth` is the call
    depth below the test (1: called by it); `order` is the order of first entry.
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
        is_special = self.region.qualname.rpartition(".")[2].startswith("__")
        return (raised, -self.ochiai, self.named, is_special, self.depth, -self.order)


def rank(
    reached: Mapping[str, Iterable[ReachedFunction]],
    failing: Mapping[str, Failure | None],
    passing: Collection[str],
    text_of: TextOf,
    *,
    patterns: Sequence[str] | None = None,
) -> list[Region]:
    """Returns the regions that may be at fault, most suspicious first.

    Ranks by the traceback (deepest workspace frame outside tests first), then by the spectrum of failing and passing
    cases, then by whether the failing line names the function, then by depth. `patterns` is pytest's `python_files`.
    """
    entered = {case: _entered_regions(reached.get(case, ()), text_of, patterns) for case in {*failing, *passing}}
    frames = _traceback_positions(failing, text_of, patterns)
    words = [_test_names(failure, text_of, patterns) for failure in failing.values() if failure]
    positions: dict[Region, tuple[int, int]] = {}
    for case in failing:
        for region, (depth, order) in entered[case].items():
            position = positions.get(region, (depth, order))
            positions[region] = (min(position[0], depth), max(position[1], order))
    for region in frames:
        positions.setdefault(region, (1, 0))
    result = []
    for region, (depth, order) in positions.items():
        failing_hits = sum(region in entered[case] for case in failing) or (1 if region in frames else 0)
        passing_hits = sum(region in entered[case] for case in passing)
        name = region.qualname.rpartition(".")[2]
        result.append(
            _Suspect(
                region=region,
                frame=frames.get(region),
                ochiai=failing_hits / sqrt(max(1, len(failing)) * (failing_hits + passing_hits))
                if failing_hits
                else 0.0,
                named=min((0 if name in line else 1 if name in body else 2 for line, body in words), default=2),
                depth=depth,
                order=order,
            )
        )
    result.sort(key=lambda item: (*item.key, item.region.path, item.region.start))
    return [item.region for item in result]


def choose(
    ranked: Sequence[Region], text_of: TextOf, failures: Iterable[Failure | None] = (), *, most: int = 2
) -> tuple[Region, ...]:
    """Returns the first region, and more up to `most` if all are small and the first is not merely a placeholder."""
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


def others(
    ranked: Sequence[Region], chosen: Sequence[Region], text_of: TextOf, modules: Collection[str]
) -> tuple[Region, ...]:
    """Returns the suspects after the chosen regions: written functions of these modules, at most `MOST_SUSPECTS`."""
    found: list[Region] = []
    for region in ranked:
        is_free = all(_is_disjoint(region, other) for other in (*chosen, *found))
        if is_free and region.path in modules and not is_unwritten(region, text_of):
            found.append(region)
    return tuple(found[:MOST_SUSPECTS])


def _is_disjoint(first: Region, second: Region) -> bool:
    return first.path != second.path or first.end < second.start or second.end < first.start


def relocate(region: Region, text: str) -> Region:
    """Returns the region with its lines in this text; unchanged when the text does not define it."""
    definition = definitions.find_by_qualname(definitions.find_definitions(text, region.path), region.qualname)
    return region if definition is None else replace(region, start=definition.start, end=definition.end)


def _line_count(region: Region) -> int:
    return region.end - region.start + 1


def is_unwritten(region: Region, text_of: TextOf) -> bool:
    """Is its body a placeholder?"""
    text = text_of(region.path)
    return text is not None and placeholders.is_unwritten(definitions.line_span(text, region.start, region.end))


def _raises_unwritten(failure: Failure, region: Region) -> bool:
    """Did the region itself raise `NotImplementedError`?"""
    if failure.type != "NotImplementedError":
        return False
    last = failure.frames[-1] if failure.frames else None
    return last is not None and last.path == region.path and region.start <= last.line <= region.end


def _in_workspace(path: str) -> bool:
    parts = path.split("/")
    return path.endswith(".py") and parts[0] != "" and ":" not in parts[0] and "site-packages" not in parts


def _region_at(path: str, line: int, text_of: TextOf, patterns: Sequence[str] | None) -> Region | None:
    """Returns the smallest addressable function around a line that a candidate may replace, or None."""
    if not _in_workspace(path) or is_trusted(path, patterns) or is_masked(path, (".*", "venv")):
        return None
    text = text_of(path)
    definition = definitions.enclosing_definition(text, line, path) if text is not None else None
    if definition is None or definition.kind != "function":
        return None
    return Region(path=path, qualname=definition.qualname, start=definition.start, end=definition.end)


def _entered_regions(
    items: Iterable[ReachedFunction], text_of: TextOf, patterns: Sequence[str] | None
) -> dict[Region, tuple[int, int]]:
    """Maps each region that a case entered to its least depth and the order of its first entry."""
    result: dict[Region, tuple[int, int]] = {}
    for order, item in enumerate(items):
        # A module's own code has line 1 as its first line, where a function may begin too.
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
    """Returns the names in the test's failing statement, and those in the whole test."""
    frame = next((item for item in reversed(failure.frames) if is_trusted(item.path, patterns)), None)
    text = text_of(frame.path) if frame is not None else None
    if frame is None or text is None:
        return set(), set()
    test = definitions.enclosing_definition(text, frame.line, frame.path)
    body = definitions.line_span(text, test.start, test.end) if test else ""
    return set(_NAME.findall(_failing_statement(text, frame))), set(_NAME.findall(body))


_NAME = re.compile(r"[^\W\d]\w*")


def _failing_statement(text: str, frame: Frame) -> str:
    statement = ""
    for line in definitions.split_lines(text)[frame.line - 1 : frame.line + 9]:
        statement += line
        if sum(statement.count(mark) for mark in "([{") <= sum(statement.count(mark) for mark in ")]}"):
            break
    return statement
