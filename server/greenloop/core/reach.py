"""Finds the related tests that a change of some functions can affect, as far as traced runs show it; pure functions.

A test that a trace cannot speak for counts as affected: one that starts processes, shares work with others (imports,
fixtures of a wider scope, caches), or was never traced. docs/how-it-works.md says what remains.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from greenloop.core.python.ast_source import docstring_statement, dump_words, find_definitions, parse_module, plain_name
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop_sandbox import Execution
from greenloop_sandbox.report.cases import records_of_kind
from greenloop_sandbox.report.traces import ReachedFunction, opened_files, reached_functions

ALL_CASES = ""  # the scope of what is shared by all cases; other scopes are paths of test files
FAR = 1_000  # calls: farther than any that was traced

Place = tuple[str, int]  # path and first line of a function


@dataclass(kw_only=True)
class Reach:
    """Findings of traced runs of the user's own code; `add` takes in one more run.

    `functions` maps each traced case to the functions of its setup and call, nearest first; `also` to those around
    them. `shared` has, by scope, what was done once for several cases. `blind` are cases, and scopes, whose trace may
    lack something. `cached` are functions whose results are kept; `callers` maps a function to those that called it.
    `opened` has the files that each case read, and the modules that asked for them.
    """

    functions: dict[str, Sequence[ReachedFunction]] = field(default_factory=dict)
    also: dict[str, set[Place]] = field(default_factory=dict)
    shared: dict[str, set[Place]] = field(default_factory=dict)
    blind: set[str] = field(default_factory=set)
    cached: set[Place] = field(default_factory=set)
    callers: dict[Place, set[Place]] = field(default_factory=dict)
    opened: dict[str, set[tuple[str, str]]] = field(default_factory=dict)

    def add(self, execution: Execution) -> None:
        self.functions.update(reached_functions(execution))
        for case, files in opened_files(execution).items():
            self.opened.setdefault(case, set()).update(files)
        for record in records_of_kind(execution, "trace"):
            case = str(record["id"])
            self.also[case] = _places(record.get("also"))
            (self.blind.add if record.get("blind") else self.blind.discard)(case)
            self._add_calls(record.get("calls_of"))
        for record in records_of_kind(execution, "shared"):
            scope = str(record["id"])
            self.shared.setdefault(scope, set()).update(_places(record.get("also")))
            self.cached |= _places(record.get("cached"))
            if record.get("blind"):
                self.blind.add(scope)
            self._add_calls(record.get("calls_of"))

    def _add_calls(self, calls: object) -> None:
        for path, line, caller_path, caller_line in calls if isinstance(calls, list | tuple) else ():
            self.callers.setdefault((path, line), set()).add((caller_path, caller_line))

    def is_blind(self, case: str) -> bool:
        """May the case run code that no trace shows?"""
        return case not in self.functions or bool({case, ALL_CASES, _file(case)} & self.blind)


def order_by_reach(
    cases: Sequence[str], reach: Reach, regions: Sequence[Region], failing: Iterable[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns all cases, nearest to the regions first, and those of them that a change of the bodies cannot affect.

    `failing` are the target's cases: unless one of them is seen to reach each region, traces are not relied on.
    """
    distances = {case: _distance(case, reach, regions) for case in cases}
    keys = {
        case: (FAR if distances[case] is None else distances[case], _strangeness(case, regions), number)
        for number, case in enumerate(cases)
    }
    ordered = tuple(sorted(cases, key=lambda case: keys[case]))
    if not _is_reliable(reach, regions, failing):
        return ordered, ()
    return ordered, tuple(case for case in ordered if distances[case] is None and not reach.is_blind(case))


def _is_reliable(reach: Reach, regions: Sequence[Region], failing: Iterable[str]) -> bool:
    """Do the traces show every use of the regions, except by blind cases?"""
    cases = [*failing]
    for region in regions:
        if region.created or any(_is_in(place, region) for place in reach.shared.get(ALL_CASES, ())):
            return False
        seen = any(
            _is_in((hit.path, hit.firstlineno), region) for case in cases for hit in reach.functions.get(case, ())
        )
        if not seen and cases:
            return False
        if any(_is_in(place, region) for place in reach.cached) or _ancestors(region, reach) & reach.cached:
            return False
    return bool(regions)


def _distance(case: str, reach: Reach, regions: Sequence[Region]) -> int | None:
    """Calls between the case and the nearest region; None: it reaches none."""
    hits = reach.functions.get(case, ())
    near = [hit.depth for hit in hits if hit.name != "<module>" and _in_any((hit.path, hit.firstlineno), regions)]
    if near:
        return min(near)
    # What calls a region at other times may have kept the result.
    direct = set().union(*(_callers(region, reach) for region in regions), ())
    file = _file(case)
    farther = [hit.depth + 1 for hit in hits if hit.path != file and (hit.path, hit.firstlineno) in direct]
    around = reach.also.get(case, set()) | reach.shared.get(file, set())
    if any(_in_any(place, regions) for place in around):
        farther.append(FAR - 1)
    return min(farther, default=None)


def _callers(region: Region, reach: Reach) -> set[Place]:
    return {
        caller
        for place, callers in reach.callers.items()
        if _is_in(place, region)
        for caller in callers
        if not _is_in(caller, region)
    }


def _ancestors(region: Region, reach: Reach) -> set[Place]:
    """Every function that was seen to lead to the region, through any number of calls."""
    found: set[Place] = set()
    pending = [*_callers(region, reach)]
    while pending:
        place = pending.pop()
        if place not in found:
            found.add(place)
            pending += reach.callers.get(place, ())
    return found


def _strangeness(case: str, regions: Sequence[Region]) -> int:
    """0 for a test file that is named like a region's file, 1 for one in the same folder, 2 for any other."""
    file = PurePosixPath(_file(case))
    paths = [PurePosixPath(region.path) for region in regions]
    if any(path.stem in file.stem for path in paths):
        return 0
    folders = {folder.name for path in paths for folder in path.parents if folder.name}
    return 1 if folders & {folder.name for folder in file.parents} else 2


def _file(case: str) -> str:
    return case.partition("::")[0]


def _in_any(place: Place, regions: Sequence[Region]) -> bool:
    return any(_is_in(place, region) for region in regions)


def _is_in(place: Place, region: Region) -> bool:
    return place[0] == region.path and region.start <= place[1] <= region.end


def _places(value: object) -> set[Place]:
    return {(str(path), int(line)) for path, line in value} if isinstance(value, list | tuple) else set()


# -- what a candidate changes --------------------------------------------------------------------------------------


def changes_only_bodies(before: Mapping[str, str], after: Mapping[str, str], regions: Sequence[Region]) -> bool:
    """Do these texts differ in nothing but the statements of the regions' functions, docstrings apart?

    Whatever else changes (imports, helpers, decorators, defaults, annotations, whether it is a coroutine or generator)
    may be noticed by a test that never calls the functions.
    """
    names = {(region.path, plain_name(region.qualname)) for region in regions}
    return all(
        _outline(before.get(path, ""), path, names) == _outline(text, path, names) != ""
        for path, text in after.items()
        if before.get(path) != text
    )


def _outline(text: str, path: str, names: set[tuple[str, str]]) -> str:
    """The code without the bodies of these functions; "" where it does not parse."""
    module = parse_module.__wrapped__(with_plain_ends(text))  # a tree of its own, because it is changed here
    if not isinstance(module, ast.Module):
        return ""
    functions = [
        node
        for name, node in find_definitions(module.body)
        if (path, name) in names and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    for node in functions:
        mark = ast.Expr(value=ast.Constant(value=_trait(node)))
        docstring = docstring_statement(node)
        node.body = [mark] if docstring is None else [docstring, mark]
    return " ".join(dump_words(module.body, docstrings=True)) or "empty"


def _trait(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Returns the body's effects outside of it: `yield` for a generator, and the names of the globals that it sets."""
    traits: set[str] = set()
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            traits.add("yield")
        elif isinstance(node, ast.Global):
            traits.update(node.names)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            pending += ast.iter_child_nodes(node)
    return " ".join(sorted(traits))
