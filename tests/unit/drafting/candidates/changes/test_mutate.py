"""One-token changes: each kind is there, every change parses, nothing but one place changes."""

from __future__ import annotations

import ast
import difflib
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import CaseResult, Failure, Status, Verdict
from greenloop.drafting.candidates.changes.mutate import MOST, Kind, mutants, one_token_changes

SOURCE = """class C:
    def f(self, items):
        total = 0
        for item in items:
            if item >= 0:
                total += item
        return total
"""
PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=(), selectors=()),
    regions=(Region(path="m.py", qualname="C.f", start=2, end=7),),
    originals={"m.py": SOURCE},
    files={"m.py": SOURCE},
)
USERS = Attempt(number=0, verdict=Verdict(status=Status.FAILED))


def rows(body: str) -> list[str]:
    return [
        change.text.split("\n")[change.line - 1].strip()
        for change in one_token_changes(f"def f(a, b, c):\n    {body}\n")
    ]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("return a < b", "return a <= b"),
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
        assert len(different) == (1 if change.kind is Kind.DELETION else 2)


def test_comments_docstrings_and_layout_stay():
    source = 'def f(a):\n    """a < 1"""\n    return a < 1  # a < 1\n'
    for change in (change for change in one_token_changes(source) if change.kind is not Kind.DELETION):
        assert change.text.startswith('def f(a):\n    """a < 1"""\n')
        assert change.text.endswith("# a < 1\n")


def test_broken_code_has_no_changes():
    assert one_token_changes("def f(:") == []


def test_candidates_come_suspected_first_and_are_bounded():
    problem = replace(PROBLEM, suspicion={"m.py": {7: 1.0}})
    first = next(mutants(problem, USERS))
    assert compose(problem, first)["m.py"].split("\n")[6] != PROBLEM.files["m.py"].split("\n")[6]
    assert 10 < len(list(mutants(problem, USERS))) <= MOST


def test_in_a_long_function_statements_are_left_out_before_names_are_exchanged():
    text = "def f(a, b):\n" + "".join(f"    a[{n}] = a[{n}] + b\n" for n in range(30)) + "    return a\n"
    problem = replace(
        PROBLEM,
        regions=(Region(path="m.py", qualname="f", start=1, end=32),),
        originals={"m.py": text},
        files={"m.py": text},
    )
    texts = [next(iter(each.texts.values())) for each in mutants(problem, USERS)]
    lengths = [len(text.splitlines()) for text in texts]
    assert (len(lengths), lengths.count(31)) == (MOST, 31)
    assert "a[0] = b[0] + b" not in "".join(texts[: lengths.index(31)])
    assert any("a[0] = b[0] + b" in text for text in texts)


def test_a_statement_is_left_out_after_all_else_and_never_the_only_one_of_its_block():
    left_out = [
        change
        for change in one_token_changes("def f(a):\n    return 1\n    if a:\n        a += 1\n    return a\n")
        if change.kind is Kind.DELETION
    ]
    assert [change.text for change in left_out] == [
        "def f(a):\n    if a:\n        a += 1\n    return a\n",
        "def f(a):\n    return 1\n    if a:\n        a += 1\n",
    ]


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


def test_a_name_that_nobody_knows_is_corrected_first():
    message = "name 'totl' is not defined. Did you mean: 'total'?"
    failed = CaseResult(id="t", outcome="failed", failure=Failure(type="NameError", message=message))
    problem = replace(PROBLEM, files={"m.py": SOURCE.replace("return total", "return totl")})
    first = next(mutants(problem, Attempt(number=0, verdict=Verdict(status=Status.FAILED, cases=(failed,)))))
    assert [compose(problem, first)["m.py"]] == [SOURCE]
