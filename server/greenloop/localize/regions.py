"""Regions: which functions may be changed at all, and which of the ranked ones are.

Tests, conftests and configuration are never regions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from greenloop.core.python import stubs as placeholders
from greenloop.core.python.assignments import assignments_in
from greenloop.core.records.spec import Region
from greenloop.project.hidden import is_masked
from greenloop.project.sources import is_trusted
from greenloop.project.syntax import definitions
from greenloop_sandbox import Failure

TextOf = Callable[[str], str | None]
MOST_SUSPECTS = 9  # besides the chosen regions
SMALL_REGION = 25  # lines up to which further regions are added


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
        if _line_count(region) > SMALL_REGION or any(region.overlaps(other) for other in chosen):
            break
        chosen.append(region)
    return tuple(chosen)


def others(
    ranked: Sequence[Region], chosen: Sequence[Region], text_of: TextOf, modules: Collection[str]
) -> tuple[Region, ...]:
    """Returns the suspects after the chosen regions: written functions of these modules, at most `MOST_SUSPECTS`."""
    found: list[Region] = []
    for region in ranked:
        if len(found) == MOST_SUSPECTS:
            break
        is_free = not any(region.overlaps(other) for other in (*chosen, *found))
        if is_free and region.path in modules and not is_unwritten(region, text_of):
            found.append(region)
    return tuple(found)


def relocate(region: Region, text: str, before: str | None = None) -> Region:
    """Returns the region with its lines in this text; unchanged when the text does not define it.

    `before`, the text that its lines are of, tells a property's setter from the getter of the same name.
    """
    if region.assigns:
        return find_assignment(region.path, region.qualname, text, created=region.created) or region
    listed = definitions.find_definitions(text, region.path)
    earlier = definitions.find_definitions(before, region.path) if before is not None else ()
    starts = [each.start for each in earlier if each.qualname == region.qualname]
    alike = [each for each in listed if each.qualname == region.qualname]
    if region.start in starts and len(alike) >= len(starts):
        definition: definitions.Definition | None = alike[starts.index(region.start)]
    else:
        definition = definitions.find_by_qualname(listed, region.qualname)
    return region if definition is None else replace(region, start=definition.start, end=definition.end)


def find_assignment(path: str, qualname: str, text: str, *, created: bool = False) -> Region | None:
    """The one assignment to a name of a module (`TABLE`) or of a class (`Config.limit`), if there is one."""
    node = assignments_in(text).get(qualname)
    if node is None:
        return None
    end = node.end_lineno or node.lineno
    return Region(path=path, qualname=qualname, start=node.lineno, end=end, created=created, assigns=True)


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


def may_change(path: str, patterns: Sequence[str] | None) -> bool:
    """May a candidate change this file? `patterns` is pytest's `python_files`."""
    return _in_workspace(path) and not is_trusted(path, patterns) and not is_masked(path, (".*", "venv"))


def region_at(path: str, line: int, text_of: TextOf, patterns: Sequence[str] | None) -> Region | None:
    """Returns the smallest addressable function around a line that a candidate may replace, or None.

    `patterns` is pytest's `python_files`.
    """
    if not may_change(path, patterns):
        return None
    text = text_of(path)
    definition = definitions.enclosing_definition(text, line, path) if text is not None else None
    if definition is None or definition.kind != "function":
        return None
    return Region(path=path, qualname=definition.qualname, start=definition.start, end=definition.end)
