"""Literals of the code in place of which the failing values say what was meant: a text, or a number.

An observed text that becomes the expected one by another text in place of a literal asks for that text; a number asks
for the one that makes up the difference to the expected number, or the ratio as factor or divisor.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from fractions import Fraction

from greenloop.core.python.ast_source import FUNCTIONS, Fragment, docstring_statement, parse_fragment, source_of
from greenloop.core.python.literal_values import read_literal
from greenloop.core.records.attempt import Attempt
from greenloop.drafting.candidates.changes.change import Change, ChangeKind, change_of, replace_node
from greenloop_sandbox import Failure

Pair = tuple[object, object]
MOST_VALUES = 20  # pairs of differing values that are considered
MOST_CHARACTERS = 20_000  # of two reprs, beyond which they are not compared
MOST_PLACES = 20  # of a literal in an observed text
MOST_CHANGES = 4  # of one literal, those for which most values ask
LIKENESS = 0.7  # of a misspelled text to what was meant, from 0 to 1
DIGITS = 6  # significant ones of a number that somebody wrote
NOISE = 1e-9  # relative error of computed numbers
_TOLERANCE = re.compile(r" ± [^,\])}]*")  # pytest.approx
_RAISED = re.compile(r"\n *(?:Expected r|R)egex: (.+)\n *(?:Actual message|Input): (.+)")  # pytest.raises(match=…)
_ESCAPE = re.compile(r"\\(\W)")
_PLAIN = re.compile(r"[^\\'\"{}\n]*")  # means the same in every literal, whatever its prefix and quotes


def differing_values(attempt: Attempt) -> list[Pair]:
    """The expected and the observed value, a text or a number, wherever those of the attempt's failures differ."""
    pairs = [pair for case in attempt.verdict.cases if case.failure for pair in _pairs_of(case.failure)]
    return list(dict.fromkeys(pairs))[:MOST_VALUES]


def expected_literals(text: str, attempt: Attempt) -> Iterator[Change]:
    """Yields a change for each literal of a function that the failing values ask to be another.

    A text that is only misspelled is a slip, unless the function has the other too. Any other change fits one test by
    itself, whatever is wrong, so it takes two.
    """
    pairs = differing_values(attempt)
    parsed = parse_fragment(text) if pairs else None
    if not isinstance(parsed, Fragment):
        return
    literals = [each for item in parsed.body for each in _literals_of(item)]
    known = {value for _node, value in literals}
    for node, value in literals:
        source = source_of(node, parsed.lines)
        wanted = Counter(new for pair in pairs for new in _meant(value, *pair))
        for meant, _count in wanted.most_common(MOST_CHANGES):
            new = _written(source, node, value, meant)
            kind = ChangeKind.SLIP if meant not in known and _resembles(value, meant) else ChangeKind.EXPECTED
            if new not in (None, source) and (kind is ChangeKind.SLIP or len(attempt.verdict.cases) > 1):
                yield change_of(parsed, [replace_node(node, str(new))], kind)


def _pairs_of(failure: Failure) -> Iterator[Pair]:
    raised = _RAISED.search(failure.message)
    expected, observed = raised.groups() if raised else (failure.expected, failure.observed)
    if expected is None or observed is None or len(expected) + len(observed) > MOST_CHARACTERS:
        return
    wanted, found = read_literal(_TOLERANCE.sub("", expected)), read_literal(observed)
    if wanted and found:
        yield from _leaves(_ESCAPE.sub(r"\1", str(wanted[0])) if raised else wanted[0], found[0])


def _leaves(expected: object, observed: object) -> Iterator[Pair]:
    """Yields the pairs of texts and of numbers that differ, in nested values of the same shape."""
    if isinstance(expected, dict) and isinstance(observed, dict):
        yield from _replaced([*expected], [*observed])
        for key in expected.keys() & observed.keys():
            yield from _leaves(expected[key], observed[key])
    elif isinstance(expected, (set, frozenset)) and isinstance(observed, (set, frozenset)):
        yield from _replaced([*expected], [*observed])
    elif isinstance(expected, (list, tuple)) and isinstance(observed, (list, tuple)):
        for left, right in zip(expected, observed, strict=False):
            yield from _leaves(left, right)
    elif expected != observed and (_are_texts(expected, observed) or (_is_number(expected) and _is_number(observed))):
        yield expected, observed


def _replaced(expected: Sequence[object], observed: Sequence[object]) -> Iterator[Pair]:
    """Yields the pair of the one key or item that is missing and the one that is too many."""
    missing = [each for each in expected if each not in observed]
    extra = [each for each in observed if each not in expected]
    if len(missing) == len(extra) == 1:
        yield from _leaves(missing[0], extra[0])


def _are_texts(*values: object) -> bool:
    return all(isinstance(each, str) for each in values)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e15


def _literals_of(node: ast.AST) -> Iterator[tuple[ast.expr, str | float]]:
    """Yields the texts and numbers on one line, with their values; those of f-strings with the whole f-string."""
    skipped = docstring_statement(node) if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else None
    if isinstance(node, ast.expr) and node.lineno == node.end_lineno:
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        for part in parts:
            value = part.value if isinstance(part, ast.Constant) else None
            if isinstance(value, str | int | float) and (isinstance(value, str) or _is_number(value)):
                yield node, value
    for child in ast.iter_child_nodes(node):
        if child is not skipped and not (isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)):
            yield from _literals_of(child)


def _meant(value: str | float, expected: object, observed: object) -> Iterator[str | float]:
    """Yields what stands for the literal's value if the code makes the expected value and not the observed one."""
    if isinstance(value, str):
        if value and isinstance(expected, str) and isinstance(observed, str):
            yield from _meant_text(value, expected, observed)
    elif isinstance(expected, int | float) and isinstance(observed, int | float):
        number, wanted, found = (Fraction(repr(each)) for each in (value, expected, observed))
        ratios = [number * wanted / found, number * found / wanted] if found and wanted else []
        for new in (number + wanted - found, *ratios):
            rounded = float(f"{float(new):.{DIGITS}g}")
            if abs(float(new) - rounded) <= NOISE * abs(rounded):
                yield int(rounded) if isinstance(value, int) and rounded.is_integer() else rounded


def _meant_text(value: str, expected: str, observed: str) -> Iterator[str]:
    parts = observed.split(value)
    # In all its places at once, as what `join` puts between items; then in each alone.
    around = [(parts, len(parts) - 1)] if len(parts) > 1 else []
    alone = range(1, min(len(parts), MOST_PLACES)) if len(parts) > 2 else ()
    around += [([value.join(parts[:place]), value.join(parts[place:])], 1) for place in alone]
    for pieces, count in around:
        length, rest = divmod(len(expected) - sum(map(len, pieces)), count)
        if length < 0 or rest:
            continue
        start = len(pieces[0])
        new = expected[start : start + length]
        if new.join(pieces) == expected:
            yield new


def _resembles(value: str | float, meant: str | float) -> bool:
    return _are_texts(value, meant) and SequenceMatcher(None, str(value), str(meant)).ratio() >= LIKENESS


def _written(source: str, node: ast.expr, value: str | float, meant: str | float) -> str | None:
    """The source of the literal with the other value, in its own quotes; None where it cannot be written."""
    if not isinstance(meant, str) or not isinstance(value, str):
        return f"({meant!r})" if isinstance(meant, float | int) and meant < 0 else repr(meant)
    if _PLAIN.fullmatch(meant) and _PLAIN.fullmatch(value) and source.count(value) == 1:
        return source.replace(value, meant)
    return repr(meant) if isinstance(node, ast.Constant) and source[:1] in "'\"" else None
