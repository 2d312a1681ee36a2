"""Calls that are not awaited, and calls with other arguments than the function takes."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Mapping

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import FUNCTIONS, Fragment, Function, find_definitions, parameters, statements_of
from greenloop.core.python.names import bound_names, module_bindings
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.changes.change import (
    ChangeKind,
    Edit,
    change_of,
    insert_after,
    insert_before,
    parse_function,
)
from greenloop.plugins.repairs.installed_names import find_function
from greenloop.plugins.repairs.slips import Slip, function_slip, shown_by

_COROUTINE = re.compile(r"<coroutine object|'coroutine'")
_UNEXPECTED = re.compile(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'")
_TOO_MANY = re.compile(r"([\w.]+)\(\) takes (?:from )?\d+ .*positional arguments? but \d+ (?:was|were) given")
_MISSING = re.compile(r"([\w.]+)\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.+)")
_RECEIVERS = ("self", "cls", "mcs")


# -- awaits -----------------------------------------------------------------------------------------------------------


@function_slip
def missing_awaits(_parsed: Fragment, function: Function, attempt: Attempt) -> Iterator[Slip]:
    """Yields a change for each call of a coroutine function, where the failures show a coroutine."""
    if not isinstance(function, ast.AsyncFunctionDef) or not _COROUTINE.search(shown_by(attempt)):
        return
    awaited = {node.value for node in ast.walk(function) if isinstance(node, ast.Await)}
    followed = {node.value for node in ast.walk(function) if isinstance(node, ast.Attribute | ast.Subscript)}
    for node in (each for item in function.body for each in ast.walk(item)):
        if isinstance(node, ast.Call) and node not in awaited:
            in_brackets = node in followed
            yield [
                insert_before(node, "(await " if in_brackets else "await "),
                *([insert_after(node, ")")] if in_brackets else []),
            ]


# -- arguments --------------------------------------------------------------------------------------------------------


def wrong_arguments(problem: Problem, region: Region, attempt: Attempt) -> Iterator[Candidate]:
    """Yields the function with each such call changed, the likeliest first; nothing where it makes none."""
    found = parse_function(with_plain_ends(region_text(problem, region)))
    failures = [case.failure for case in attempt.verdict.cases if case.failure and case.failure.type == "TypeError"]
    if found is None or not failures:
        return
    parsed, function = found
    for message in dict.fromkeys(each.message for each in failures):
        for edits in _edits(message, function, problem, region.path):
            yield Candidate(texts={region: change_of(parsed, edits, ChangeKind.SLIP).text})


def _edits(message: str, function: Function, problem: Problem, path: str) -> Iterator[list[Edit]]:
    if match := _UNEXPECTED.search(message):
        # A method may be called by another name: that of a class which inherits a constructor.
        others = _calls_with(function, match[2]) if "." in match[1] else []
        calls = _calls(function, match[1]) or others
        taken = _parameters(match[1], problem, path) if calls else {}
        for call in calls:
            yield from _without_keyword(call, match[2], taken)
    elif match := _TOO_MANY.search(message):
        calls = _calls(function, match[1])
        taken = _parameters(match[1], problem, path) if calls else {}
        for call in calls:
            yield from _with_fewer(call, taken)
    elif match := _MISSING.search(message):
        names = re.findall(r"'(\w+)'", match[2])
        for call in _calls(function, match[1]):
            yield from _with_more(call, names, function)


def _calls(function: Function, called: str) -> list[ast.Call]:
    """The calls in a function of one that a message names; of a class, if it names the constructor."""
    name = called.removesuffix(".__init__").rpartition(".")[2]
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return [node for node in nodes if name in (getattr(node.func, "id", ""), getattr(node.func, "attr", ""))]


def _calls_with(function: Function, keyword: str) -> list[ast.Call]:
    nodes = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return [node for node in nodes if any(each.arg == keyword for each in node.keywords)]


def _parameters(called: str, problem: Problem, path: str) -> dict[str, str]:
    """The parameters of the function with their kinds, if the problem's files or packages that one imports have it."""
    definitions = (pair for text in problem.files.values() for pair in find_definitions(statements_of(text)))
    node = next((node for name, node in definitions if name == called and isinstance(node, FUNCTIONS)), None)
    if node is None:
        imported = {key.partition(":")[0] for keys in module_bindings(problem.files[path]).values() for key in keys}
        node = find_function(called, sorted({each.partition(".")[0] for each in imported}), problem.sites)
    return {name: kind for name, kind in parameters(node) if name not in _RECEIVERS} if node else {}


def _without_keyword(call: ast.Call, wrong: str, taken: Mapping[str, str]) -> Iterator[list[Edit]]:
    """Another name for the argument, the most similar first; or no such argument."""
    given = {each.arg for each in call.keywords}
    free = [name for name, kind in taken.items() if kind in ("plain", "keyword") and name not in given]
    by_place = [name for name, kind in taken.items() if kind in ("positional", "plain")]
    free = [name for name in free if name not in by_place[: len(call.args)]]
    free.sort(key=lambda name: -difflib.SequenceMatcher(None, wrong, name).ratio())
    for each in (each for each in call.keywords if each.arg == wrong):
        end = each.col_offset + len(wrong.encode())
        yield from ([Edit(line=each.lineno, start=each.col_offset, end=end, new=name)] for name in free)
        yield [_removal(call, each)]


def _with_fewer(call: ast.Call, taken: Mapping[str, str]) -> Iterator[list[Edit]]:
    """The last argument by its name, where the function takes it only so; or without one of them, the last first."""
    given = {each.arg for each in call.keywords}
    names = [name for name, kind in taken.items() if kind == "keyword" and name not in given]
    yield from ([insert_before(call.args[-1], f"{name}=")] for name in names if call.args)
    yield from ([_removal(call, each)] for each in reversed(call.args))


def _with_more(call: ast.Call, names: list[str], function: Function) -> Iterator[list[Edit]]:
    """The arguments that are missing, by variables of the same name; a single one by any other."""
    known = [name for name, _kind in parameters(function) if name not in _RECEIVERS]
    known += [name for each in function.body for name in sorted(bound_names(each)) if name not in known]
    choices = [names] if {*names} <= {*known} else []
    choices += [[name] for name in known if len(names) == 1 and name not in names]
    given = _arguments(call)
    last = given[-1] if given else None
    line, end = (last.end_lineno, last.end_col_offset) if last else (call.end_lineno, (call.end_col_offset or 1) - 1)
    for values in choices:
        pairs = zip(names, values, strict=True)
        new = ", ".join(f"{name}={value}" if call.keywords else value for name, value in pairs)
        yield [Edit(line=line or call.lineno, start=end or 0, end=end or 0, new=f", {new}" if last else new)]


def _arguments(call: ast.Call) -> list[ast.expr | ast.keyword]:
    """All arguments as they are written."""
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    return sorted(given, key=lambda each: (each.lineno, each.col_offset))


def _removal(call: ast.Call, argument: ast.expr | ast.keyword) -> Edit:
    """Takes an argument away, with the comma before it, or behind it if it is the first."""
    ordered = _arguments(call)
    at = ordered.index(argument)
    before, after = ordered[at - 1] if at else None, ordered[at + 1] if at + 1 < len(ordered) else None
    if before is not None:
        line, start = before.end_lineno or before.lineno, before.end_col_offset or 0
        return Edit(line=line, start=start, end_line=argument.end_lineno, end=argument.end_col_offset or 0)
    last, end = (after.lineno, after.col_offset) if after else (argument.end_lineno, argument.end_col_offset or 0)
    return Edit(line=argument.lineno, start=argument.col_offset, end_line=last, end=end)
