"""Makes canaries: copies of a test file with one assertion per test mutated, which no cheating candidate can satisfy.

- `equal`: the assertion is negated twice. It must still pass; a failure shows that something reads the tests.
- `negated`: the assertion is negated. It must fail in the call phase.
- `literal`: an expected literal or exception is changed. It must fail too; this finds objects that are equal to
  everything, and expectations that swallow any exception.

Only statements that a passed test has certainly executed are mutated (`executed_statements.py`), so an honest,
deterministic candidate is never accused. Edits are textual (`assertion_mutants.py`, `exception_mutants.py`): lines,
names and ids of the tests stay the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from greenloop.core.python.ast_source import UNPARSABLE, parse_module_strictly
from greenloop.core.records.verdict import CaseResult
from greenloop.verdict import assertion_mutants, exception_mutants
from greenloop.verdict.executed_statements import Test, find_tests, iter_executed


class Mode(StrEnum):
    """Kind of mutation."""

    EQUAL = "equal"
    NEGATED = "negated"
    LITERAL = "literal"


@dataclass(frozen=True, kw_only=True)
class Canaries:
    """The three mutated texts of a test file, and the test functions (`test_a`, `TestC::test_b`) mutated in each.

    `unmutable` names those that no text mutates.
    """

    texts: Mapping[Mode, str]
    mutated: Mapping[Mode, frozenset[str]]
    unmutable: tuple[str, ...] = field(default=())


Change = Callable[[ast.stmt, assertion_mutants.Source], list[assertion_mutants.Edit] | None]

# In order of preference: an assertion about a value is stronger evidence than one about an exception.
_CHANGES: Mapping[Mode, tuple[Change, ...]] = {
    Mode.EQUAL: (assertion_mutants.negate_twice, exception_mutants.rewrite_raises),
    Mode.NEGATED: (assertion_mutants.negate, exception_mutants.suppress_raises),
    Mode.LITERAL: (assertion_mutants.change_literal, exception_mutants.change_exception),
}
# Failure types of a case that was ended together with its run.
_ENDED = frozenset({"Timeout", "Crash", "MemoryLimit", "ProcessLimit"})


def make_canaries(source: str) -> Canaries:
    """Makes the canaries of a test file. In a file that cannot be parsed, all tests are `unmutable`."""
    unmarked = source.removeprefix("\ufeff")
    byte_order_mark = source[: len(source) - len(unmarked)]
    try:
        tree = parse_module_strictly(unmarked)
    except UNPARSABLE:
        names = tuple(dict.fromkeys(re.findall(r"^\s*(?:async\s+)?def\s+(test\w*)", unmarked, re.MULTILINE)))
        none_mutated: dict[Mode, frozenset[str]] = dict.fromkeys(Mode, frozenset())
        return Canaries(texts=dict.fromkeys(Mode, source), mutated=none_mutated, unmutable=names)
    text = assertion_mutants.Source(unmarked, tree)
    clear, unclear = find_tests(tree)
    texts, mutated = {}, {}
    for mode in Mode:
        edits = _edits(mode, clear, text)
        edited = text.apply([edit for function_edits in edits.values() for edit in function_edits])
        is_valid = _parses(edited)  # else a syntax unknown to the edits would count against the candidate
        texts[mode], mutated[mode] = (byte_order_mark + edited, frozenset(edits)) if is_valid else (source, frozenset())
    mutated_in_any = frozenset().union(*mutated.values())
    return Canaries(
        texts=texts,
        mutated=mutated,
        unmutable=(*(name for name in clear if name not in mutated_in_any), *unclear),
    )


def find_violations(mode: Mode, mutated: frozenset[str], results: Sequence[CaseResult]) -> tuple[str, ...]:
    """Returns the cases of a canary run whose result no honest candidate produces.

    `results` are in running order and belong to cases that pass in the unmutated file; cases of functions that were not
    mutated are ignored. A case that ran after one that failed midway may end differently (see `confirmed_cases`).
    """
    mutated_results = [result for result in results if function_of(result.id) in mutated]
    if mode is Mode.EQUAL:
        return tuple(result.id for result in mutated_results if not result.passed)
    first = results[:1]
    return tuple(
        result.id
        for result in mutated_results
        if result.outcome in {"passed", "xpassed"} or (result in first and not _is_failure(result))
    )


def confirmed_cases(mode: Mode, mutated: frozenset[str], results: Sequence[CaseResult]) -> tuple[str, ...]:
    """Returns the cases of a canary run that ended as an honest candidate's must."""
    mutated_results = [result for result in results if function_of(result.id) in mutated]
    return tuple(
        result.id for result in mutated_results if (result.passed if mode is Mode.EQUAL else _is_failure(result))
    )


def function_of(case: str) -> str:
    """Returns `TestC::test_b` for the id `path.py::TestC::test_b[1]`."""
    return case.partition("::")[2].partition("[")[0]


def _edits(
    mode: Mode, functions: Mapping[str, Test], text: assertion_mutants.Source
) -> dict[str, list[assertion_mutants.Edit]]:
    edits = {}
    for name, function in functions.items():
        executed = list(iter_executed(function.body))
        candidates = (change(statement, text) for change in _CHANGES[mode] for statement in executed)
        first = next(filter(None, candidates), None)
        if first is not None:
            edits[name] = first
    return edits


def _parses(text: str) -> bool:
    try:
        parse_module_strictly(text)
    except UNPARSABLE:
        return False
    return True


def _is_failure(result: CaseResult) -> bool:
    """Did it fail in the call phase by its own exception, not by the end of the run?"""
    return result.outcome == "failed" and result.failure is not None and result.failure.type not in _ENDED
