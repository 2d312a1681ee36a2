"""Turns a changed text of a file into regions: the functions around its changes, and single lines elsewhere.

It must not know where the new text comes from.
"""

from __future__ import annotations

from dataclasses import replace

from greenloop.core.python.ast_source import first_definition, plain_name
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import Hunk, diff_hunks, split_lines
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import Definition


def with_file(problem: Problem, path: str, text: str | None) -> Problem:
    """The problem that knows a file of the workspace, with the user's text (None: there is no such file)."""
    if path in problem.files:
        return problem
    return replace(problem, originals={**problem.originals, path: text}, files={**problem.files, path: text or ""})


def changed_regions(path: str, old: str, new: str) -> dict[Region, str]:
    """Compares two texts of a file; returns the new text of each function around a change, else of its lines."""
    is_python = path.endswith(".py")
    functions = (
        [each for each in definitions.find_definitions(old, path) if each.kind == "function"] if is_python else []
    )
    rows, grown = split_lines(new), 0
    inside: dict[Region, list[tuple[Hunk, int]]] = {}
    outside: list[Hunk] = []
    for hunk in diff_hunks(old, new):
        function = max(
            (each for each in functions if _is_inside(hunk, each)), key=lambda each: each.start, default=None
        )
        if function is None:
            outside.append(hunk)
        else:
            region = Region(path=path, qualname=function.qualname, start=function.start, end=function.end)
            inside.setdefault(region, []).append((hunk, grown))
        grown += len(hunk.lines) - (hunk.end - hunk.start)
    result: dict[Region, str] = {}
    for region, hunks in inside.items():
        first = region.start - 1 + hunks[0][1]
        last = region.end + hunks[-1][1] + len(hunks[-1][0].lines) - (hunks[-1][0].end - hunks[-1][0].start)
        text = "".join(rows[first:last])
        defined = first_definition(text)
        if defined is not None and defined.name == plain_name(region.qualname).rpartition(".")[2]:
            result[region] = text
        else:  # it has another name now, or cannot be parsed
            outside += [hunk for hunk, _grown in hunks]
    for hunk in outside:
        result[Region(path=path, qualname="", start=hunk.start + 1, end=hunk.end)] = "".join(hunk.lines)
    return result


def _is_inside(hunk: Hunk, function: Definition) -> bool:
    """Does it change the function alone? What is inserted directly before or after a function does not."""
    first, last = function.start - 1, function.end
    is_at_edge = hunk.start == hunk.end and hunk.start in (first, last)
    return first <= hunk.start and hunk.end <= last and not is_at_edge
