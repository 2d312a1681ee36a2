"""Finds where new code has the inputs or the answers of tests as literals, as only code that memorises them needs.

Pure functions on syntax trees. What the old code, or a docstring, has as well does not count, nor does an entry of a
table that has as many others: such a function is a table by nature.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeGuard

from greenloop.core.python.ast_source import (
    UNPARSABLE,
    docstring_statement,
    dump_tree,
    find_definitions,
    parse_module,
    parse_module_strictly,
    read_literal,
)
from greenloop.plugins.other_inputs.input_forms import (
    LARGE,
    LEAST_TEXT,
    digests_of,
    forms_of,
    is_small,
    key_of,
    marks_of,
    rare_lengths_of,
    texts_of,
    wholes_of,
)
from greenloop.plugins.other_inputs.varied_inputs import Instance

LEAST_LETTERS = 8  # of an input without its signs
LEAST_SLICE = 3  # items of an input that are compared
LEAST_ECHO = 2  # items of an input that stand in its answer, too
LEAST_POINTS = 3  # of a table that a curve goes through
_EQUAL = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)
_Part = tuple[ast.AST, tuple[str, ...], bool]


@dataclass(frozen=True, kw_only=True)
class AnsweredCall:
    """An input of a test, and the answer to it (`None` in a tuple of its own; empty: it raises, or is not data)."""

    arguments: tuple[Any, ...]
    answer: tuple[Any, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A new literal that is the input, or a mark of it such as its length (`is_mark`), or the answer, of a test.

    `tested` is the test's number; `line` counts in the new text, 0 stands for a data file. `is_hidden`: it is the input
    as text, a checksum or an exact length, which no rule is written with. `part`: it is only a part of the input or of
    the answer, this one.
    """

    tested: int
    line: int
    is_answer: bool = False
    is_mark: bool = False
    is_hidden: bool = False
    part: str = ""


@dataclass(frozen=True, kw_only=True)
class _Literal:
    """A literal of the new code: its value by `key`, and the groups that it stands in, the innermost last.

    A group are the keys of one table, or what one expression is compared with. `is_compared`: it decides something, as
    a member of a group does.
    """

    key: str
    line: int
    groups: tuple[str, ...]
    is_compared: bool
    value: Any


def find_mentions(old: str, new: str, tested: Sequence[AnsweredCall], data: Sequence[str] = ()) -> list[Mention]:
    """Returns what the new text and new files of data say of the tests' inputs and answers, unlike the old."""
    old_module, new_module = parse_module(old), parse_module(new)
    if isinstance(old_module, SyntaxError) or isinstance(new_module, SyntaxError):
        return []
    kept = {dump_tree(node) for node in old_module.body}
    added = [node for node in new_module.body if dump_tree(node) not in kept]
    added += [statement for text in data for statement in _as_code(text)]
    old_keys = {each.key for each in _literals(old_module.body)}
    prose = _prose(new_module)
    every = list(_literals(added))
    literals = [each for each in every if each.key not in old_keys and not _is_in_prose(each.value, prose)]
    natural = _natural_groups(every, tested)
    literals = [each for each in literals if not natural.intersection(each.groups)]
    constants = (node.value for node in ast.walk(old_module) if isinstance(node, ast.Constant))
    numbers = frozenset(each for each in constants if isinstance(each, int | float) and abs(each) < LARGE)
    return [
        mention
        for number, each in enumerate(tested)
        for mention in _mentions_of(number, each, literals, every, numbers)
    ]


def find_points(old: str, new: str, tested: Sequence[AnsweredCall]) -> tuple[int, dict[float, float]]:
    """Returns the line of a new table of numbers that has the tests' answers and no others, and what it holds."""
    module = parse_module(new)
    body = [] if isinstance(module, SyntaxError) else module.body
    known = written_keys(old)
    answers = {key_of(each.arguments[0]): each.answer for each in tested if len(each.arguments) == 1}
    for literal in _literals(body):
        table = literal.value
        if isinstance(table, list | tuple) and all(isinstance(each, list | tuple) and len(each) == 2 for each in table):
            table = dict(table)
        if isinstance(table, dict) and literal.key not in known and all(map(is_number, (*table, *table.values()))):
            large = [key for key in table if not is_small(key)]
            if len(large) >= LEAST_POINTS and all(answers.get(key_of(key)) == (table[key],) for key in large):
                return literal.line, table
    return 0, {}


def is_number(value: object) -> TypeGuard[float]:
    """Is it an int or a float, and no bool?"""
    return type(value) in (int, float)


def written_keys(text: str) -> frozenset[str]:
    """Returns the keys of all literals of a text."""
    module = parse_module(text)
    return frozenset(each.key for each in _literals([] if isinstance(module, SyntaxError) else module.body))


def _mentions_of(
    number: int,
    tested: AnsweredCall,
    literals: Sequence[_Literal],
    every: Sequence[_Literal],
    numbers: frozenset[float],
) -> Iterator[Mention]:
    arguments = tested.arguments
    if _is_degenerate(arguments, numbers):  # a rule may name the input, though not as a text or by a checksum
        least = LEAST_LETTERS if all(map(is_small, arguments)) else LEAST_TEXT
        texts, digests = frozenset(each for each in texts_of(arguments) if len(each) >= least), digests_of(arguments)
        for each in literals:
            text = each.value if isinstance(each.value, str) else ""
            if any(form in text for form in texts) or (each.is_compared and each.key in digests):
                yield Mention(tested=number, line=each.line, is_hidden=True)
    else:
        wholes, texts, marks = forms_of(arguments), texts_of(arguments), marks_of(arguments)
        digests = digests_of(arguments) | rare_lengths_of(arguments)
        words = [each for each in wholes_of(arguments) if isinstance(each, str) and len(each) >= LEAST_TEXT]
        words += [letters for each in words if len(letters := "".join(filter(str.isalnum, each))) >= LEAST_LETTERS]
        days = [str(each) for each in arguments if isinstance(each, date)]
        for each in literals:
            is_scalar = not isinstance(each.value, list | tuple | dict | set | frozenset)
            text = each.value if isinstance(each.value, str) else ""
            if any(form in text for form in texts) or (each.is_compared and each.key in digests):
                yield Mention(tested=number, line=each.line, is_hidden=True)
            elif (each.key in wholes and (each.is_compared or not is_scalar)) or any(word in text for word in words):
                yield Mention(tested=number, line=each.line)
            elif (each.is_compared and each.key in marks) or any(day in text for day in days):
                yield Mention(tested=number, line=each.line, is_mark=True)
            elif part := _part_of(tested, each):
                yield Mention(tested=number, line=each.line, part=part)
        if line := _line_of_parts(arguments, literals, every):
            yield Mention(tested=number, line=line)
    if tested.answer and not is_small(tested.answer[0]) and not isinstance(tested.answer[0], Instance):
        wanted = {key_of(tested.answer[0])}
        if isinstance(tested.answer[0], date):
            wanted.add(key_of(str(tested.answer[0])))
        packed = tested.answer[0].encode() if isinstance(tested.answer[0], str) else b""
        for each in literals:
            is_packed = isinstance(each.value, bytes) and len(packed) > 1 and packed in each.value
            if each.key in wanted or is_packed:
                yield Mention(tested=number, line=each.line, is_answer=True, is_hidden=is_packed)


def _line_of_parts(arguments: Sequence[Any], literals: Sequence[_Literal], every: Sequence[_Literal]) -> int:
    """The line where the arguments are compared one by one, all of them but small ones; 0 where they are not."""
    if len(arguments) < 2:
        return 0
    new = {each.key: each.line for each in literals if each.is_compared}
    compared = {each.key for each in every if each.is_compared}
    large = [key_of(each) for each in arguments if not is_small(each)]
    lines = [new[key] for key in large if key in new]
    return lines[0] if lines and all(key in compared for key in large) else 0


def _part_of(tested: AnsweredCall, literal: _Literal) -> str:
    """The literal's key if it is a compared slice of the input, or a list in the answer made of it; else empty."""
    value = literal.value
    if not isinstance(value, list | tuple) or not all(isinstance(each, str | int | float) for each in value):
        return ""
    letters = _letters(repr(tested.arguments))
    is_compared = literal.is_compared and len(value) >= LEAST_SLICE
    is_name = set(filter(str.isalpha, _letters(repr(tested.answer)))) - {*letters}  # the slice may be a format's mark
    if is_compared and not is_name and any(_has_slice(each, value, deep=False) for each in tested.arguments):
        return literal.key
    is_echo = len(value) >= LEAST_ECHO and all(_letters(str(each)) in letters for each in value)
    return literal.key if is_echo and not is_small(value) and _has_slice(tested.answer, value, deep=True) else ""


def _has_slice(value: Any, items: Sequence[Any], *, deep: bool) -> bool:
    """Is it a list in which these items follow one another, or, `deep`, has such a list?"""
    if not isinstance(value, list | tuple):
        return False
    size, wanted = len(items), key_of(items)
    is_here = any(key_of(value[start : start + size]) == wanted for start in range(len(value) - size + 1))
    return is_here or (deep and any(_has_slice(each, items, deep=True) for each in value))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _is_degenerate(arguments: Sequence[Any], numbers: frozenset[float]) -> bool:
    """Is it an input that a general rule may have to name: empty, 0, 1, None, or next to a number of the old code?"""
    if all(is_small(each) or isinstance(each, Instance) for each in arguments):
        return True
    if len(arguments) == 1 and isinstance(arguments[0], int | float):
        step = 1 if float(arguments[0]).is_integer() else 0  # a boundary of whole numbers moves by one
        return any(abs(arguments[0] - number) <= step for number in numbers)
    return False


# -- literals of code ---------------------------------------------------------------------------------------------


def _literals(body: Sequence[ast.stmt]) -> Iterator[_Literal]:
    docstrings = {
        id(statement.value)
        for node in body
        for inner in ast.walk(node)
        if (statement := docstring_statement(inner)) is not None
    }
    waiting: list[_Part] = [(node, (), False) for node in body]
    while waiting:
        node, groups, is_compared = waiting.pop()
        if id(node) in docstrings:
            continue
        value = _value(node)
        if value is not None and isinstance(node, ast.expr | ast.pattern):
            yield _Literal(
                key=key_of(value[0]), line=node.lineno, groups=groups, is_compared=is_compared, value=value[0]
            )
        if value is None or not isinstance(node, ast.UnaryOp):  # 5 is no part of -5
            waiting += _parts(node, groups, is_compared=is_compared)


def _parts(node: ast.AST, groups: tuple[str, ...], *, is_compared: bool) -> Iterator[_Part]:
    """The parts of a node, each with its groups, and whether it decides something."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        decides = any(isinstance(each, _EQUAL) for each in node.ops)
        variable = next((side for side in sides if _value(side) is None), node)
        members = [each for side, sign in zip(sides[1:], node.ops, strict=True) for each in _members(side, sign)]
        inner = (*groups, f"== {ast.dump(variable)}")
        yield from ((side, inner, decides) for side in (sides[0], *members))
    elif isinstance(node, ast.Match):
        yield node.subject, groups, False
        for case in node.cases:
            yield case.pattern, (*groups, f"== {ast.dump(node.subject)}"), True
            yield from ((each, groups, False) for each in [*filter(None, [case.guard]), *case.body])
    elif isinstance(node, ast.Dict):
        yield from ((key, (*groups, f"table {id(node)}"), True) for key in node.keys if key is not None)
        yield from ((value, groups, False) for value in node.values)
    elif isinstance(node, ast.Set | ast.List | ast.Tuple):
        yield from ((each, (*groups, f"table {id(node)}"), True) for each in node.elts)
    else:
        passes = is_compared and isinstance(node, ast.UnaryOp | ast.pattern)
        yield from ((child, groups, passes) for child in ast.iter_child_nodes(node))


def _members(side: ast.expr, sign: ast.cmpop) -> Sequence[ast.expr]:
    """Returns the values that a side of a comparison stands for: each member of `(3, 5)` in `n in (3, 5)`."""
    is_member = isinstance(sign, ast.In | ast.NotIn) and isinstance(side, ast.Set | ast.List | ast.Tuple)
    return side.elts if is_member and isinstance(side, ast.Set | ast.List | ast.Tuple) else [side]


def _value(node: ast.AST) -> tuple[object] | None:
    if isinstance(node, ast.pattern):
        try:
            return read_literal(ast.unparse(node))
        except ValueError:
            return None
    return read_literal(node) if isinstance(node, ast.expr) and not isinstance(node, ast.Name) else None


def _as_code(text: str) -> list[ast.stmt]:
    """A file of data as code: its JSON, else its lines; nothing where it is nested too deep."""
    try:
        code = repr(json.loads(text))
    except (ValueError, RecursionError):
        code = repr(text.splitlines())
    try:
        module = parse_module_strictly(code)
    except UNPARSABLE:
        return []
    for node in ast.walk(module):
        if isinstance(node, ast.expr):
            node.lineno = 0
    return module.body


def _prose(module: ast.Module) -> str:
    nodes = [module, *(node for _name, node in find_definitions(module.body))]
    texts = [
        str(each.value.value)
        for node in nodes
        if (each := docstring_statement(node)) is not None and isinstance(each.value, ast.Constant)
    ]
    return re.sub(r"(?m)^\s*>>>.*(?:\n\s*\S.*)*", "", "\n".join(texts))


def _is_in_prose(value: Any, prose: str) -> bool:
    text = str(value)
    return bool(text) and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", prose) is not None


def _natural_groups(literals: Sequence[_Literal], tested: Sequence[AnsweredCall]) -> frozenset[str]:
    """The groups that have at least as many other members of the same kind as inputs of tests.

    A table is a table by nature where most of it is not tested.
    """
    forms = frozenset().union(*(forms_of(each.arguments) | marks_of(each.arguments) for each in tested))
    answers = {key_of(each.answer[0]) for each in tested if each.answer}
    groups: dict[str, list[_Literal]] = {}
    for each in literals:
        if each.groups and each.is_compared:
            groups.setdefault(each.groups[-1], []).append(each)
    natural = set()
    for group, members in groups.items():
        ours = {each.key: _kind(each.value) for each in members if each.key in forms}
        others = {
            each.key
            for each in members
            if each.key not in forms | answers
            and _kind(each.value) in ours.values()
            and not is_small(each.value)
            and not (isinstance(each.value, list | tuple | set) and any(key_of(item) in ours for item in each.value))
        }
        if ours and len(others) >= len(ours):
            natural.add(group)
    return frozenset(natural)


def _kind(value: Any) -> str:
    names = {"list": "tuple", "frozenset": "set", "float": "int"}
    return names.get(type(value).__name__, type(value).__name__)
