"""Finds functions that belong to a report though they are no suspects: those of tracebacks, what they use, namesakes.

It must not rank anything, and it runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from greenloop.core.records.problem import NAMESAKE
from greenloop.core.records.spec import Region
from greenloop.localize.regions import TextOf, region_at
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import Definition
from greenloop_sandbox.report.inspections import InspectedFailure

MOST_NEAREST = 4  # functions of one traceback
MOST_USED = 3  # functions that another one uses
LONGEST_USED = 30  # lines of one
MOST_NAMESAKES = 2
LONGEST_NAME = 8  # letters of a test's name that say enough, where they are several words


def find_nearest(
    failures: Iterable[InspectedFailure], text_of: TextOf, patterns: Sequence[str] | None
) -> tuple[Region, ...]:
    """Returns the innermost functions of each failure's tracebacks that are no test's, the innermost first."""
    found: dict[Region, None] = {}
    for failure in failures:
        for link in (*failure.chain[-1:], *failure.chain[:-1][:1]):
            regions = (
                region_at(frame.place.path, frame.place.line, text_of, patterns) for frame in reversed(link.frames)
            )
            found |= dict.fromkeys([*dict.fromkeys(region for region in regions if region)][:MOST_NEAREST])
    return tuple(found)


def find_used(regions: Iterable[Region], text_of: TextOf) -> Mapping[Region, str]:
    """Returns the functions of the same class or file that these use by name, with a reason for each."""
    found: dict[Region, str] = {}
    for region in regions:
        text = text_of(region.path) or ""
        source = definitions.line_span(text, region.start, region.end)
        owner = region.qualname.rpartition(".")[0]
        used = [
            item
            for item in definitions.find_definitions(text, region.path)
            if item.kind == "function" and item.qualname != region.qualname and _is_used(item, owner, source)
            if item.end - item.start < LONGEST_USED
        ]
        used.sort(key=lambda item: source.index(item.name))
        found |= {_region(region.path, item): f"used by `{region.label}`" for item in used[:MOST_USED]}
    return found


def find_namesakes(cases: Iterable[str], paths: Iterable[str], text_of: TextOf) -> Mapping[Region, str]:
    """Returns the functions of these files that tests, by their ids, are named after."""
    tests = dict.fromkeys(case.partition("[")[0].rpartition("::")[2] for case in cases)
    words = [name.removeprefix("test_").lower() for name in tests]
    words = [each for each in words if "_" in each and len(each) >= LONGEST_NAME]
    found: dict[Region, str] = {}
    for path in paths:
        items = definitions.find_definitions(text_of(path) or "", path)
        found |= {
            _region(path, item): NAMESAKE
            for item in items
            if item.kind == "function" and any(item.name.lower().endswith(each) for each in words)
        }
    return dict([*found.items()][:MOST_NAMESAKES])


def _is_used(item: Definition, owner: str, source: str) -> bool:
    if item.owner not in ("", owner):
        return False
    receiver = rf"\b(?:self|cls|{re.escape(owner)})\." if item.owner else r"(?<![\w.])"
    return re.search(rf"{receiver}{re.escape(item.name)}\b", source) is not None


def _region(path: str, item: Definition) -> Region:
    return Region(path=path, qualname=item.qualname, start=item.start, end=item.end)
