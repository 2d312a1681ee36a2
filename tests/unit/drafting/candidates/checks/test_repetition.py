"""Answers that fell into a loop are named before anything runs; honest code is never accused."""

import os
import random
from pathlib import Path

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Candidate, Finding
from greenloop.drafting.candidates.answers.parse_answer import read
from greenloop.drafting.candidates.checks.gate import check
from greenloop.drafting.candidates.checks.repetition import describe_loop, describe_repetition

MODULE = "def f(x):\n    return x\n"
CHAIN = "def f(x):\n    if x == 0:\n        return 0\n" + "".join(
    f"    elif x == {number}:\n        return {number * 2}\n" for number in range(1, 30)
)
LOOPS = {
    "elif": CHAIN,
    "if": "def f(x):\n" + "".join(f"    if x == 'a{n}':\n        return {n}\n" for n in range(30)) + "    return x\n",
    "match": "def f(x):\n    match x:\n" + "".join(f"        case {n}:\n            return {n}\n" for n in range(30)),
    "statement": "def f(x):\n" + "    x = x + 1\n" * 20 + "    return x\n",
    "statements": "def f(x):\n" + "    x = x + 1\n    x = x * 2\n" * 20 + "    return x\n",
    "function": MODULE + "\n\ndef g(x):\n    y = x + 1\n    return y\n" * 7,
    "functions": MODULE + "".join(f"\n\ndef g{n}(x):\n    y = x + 1\n    return y\n" for n in range(24)),
    "nested": "def f(x):\n    for y in x:\n        if y:\n" + "            x.append(y)\n" * 20,
}
HONEST = {
    "table": "def f(x):\n    return {\n" + "".join(f"        {n}: '{n}',\n" for n in range(200)) + "    }[x]\n",
    "matrix": "def f(x):\n    a = [\n" + "        [0, 0, 0, 0],\n" * 100 + "    ]\n    return a\n",
    "text": 'def f(x):\n    return """\n' + "the same line\n" * 100 + '"""\n',
    "dispatch": "def f(x):\n    if x == 0:\n        return a0()\n"
    + "".join(f"    elif x == {n}:\n        return a{n}()\n" for n in range(1, 60)),
    "match": "def f(x):\n    match x:\n"
    + "".join(f"        case {n}:\n            y{n} = g(x)\n            return y{n}\n" for n in range(60)),
    "months": "def f(x):\n    if x == 1:\n        return 'January'\n"
    + "".join(f"    elif x == {n}:\n        return 'm{n}'\n" for n in range(2, 13)),
    "visitor": "class A:\n"
    + "".join(f"    def visit_{n}(self, node):\n        return self.keep(node)\n" for n in range(50)),
    "parser": "def f(self):\n"
    + "".join(
        f"    if (a{n} := self.rule_{n}()) and (b{n} := self.expect({n})):\n        return a{n}\n" for n in range(90)
    ),
}


def verdict(problem, text, module=MODULE):
    case = problem(module, "f")
    candidate = Candidate(texts={case.regions[0]: text})
    return check(case, candidate, compose(case, candidate))


@pytest.mark.parametrize("name", LOOPS)
def test_what_repeats_is_refused_before_the_sandbox(problem, name):
    finding = verdict(problem, LOOPS[name])
    assert finding is not None
    assert finding.error_class == "Repetition"
    assert any(character.isdigit() for character in finding.message)


@pytest.mark.parametrize("name", HONEST)
def test_honest_code_is_not_accused(name):
    assert describe_repetition(HONEST[name]) == ""


def test_what_the_user_repeats_may_stay(problem):
    changed = CHAIN.replace("return 0", "return 1")
    assert verdict(problem, changed, module=CHAIN) is None


def test_repeated_helpers_are_refused(problem):
    case = problem(MODULE, "f")
    helpers = tuple(f"def g{n}(x):\n    y = x + 1\n    return y\n" for n in range(24))
    candidate = Candidate(texts={case.regions[0]: "def f(x):\n    return g1(x)\n"}, helpers=helpers)
    assert check(case, candidate, compose(case, candidate)).error_class == "Repetition"


@pytest.mark.parametrize(
    "answer",
    [
        "```python\n" + CHAIN + "    elif x == 30:\n        retu",  # cut off: what was complete before counts
        "```python\ndef f(x):\n    return [" + "1, 2, " * 300,
        "```python\ndef f(x):\n    # and then\n" + "    # and then again\n" * 60,
        "I will think. " * 200,
        "```python\ndef f(x):\n    return " + "(" * 300 + "x" + ")" * 300 + "\n    if x == 1\n" * 60 + "```",
        "```python\n" + CHAIN + "".join(f"    elif x == {n}:\n        return {n}\n" for n in range(30, 3000)) + "```",
    ],
)
def test_an_answer_that_ends_in_a_loop_has_that_name(problem, answer):
    case = problem(MODULE, "f")
    found = read(answer, case, truncated=not answer.endswith("```"))
    if not isinstance(found, Finding):
        found = check(case, found, compose(case, found))
    assert found.error_class == "Repetition"


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return x +",
        "def f(x):\n    a = [\n" + "".join(f"        [{n}, {n}],\n" for n in range(200)),
        "# " + "-" * 500,
        "",
        "\n" * 1000,
    ],
)
def test_what_is_only_cut_off_does_not_loop(text):
    assert describe_loop(text) == ""


def test_the_standard_library_is_honest():
    files = sorted(Path(os.__file__).parent.glob("*.py")) + sorted(Path(os.__file__).parent.glob("*/*.py"))
    honest = [path for path in files if "site-packages" not in path.parts]
    sample = random.Random(7).sample(honest, 30)
    accused = {
        path.name: sentence
        for path in sample
        if (sentence := describe_repetition(path.read_text(encoding="utf-8", errors="replace")))
    }
    assert accused == {}


@pytest.mark.parametrize(
    ("text", "accused"),
    [
        ("def f(x):\n" + "".join(f"    a{n} = g(x, {n})\n" for n in range(3000)) + "    return x\n", False),
        ("def f(x):\n    return '" + "ab" * 500_000 + "'\n", False),
        ("def f(x):\n    return [" + "0, " * 100_000 + "]\n", False),
        ("x = 1\n" * 50_000, True),
        ("elif x:\n" * 120_000, True),
        ("(" * 1_000_000, False),
        ("def f(x):\n" + "".join("    " * n + "if x:\n" for n in range(1, 90)) + "    " * 90 + "pass\n", False),
        ("def f(x):\n    return " + "x + " * 200_000 + "x\n", True),
        ("a b " * 250_000, True),
    ],
)
def test_huge_texts_have_an_outcome(text, accused):
    assert bool(describe_repetition(text)) is accused


DEEP = "def f(x):\n    return " + " + ".join(["x"] * 1500) + "\n"  # the parser takes it, Python's stack does not


@pytest.mark.parametrize(
    ("module", "new", "expected"),
    [
        (MODULE, DEEP, None),
        (DEEP, MODULE, None),
        (DEEP, DEEP, "Unchanged"),
        (
            MODULE,
            "def f(x):\n" + "".join(f"    a{n} = x.{'bc'[n % 2]}({n})\n" for n in range(3000)) + "    return a1\n",
            None,
        ),
        (MODULE, "def f(x):\n    return '" + "ab" * 500_000 + "'\n", None),
        (MODULE, "def f(x):\n    return [" + "0, " * 30_000 + "]\n", None),
        (MODULE, "def f(x):\n" + "".join("    " * n + "if x:\n" for n in range(1, 90)) + "    " * 90 + "pass\n", None),
        (MODULE, "def f(x):\n    return x(" + "(" * 5000 + "\n", "SyntaxError"),
    ],
    ids=["deep", "from deep", "deep again", "3000 lines", "1 MB", "list", "nested", "open"],
)
def test_huge_answers_are_read_and_checked(problem, module, new, expected):
    case = problem(module, "f")
    found = read(f"```python\n{new}```\n", case)
    if not isinstance(found, Finding):
        found = check(case, found, compose(case, found))
    assert (found.error_class if found else None) == expected
