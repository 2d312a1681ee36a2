"""Selects tests: a few telling ones among those that reach a function, and what fits on one command line of pytest.

After TENET ("Leveraging Tests Beyond Validation for Code Generation", arXiv 2509.24148): a small set that covers
different callers, direct ones first, helps a model more than the whole suite.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from greenloop.core.python.ast_source import UNPARSABLE, parse_module_strictly
from greenloop.core.records.problem import Approach
from greenloop.core.records.spec import Case, Region
from greenloop_sandbox.report.traces import ReachedFunction

MOST_TESTS = 5
LEAST_TESTS = 2  # where there are so many: a second one makes more first answers right (lab/docs/evidence.md)
MOST_SELECTORS = 400  # ids; more of them are selected by their files


def find_approaches(reach: Mapping[str, Sequence[ReachedFunction]], regions: Sequence[Region]) -> dict[str, Approach]:
    """Returns how each case reaches the regions, by the shortest path; only cases that reach one."""
    by_case = {}
    for case, hits in reach.items():
        hits_in_regions = [hit for hit in hits if any(hit.is_in(region) for region in regions)]
        if hits_in_regions:
            nearest = min(hits_in_regions, key=lambda hit: hit.depth)
            by_case[case] = Approach(depth=nearest.depth, caller=nearest.caller)
    return by_case


def select_tests(cases: Sequence[Case], approaches: Mapping[str, Approach]) -> list[Case]:
    """At most `MOST_TESTS` cases with different callers, in their own order; without approaches the first ones.

    The nearest case represents its caller; files with callers take turns, the one with the nearest caller first. Where
    all have the same caller, the next one is selected too.
    """
    nearest_by_caller: dict[tuple[str, str], tuple[int, int]] = {}
    for order, case in enumerate(cases):
        if (approach := approaches.get(case.id)) is not None:
            caller = _caller(case, approach)
            nearest_by_caller[caller] = min(
                nearest_by_caller.get(caller, (approach.depth, order)), (approach.depth, order)
            )
    if not nearest_by_caller:
        by_function: dict[str, Case] = {}
        for case in cases:
            by_function.setdefault(_name(case), case)
        return list(by_function.values())[:MOST_TESTS]
    by_file: dict[str, list[tuple[int, int]]] = {}
    for (path, _function), nearest in sorted(nearest_by_caller.items(), key=lambda item: item[1]):
        by_file.setdefault(path, []).append(nearest)
    turns = sorted((turn, *nearest) for nearest_cases in by_file.values() for turn, nearest in enumerate(nearest_cases))
    chosen = [cases[order] for _turn, _depth, order in turns[:MOST_TESTS]]
    chosen += find_nearest(cases, approaches, chosen)[: max(LEAST_TESTS - len(chosen), 0)]
    return [case for case in cases if case in chosen]


def find_nearest(cases: Sequence[Case], approaches: Mapping[str, Approach], known: Sequence[Case]) -> list[Case]:
    """The first case of each other test function that reaches the code, the nearest first."""
    by_function = {_name(case): case for case in reversed(cases) if case.id in approaches}
    names = {_name(case) for case in known}
    others = [case for name, case in reversed(by_function.items()) if name not in names]
    return sorted(others, key=lambda case: approaches[case.id].depth)


def _caller(case: Case, approach: Approach) -> tuple[str, str]:
    """Path and function of the caller; tests of one name in several classes are several callers."""
    if approach.caller is None or approach.caller.function.rpartition(".")[2] == _name(case).rpartition("::")[2]:
        return case.path, _name(case)
    return approach.caller.path, approach.caller.function


def _name(case: Case) -> str:
    """The test function of a case, without the parameters in its id."""
    return case.id.partition("[")[0]


def fit_selectors(ids: Sequence[str]) -> tuple[str, ...]:
    """The cases' own selectors, or their files' when there are too many for one command line."""
    return selectors_of_files(ids) if len(ids) > MOST_SELECTORS else tuple(dict.fromkeys(map(selector_of, ids)))


def selector_of(case: str) -> str:
    """The selector that runs a case: its id; of an example, which needs those before it, `doctest:PATH::QUALNAME`."""
    docstring, mark, _number = case.rpartition("::doctest-")
    return f"doctest:{docstring}" if mark else case


def selectors_of_files(ids: Iterable[str]) -> tuple[str, ...]:
    """The selectors of the cases' test files; an example of a docstring is selected by its docstring."""
    selectors = map(selector_of, ids)
    return tuple(dict.fromkeys(each if each.startswith("doctest:") else each.partition("::")[0] for each in selectors))


# -- names of test functions ------------------------------------------------------------------------------------------


def function_of(case: str) -> str:
    """Returns `TestC::test_b` for the id `path.py::TestC::test_b[1]`."""
    return case.partition("::")[2].partition("[")[0]


def find_tests(text: str) -> frozenset[str]:
    """Returns the names of the test functions of a file (`test_a`, `TestC::test_b`), also those under a condition."""
    text = text.removeprefix("\ufeff")
    try:
        return frozenset(_walk(parse_module_strictly(text), ""))
    except UNPARSABLE:
        return frozenset(re.findall(r"^\s*(?:async\s+)?def\s+(test\w*)", text, re.MULTILINE))


def _walk(node: ast.AST, prefix: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if child.name.startswith("test"):
                yield prefix + child.name
        elif isinstance(child, ast.ClassDef):
            yield from _walk(child, f"{prefix}{child.name}::")
        elif isinstance(child, ast.If | ast.Try | ast.With | ast.For | ast.While | ast.ExceptHandler):
            yield from _walk(child, prefix)
