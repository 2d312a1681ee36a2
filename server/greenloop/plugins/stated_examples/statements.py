"""Collects the checks that docstring and comments of a function state, apart from `>>>` examples.

A check that a `>>>` example already has is not repeated. Two values for one call are a contradiction, which only the
user can settle.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from greenloop.core.documentation import MOST, Documentation, read_examples
from greenloop.plugins.function_calls import literals
from greenloop.plugins.function_calls.sections import parse_sections
from greenloop.plugins.stated_examples.assert_lines import find_asserts, find_comparisons
from greenloop.plugins.stated_examples.call_lines import (
    DocumentedFunction,
    Requirement,
    find_plain_call,
    is_call_allowed,
)
from greenloop.plugins.stated_examples.equations import find_equations

CHECKS = 100  # maximum from one docstring
_LAZY = re.compile(r"\b(?:generators?|lazily|iterator)\b|->\s*(?:\w+\s*\.\s*)*(?:Async)?(?:Iterator|Generator)\b")
_ELSEWHERE = re.compile(r"\bin[- ]?place\b|^\s*(?:prints?|writes?|outputs?|logs?)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class DocstringStatements:
    """`checks` with their lines in the file; `contradiction`: one sentence, if there is one.

    `doubts`: one sentence for each apparent example that cannot hold.
    """

    checks: tuple[tuple[int, Requirement], ...] = ()
    contradiction: str = ""
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _KnownResult:
    """The result that one line states for a call. `is_check`: a check is written for it; `>>>` examples are cases."""

    line: int
    expected: str
    raises: str
    is_check: bool

    def describe(self) -> str:
        return f"raises {self.raises}" if self.raises else f"is {self.expected}"

    def contradicts(self, other: _KnownResult) -> bool:
        if self.raises or other.raises:
            return bool(self.raises) != bool(other.raises)  # one exception may be a subclass of the other
        return not literals.are_compatible(self.expected, other.expected)


def read_statements(
    documentation: Documentation, qualname: str, exceptions: Collection[str] = ()
) -> DocstringStatements:
    """The checks in the documentation of a function; `exceptions` are the module's own exception classes."""
    name, _dot, method = qualname.partition(".")
    function = DocumentedFunction(name=name, method=method.rpartition(".")[2], exceptions=frozenset(exceptions))
    facts: dict[str, _KnownResult] = {}
    contradiction = ""
    checks: list[tuple[int, Requirement]] = []
    doubts: list[str] = []
    for line, statement, written in _find_requirements(documentation, function):
        call = literals.parse_expression(statement.call) if statement.call else None
        if isinstance(call, ast.Call) and not method and not is_call_allowed(documentation.header, call):
            doubts.append(f"Line {line} calls {statement.call}, which the parameters of {name} do not allow.")
            continue
        if statement.call:
            fact = _KnownResult(line=line, expected=statement.expected, raises=statement.raises, is_check=written)
            earlier = facts.setdefault(statement.call, fact)
            if earlier is not fact:
                if earlier.contradicts(fact) and not contradiction:
                    sentence = (
                        f"line {earlier.line} says that {statement.call} {earlier.describe()}, "
                        f"line {line} says that it {fact.describe()}."
                    )
                    if written or earlier.is_check:
                        contradiction = f"The documentation of {qualname} contradicts itself: {sentence}"
                    else:  # examples run one after the other, so both may hold
                        doubts.append(f"The examples of {qualname} give two results for one call: {sentence}")
                continue
        if written and not any(statement.body == check.body for _line, check in checks):
            checks.append((line, statement))
    return DocstringStatements(
        checks=tuple(sorted(checks[:CHECKS], key=lambda item: item[0])),
        contradiction=contradiction,
        doubts=tuple(doubts),
    )


def _find_requirements(
    documented: Documentation, subject: DocumentedFunction
) -> Iterator[tuple[int, Requirement, bool]]:
    """Yields line, statement, and whether it needs a check: `>>>` examples are cases already."""
    text = (documented.docstring or "")[:MOST]
    has_prose = not (
        documented.header.startswith("async")
        or _LAZY.search(f"{text}\n{documented.header}")
        or _ELSEWHERE.search(text)
        or parse_sections(text).yields
    )
    for index, block in enumerate(documented.blocks):
        rows = list(block.rows)
        if documented.docstring is not None and not index:
            for row, statement in _doctests(rows, subject):
                yield block.lines[row], statement, False
        finders = (find_asserts, find_comparisons, *([find_equations] if has_prose else []))
        for statement in (each for find in finders for each in find(rows, subject)):
            yield block.lines[statement.row], statement, True


def _doctests(rows: list[str], subject: DocumentedFunction) -> Iterator[tuple[int, Requirement]]:
    """Yields the `>>>` examples that are equations; blanks out all examples in `rows`."""
    examples = read_examples("\n".join(rows))
    if examples is None:
        _blank_out_prompts(rows)
        return
    for example in examples:
        height = example.source.count("\n") + example.want.count("\n")
        rows[example.lineno : example.lineno + height] = [""] * height
        call = find_plain_call(literals.parse_expression(example.source), subject)
        if call is None:
            continue
        expected_value = literals.parse_expression(example.want)
        raises = (example.exc_msg or "").partition(":")[0].strip().rpartition(".")[2]
        if raises or (expected_value is not None and literals.is_value(expected_value)):
            expected = "" if raises else ast.unparse(expected_value) if expected_value else ""
            yield (
                example.lineno,
                Requirement(
                    row=example.lineno, body="", shown="", call=ast.unparse(call), expected=expected, raises=raises
                ),
            )


def _blank_out_prompts(rows: list[str]) -> None:
    """Blanks out everything from `>>>` to the next blank row, where doctest cannot parse the examples."""
    in_example = False
    for number, row in enumerate(rows):
        in_example = (in_example and bool(row.strip())) or row.lstrip().startswith(">>>")
        rows[number] = "" if in_example else row
