"""Evidence from runs of the unchanged code about the functions that a failing test reaches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from greenloop.core.records.spec import Region
from greenloop.localize.regions import TextOf, region_at
from greenloop_sandbox import Failure
from greenloop_sandbox.report.traces import ReachedFunction, StatementTrace


@dataclass(frozen=True, kw_only=True)
class Reached:
    """Reach of a region: least call depth below a failing test (1: called by it), order of first entry."""

    depth: int
    order: int


@dataclass(frozen=True, kw_only=True)
class CoverageEvidence:
    """The input of every signal.

    `suspects` are the regions that may be at fault; `entered` has the regions that each traced case reached.
    `frames` counts workspace frames from where an exception was raised (0: there), for regions in a traceback.
    `statements` has the lines that some cases ran of the suspects; it is empty before there was such a run.
    `touched` are the suspects that differ from the last commit.
    """

    suspects: Mapping[Region, Reached]
    entered: Mapping[str, Collection[Region]]
    failing: Mapping[str, Failure | None]
    passing: Sequence[str]
    frames: Mapping[Region, int]
    text_of: TextOf
    patterns: Sequence[str] | None = None
    statements: Mapping[str, StatementTrace] = field(default_factory=dict)
    touched: frozenset[Region] = frozenset()

    @cached_property
    def by_place(self) -> Mapping[str, list[Region]]:
        """The suspects of each file, innermost last, as they begin."""
        found: dict[str, list[Region]] = {}
        for region in sorted(self.suspects, key=lambda region: (region.start, -region.end)):
            found.setdefault(region.path, []).append(region)
        return found

    @cached_property
    def ran(self) -> Mapping[Region, frozenset[int]]:
        """The lines of each suspect that a failing case ran; only where statements were traced."""
        found: dict[Region, set[int]] = {}
        for case in self.failing:
            trace = self.statements.get(case)
            for path, lines in trace.lines.items() if trace else ():
                for line in lines:
                    region = self.region_of(path, line)
                    if region is not None:
                        found.setdefault(region, set()).add(line)
        return {region: frozenset(lines) for region, lines in found.items()}

    def region_of(self, path: str, line: int) -> Region | None:
        """The innermost suspect with this line."""
        around = [region for region in self.by_place.get(path, ()) if region.start <= line <= region.end]
        return around[-1] if around else None


def gather_evidence(
    reached: Mapping[str, Iterable[ReachedFunction]],
    failing: Mapping[str, Failure | None],
    passing: Collection[str],
    text_of: TextOf,
    *,
    patterns: Sequence[str] | None = None,
    statements: Mapping[str, StatementTrace] | None = None,
    named: Collection[Region] = (),
) -> CoverageEvidence:
    """Makes the evidence of traced runs; `patterns` is pytest's `python_files`.

    `named` are functions that a failure names: it was raised by how they are called, or not called.
    """
    known: dict[tuple[str, int], Region | None] = {}

    def find(path: str, line: int) -> Region | None:
        if (path, line) not in known:
            known[path, line] = region_at(path, line, text_of, patterns)
        return known[path, line]

    entered: dict[str, dict[Region, Reached]] = {}
    for case in {*failing, *passing}:
        regions = entered[case] = {}
        for order, item in enumerate(reached.get(case, ())):
            # A module's own code has line 1 as its first line, where a function may begin too.
            region = None if item.name == "<module>" else find(item.path, item.firstlineno)
            if region is not None:
                earlier = regions.get(region)
                depth, first = (earlier.depth, earlier.order) if earlier else (item.depth, order)
                regions[region] = Reached(depth=min(depth, item.depth), order=first)
    frames: dict[Region, int] = dict.fromkeys(named, 0)
    for failure in failing.values():
        found = [find(frame.path, frame.line) for frame in (failure.frames if failure else ())]
        for position, region in enumerate(dict.fromkeys(region for region in reversed(found) if region is not None)):
            frames[region] = min(position, frames.get(region, position))
    suspects: dict[Region, Reached] = {}
    for case in failing:
        for region, entry in entered[case].items():
            earlier = suspects.get(region, entry)
            suspects[region] = Reached(depth=min(earlier.depth, entry.depth), order=max(earlier.order, entry.order))
    for region in frames:
        suspects.setdefault(region, Reached(depth=1, order=0))
    return CoverageEvidence(
        suspects=suspects,
        entered={case: frozenset(regions) for case, regions in entered.items()},
        failing=failing,
        passing=tuple(passing),
        frames=frames,
        text_of=text_of,
        patterns=patterns,
        statements=statements or {},
    )
