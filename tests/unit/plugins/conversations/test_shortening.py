"""Shortened code: what is left are lines of the source and marked comments, and no literal or statement is cut."""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import re
import textwrap
import tokenize
from random import Random

import pytest

from greenloop.plugins.conversations import shortening
from greenloop.plugins.conversations.shortening import (
    LONGEST_DOCSTRING,
    LONGEST_FUNCTION,
    around_lines,
    head_and_tail,
    without_long_docstrings,
    without_other_cases,
)


def long_function(depth=0):
    """A function with every kind of statement that takes several lines."""
    piece = '''
    text = """one
    # not a comment {n}
    two"""
    if (
        text
        and {n}
    ):
        values = [
            {n},
            {n} + 1,
        ]
    for key, value in {{
        "a": {n},
        "b": {n},
    }}.items():
        while key:
            key = key[1:]
    try:
        call(
            value,
            other={n},
        )
    except (
        KeyError,
        ValueError,
    ):
        raise
    with open(
        text
    ) as file:
        total = file.read() \\
            + text

    def inner(
        a,
        b,
    ):
        return a + b

    match values:
        case [
            1,
            *_,
        ]:
            pass
'''
    body = "".join(piece.format(n=number) for number in range(8))
    return textwrap.indent(f'def f(\n    x,\n    y,\n):\n    """Doc."""\n{body}\n    return text\n', "    " * depth)


SOURCES = {
    "every statement": long_function(),
    "a method": long_function(depth=1),
    "argparse": inspect.getsource(argparse.ArgumentParser._parse_known_args),
}


def cuts_of(shown):
    """The cuts in a shown text, as pairs of lines from 1."""
    line = 1
    for row in shown.split("\n"):
        note = re.fullmatch(r"\s*# … (\d+) lines", row)
        length = int(note[1]) if note else 1
        if note:
            yield line, line + length - 1
        line += length


def unbreakable(code):
    """First and last line of each token, simple statement and header that takes several lines."""
    dedented = textwrap.dedent(code)
    for token in tokenize.generate_tokens(io.StringIO(dedented).readline):
        if token.start[0] < token.end[0] and token.type not in (tokenize.NEWLINE, tokenize.NL):
            yield token.start[0], token.end[0]
    for node in ast.walk(ast.parse(dedented)):
        if isinstance(node, ast.stmt | ast.ExceptHandler) and node.end_lineno:
            first = min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", []))])
            inner = [each.lineno for each in getattr(node, "body", [])]
            inner += [each.pattern.lineno for each in getattr(node, "cases", [])]
            yield first, max(min(inner) - 1, first) if inner else node.end_lineno
        if isinstance(node, ast.match_case):
            yield node.pattern.lineno, node.body[0].lineno - 1


def assert_only_lines_of(code, shown):
    rows = set(code.split("\n"))
    notes = [row for row in shown.split("\n") if row not in rows]
    assert all(" … " in row or "more lines of docstring" in row for row in notes), notes


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("seed", range(12))
def test_a_long_function_is_cut_between_statements_only(name, seed):
    code = SOURCES[name]
    rows = code.rstrip("\n").split("\n")
    assert len(rows) > LONGEST_FUNCTION
    random = Random(seed)
    lines = [random.randint(1, len(rows)) for _ in range(random.randint(0, 3))]
    shown = around_lines(code, lines)
    assert_only_lines_of(code, shown)
    cuts = [*cuts_of(shown)]
    assert cuts
    for first, last in unbreakable(code):
        for start, end in cuts:
            inside = start <= first and last <= end
            assert inside or end < first or last < start, (first, last, start, end)
    for line in lines or (1,):
        assert rows[line - 1] in shown.split("\n")


@pytest.mark.parametrize("code", ["", "x = 1\n" * 500, "def f(:\n" * 500, "def f():\n    return 1\n"])
def test_other_code_stays(code):
    assert around_lines(code, [3]) == code
    assert without_long_docstrings(code) == code
    assert without_other_cases(code, "t.py::f[1]") == code


def documented(lines, quotes='"""', prefix="", owner="def f(x):"):
    text = "\n".join(f"    row {number}" for number in range(lines))
    return f"{owner}\n    {prefix}{quotes}First.\n\n{text}\n    {quotes}\n    return 1\n"


@pytest.mark.parametrize(
    "code",
    [
        documented(40),
        documented(40, "'''"),
        documented(40, prefix="r"),
        documented(40, owner="async def f(x):"),
        textwrap.indent(documented(40), "    "),
    ],
)
def test_a_long_docstring_becomes_its_first_line(code):
    shown = without_long_docstrings(code)
    assert_only_lines_of(code, shown)
    assert '"""First."""  # 42 more lines of docstring' in shown
    assert ast.dump(ast.parse(textwrap.dedent(shown)).body[0].args) == ast.dump(
        ast.parse(textwrap.dedent(code)).body[0].args
    )
    assert without_long_docstrings(shown) == shown


@pytest.mark.parametrize(
    "summary", ['Says """so""".', 'Ends with a quote\\"', "A backslash \\\\", "Braces {x}", "", "Ends with \\\\\\\\"]
)
def test_any_first_line_leaves_code_that_can_be_parsed(summary):
    rows = "\n".join("    row" for _ in range(LONGEST_DOCSTRING + 1))
    code = f"def f(x):\n    '''{summary}\n{rows}\n    '''\n    return 1\n"
    ast.parse(code)
    ast.parse(without_long_docstrings(code))


def test_a_short_docstring_and_other_texts_stay():
    code = documented(LONGEST_DOCSTRING - 4)
    assert without_long_docstrings(code) == code
    text = 'def f():\n    x = """\n' + "    a\n" * 50 + '    """\n    return x\n'
    assert without_long_docstrings(text) == text


def table(rows, test="def test_f(a, b):\n    assert a == b\n", end="]"):
    items = "\n".join(rows)
    return f'@pytest.mark.parametrize("a, b", [\n{items}\n{end})\n{test}'


def test_of_a_long_table_the_own_case_and_some_others_stay():
    code = table(f'    ("word{number}", {number}),' for number in range(100))
    shown = without_other_cases(code, "t.py::test_f[word77-77]")
    assert_only_lines_of(code, shown)
    assert '    ("word77", 77),' in shown
    assert shown.count("word") == shortening.KEPT_ITEMS
    assert "    # … other cases" in shown
    ast.parse(shown)


@pytest.mark.parametrize(
    "rows",
    [
        [f'    pytest.param("word{number}",\n        """a\n    b""",\n    ),' for number in range(40)],
        [f"    (1, {number}), (2, {number})," for number in range(60)],
        [f"    # comment {number}\n    (1, {number})," for number in range(60)],
        [f"    *rows_{number}," for number in range(60)],
    ],
)
def test_tables_of_any_form_can_still_be_parsed(rows):
    code = table(rows)
    shown = without_other_cases(code, "t.py::test_f[word7-7]")
    assert_only_lines_of(code, shown)
    ast.parse(shown)


def test_an_item_beside_the_brackets_stays():
    rows = "".join(f"    (1, {number}),\n" for number in range(60))
    code = f'@pytest.mark.parametrize("a, b", [(0, 0),\n{rows}    (2, 2)])\ndef test_f(a, b):\n    assert a\n'
    shown = without_other_cases(code, "t.py::test_f[9-9]")
    ast.parse(shown)
    assert shown.startswith('@pytest.mark.parametrize("a, b", [(0, 0),\n')


def test_head_and_tail():
    rows = "\n".join(str(number) for number in range(100))
    shown = head_and_tail(rows, 9).split("\n")
    assert shown == [*map(str, range(6)), "… 91 lines …", "97", "98", "99"]
    assert head_and_tail("a\nb\n", 2) == "a\nb"
