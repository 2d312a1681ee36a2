"""One-token changes: each kind is there, every change parses, nothing but one place changes."""

from __future__ import annotations

import ast
import difflib
import textwrap

import pytest

from greenloop.drafting.candidates.changes.change import ChangeKind
from greenloop.drafting.candidates.changes.one_token import one_token_changes

SOURCE = """class C:
    def f(self, items):
        total = 0
        for item in items:
            if item >= 0:
                total += item
        return total
"""


def rows(body: str) -> list[str]:
    return [
        change.text.split("\n")[change.line - 1].strip()
        for change in one_token_changes(f"def f(a, b, c):\n    {body}\n")
    ]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("return a < b", "return a <= b"),
        ("return a.x - b.y", "return a.y - b.y"),
        ("a.x = b.y()[a.z]", "a.z = b.y()[a.z]"),
        ("a.push(b.pop())", "a.pop(b.pop())"),
        ("return a + 1", "return a"),
        ("return a(-1)", "return a(0)"),
        ("return (a) == (b)", "return (a) != (b)"),
        ("return a not in b", "return a in b"),
        ("return a is  not b", "return a is b"),
        ("return range(a, b)", "return range(a, b + 1)"),
        ("return a[b:]", "return a[b + 1:]"),
        ("return a[0]", "return a[1]"),
        ("return a[0]", "return a[-1]"),
        ("return len(a)", "return len(a) - 1"),
        ("return a - 1", "return a"),
        ("return a // b", "return a / b"),
        ("a += b", "a -= b"),
        ("a += b", "a = b"),
        ("a.x = b", "a.x += b"),
        ("a[b] = (c)", "a[b] += (c)"),
        ("a = b; a = c", "a = b; a += c"),
        ("return a and b", "return a or b"),
        ("return not a", "return a"),
        ("return min(a)", "return max(a)"),
        ("a.append(b)", "a.extend(b)"),
        ("return g(a, b)", "return g(b, a)"),
        ("return 'é' + a - b", "return 'é' + a + b"),
        ("return a.x", "return b.x"),
        ("return True", "return False"),
        ("if a: return b", "if not (a): return b"),
    ],
)
def test_each_kind_of_change_is_made(body, wanted):
    assert wanted in rows(body)


def test_every_change_parses_and_changes_one_line():
    source = ast.unparse(
        ast.parse("def f(a, b):\n    for i in range(1, b):\n        a[i] += g(a, b) % 2\n    return a[-1:] or not b")
    )
    found = one_token_changes(source)
    assert len(found) > 30
    for change in found:
        ast.parse(change.text)
        different = [row for row in difflib.ndiff(source.split("\n"), change.text.split("\n")) if row[0] in "+-"]
        assert len(different) == (1 if change.kind is ChangeKind.DELETION else 2)


def test_comments_docstrings_and_layout_stay():
    source = 'def f(a):\n    """a < 1"""\n    return a < 1  # a < 1\n'
    for change in (change for change in one_token_changes(source) if change.kind is not ChangeKind.DELETION):
        assert change.text.startswith('def f(a):\n    """a < 1"""\n')
        assert change.text.endswith("# a < 1\n")


def test_broken_code_has_no_changes():
    assert one_token_changes("def f(:") == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("LIMIT = 10\n", "LIMIT = 11\n"),
        ('    kinds = {"a": True}\n', '    kinds = {"a": False}\n'),
        ("def f(a, n=3):\n    return a\n", "def f(a, n=4):\n    return a\n"),
        ("def f(a, *, quiet=False):\n    return a\n", "def f(a, *, quiet=True):\n    return a\n"),
        ('WORD = re.compile(r"^[a-z]+$")\n', 'WORD = re.compile(r"^[a-z]*$")\n'),
        ('WORD = re.compile(r"^[a-z]+$")\n', 'WORD = re.compile(r"[a-z]+$")\n'),
        ('WORD = re.compile(r"^[a-z]+$")\n', 'WORD = re.compile(r"^[a-zA-Z]+$")\n'),
        ('WORD = re.compile(r"a.b", 0)\n', 'WORD = re.compile(r"a\\.b", 0)\n'),
        ('WORD = re.compile(rb"\\d")\n', 'WORD = re.compile(rb"\\w")\n'),
        ('def f(a):\n    return re.match("é+", a)\n', 'def f(a):\n    return re.match("é+$", a)\n'),
    ],
)
def test_assignments_defaults_and_patterns_change_too(text, wanted):
    changes = [change.text for change in one_token_changes(text)]
    assert wanted in changes
    for change in changes:
        ast.parse(textwrap.dedent(change))


def test_a_statement_is_left_out_after_all_else_and_never_the_only_one_of_its_block():
    left_out = [
        change
        for change in one_token_changes("def f(a):\n    return 1\n    if a:\n        a += 1\n    return a\n")
        if change.kind is ChangeKind.DELETION
    ]
    assert [change.text for change in left_out] == [
        "def f(a):\n    if a:\n        a += 1\n    return a\n",
        "def f(a):\n    return 1\n    if a:\n        a += 1\n",
    ]
