"""Twins of a test file that no candidate can satisfy by cheating: the same tests with one assertion turned round.

- `equal`: the assertion doubly negated. It must still pass; a failure says that something reads the tests.
- `negated`: the assertion negated. It must fail in the call phase.
- `literal`: an expected literal or exception changed. It must fail too; this finds objects that are equal to
  everything, and an expectation that swallows whatever comes.

Only what a test that passed has certainly executed and found true is touched (`certain.py`), so an honest,
deterministic candidate is never accused. Edits are textual (`turning.py`): every line stays where it is, and so do
the names and ids of the tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from greenloop.core.records.verdict import CaseResult
from greenloop.verdict import assertion_mutants
from greenloop.verdict.executed_statements import Test, find_tests, iter_executed


class Mode(StrEnum):
    """Which twin."""

    EQUAL = "equal"
    NEGATED = "negated"
    LITERAL = "literal"


@dataclass(frozen=True, kw_only=True)
class Canaries:
    """The three texts, and which test functions (`test_a`, `TestC::test_b`) each of them turns round.

    `total` counts the file's test functions; those in none of the lists could not be mutated.
    """

    texts: Mapping[Mode, str]
    mutated: Mapping[Mode, frozenset[str]]
    total: int
    unmutable: tuple[str, ...] = field(default=())


Change = Callable[[ast.stmt, assertion_mutants.Source], list[assertion_mutants.Edit] | None]

# In the order of preference: an assertion about a value says more than one about an exception.
_CHANGES: Mapping[Mode, tuple[Change, ...]] = {
    Mode.EQUAL: (assertion_mutants.negate_twice, assertion_mutants.rewrite_raises),
    Mode.NEGATED: (assertion_mutants.negate, assertion_mutants.suppress_raises),
    Mode.LITERAL: (assertion_mutants.change_literal, assertion_mutants.change_exception),
}
# How a case ends that its run took with it.
_ENDED = frozenset({"Timeout", "Crash", "MemoryLimit", "ProcessLimit"})


def make_canaries(source: str) -> Canaries:
    """The twins of a test file. A file that cannot be parsed has none: its tests are all `unmutable`."""
    bare = source.removeprefix("\ufeff")
    mark = source[: len(source) - len(bare)]
    try:
        tree = ast.parse(bare)
    except (SyntaxError, ValueError):
        names = tuple(dict.fromkeys(re.findall(r"^\s*(?:async\s+)?def\s+(test\w*)", bare, re.MULTILINE)))
        nothing: dict[Mode, frozenset[str]] = dict.fromkeys(Mode, frozenset())
        return Canaries(texts=dict.fromkeys(Mode, source), mutated=nothing, total=len(names), unmutable=names)
    text = assertion_mutants.Source(bare, tree)
    sure, unsure = find_tests(tree)
    texts, mutated = {}, {}
    for mode in Mode:
        edits = _edits(mode, sure, text)
        edited = text.edited([edit for mine in edits.values() for edit in mine])
        whole = _parses(edited)  # a way of writing that the edits do not know would be held against the candidate
        texts[mode], mutated[mode] = (mark + edited, frozenset(edits)) if whole else (source, frozenset())
    touched = frozenset().union(*mutated.values())
    return Canaries(
        texts=texts,
        mutated=mutated,
        total=len(sure) + len(unsure),
        unmutable=(*(name for name in sure if name not in touched), *unsure),
    )


def count_covered(sources: Iterable[str]) -> tuple[int, int]:
    """How many test functions of these files have a twin, and how many there are."""
    found = [make_canaries(source) for source in sources]
    total = sum(each.total for each in found)
    return total - sum(len(each.unmutable) for each in found), total


def find_violations(mode: Mode, mutated: frozenset[str], results: Sequence[CaseResult]) -> tuple[str, ...]:
    """The cases of a twin's run that did what no honest candidate does.

    `results` are those of cases which pass in the unchanged file, in running order; cases of functions not mutated are
    left out. What ran after a case that failed in the middle may end in other ways than its own (see `settled`).
    """
    mine = [result for result in results if function_of(result.id) in mutated]
    if mode is Mode.EQUAL:
        return tuple(result.id for result in mine if not result.passed)
    first = results[:1]
    return tuple(
        result.id
        for result in mine
        if result.outcome in {"passed", "xpassed"} or (result in first and not _is_failure(result))
    )


def confirmed_cases(mode: Mode, mutated: frozenset[str], results: Sequence[CaseResult]) -> tuple[str, ...]:
    """The cases of a twin's run that showed what they had to show."""
    mine = [result for result in results if function_of(result.id) in mutated]
    return tuple(result.id for result in mine if (result.passed if mode is Mode.EQUAL else _is_failure(result)))


def function_of(case: str) -> str:
    """`TestC::test_b` of the id `path.py::TestC::test_b[1]`."""
    return case.partition("::")[2].partition("[")[0]


def _edits(
    mode: Mode, functions: Mapping[str, Test], text: assertion_mutants.Source
) -> dict[str, list[assertion_mutants.Edit]]:
    found = {}
    for name, function in functions.items():
        certain = list(iter_executed(function.body))
        every = (change(statement, text) for change in _CHANGES[mode] for statement in certain)
        first = next(filter(None, every), None)
        if first is not None:
            found[name] = first
    return found


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _is_failure(result: CaseResult) -> bool:
    """In the call phase, by an exception of its own."""
    return result.outcome == "failed" and result.failure is not None and result.failure.type not in _ENDED
