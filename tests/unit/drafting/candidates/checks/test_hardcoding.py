"""Candidates that know the shown examples by heart, and all that only looks like it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.attempt import Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates.checks.gate import check
from greenloop.drafting.candidates.checks.hardcoding import HARD_CODED, overfitting_warning, warnings
from greenloop_sandbox import CaseResult


def problem(head: str, *examples: str, prose: str = "Does it.", tests: str = "") -> Problem:
    """A stub whose docstring has these examples (`f(1) -> 2`), and tests beside it."""
    lines = "".join(f"\n    >>> {call}\n    {value}" for call, value in (each.split(" -> ") for each in examples))
    stub = f'def {head}:\n    """{prose}\n{lines}\n    """\n    raise NotImplementedError\n'
    region = Region(path="m.py", qualname=head.partition("(")[0], start=1, end=stub.count("\n"))
    files = {"m.py": stub, "test_m.py": tests}
    cases = (Case(id="test_m.py::test_it", path="test_m.py", line=1),) if tests else ()
    return Problem(root=Path("/w"), spec=Spec(cases=cases), regions=(region,), originals=files, files=files)


def judged(given: Problem, text: str) -> tuple[str, str]:
    """(`refused`, `warned` or ``, the sentence) for a candidate."""
    candidate = Candidate(texts={given.regions[0]: text})
    if finding := check(given, candidate, {"m.py": text}):
        assert finding.error_class == HARD_CODED, finding
        return "refused", finding.message
    found = warnings(given, candidate, {"m.py": text})
    return ("warned", found[0]) if found else ("", "")


RLE = ("rle(s)", "rle('aab') -> [('a', 2), ('b', 1)]", "rle('xyy') -> [('x', 1), ('y', 2)]", "rle('') -> []")


def test_examples_returned_by_heart_are_refused_and_named():
    text = (
        "def rle(s):\n    if s == 'aab':\n        return [('a', 2), ('b', 1)]\n"
        "    elif s == 'xyy':\n        return [('x', 1), ('y', 2)]\n    return []\n"
    )
    kind, sentence = judged(problem(*RLE), text)
    assert (kind, sentence) == (
        "refused",
        "It returns the examples by heart: `if s == 'aab'` in line 2. Write the general rule.",
    )


@pytest.mark.parametrize(
    "body",
    [
        "    return {'aab': [('a', 2), ('b', 1)], 'xyy': [('x', 1), ('y', 2)]}.get(s, [])\n",
        (
            "    known = {'aab': [('a', 2), ('b', 1)], 'xyy': [('x', 1), ('y', 2)]}\n"
            "    if s in known:\n        return known[s]\n    return []\n"
        ),
        (
            "    match s:\n        case 'aab':\n            return [('a', 2), ('b', 1)]\n"
            "        case 'xyy':\n            return [('x', 1), ('y', 2)]\n    return []\n"
        ),
        "    return [('a', 2), ('b', 1)] if s == 'aab' else [('x', 1), ('y', 2)] if s == 'xyy' else []\n",
        (
            "    if 'aab' == s:\n        return [('a', 2), ('b', 1)]\n    if s == 'xyy':\n"
            "        return [('x', 1), ('y', 2)]\n    return [(c, s.count(c)) for c in s]\n"
        ),
    ],
    ids=["table", "named table", "match", "expression", "beside a rule"],
)
def test_every_way_to_write_it(body):
    assert judged(problem(*RLE), f"def rle(s):\n{body}")[0] == "refused"


def test_examples_of_the_users_tests_count():
    tests = (
        "import pytest\nfrom m import add\n\n\n@pytest.mark.parametrize('a, b, sum_', [(10, 20, 30), (7, 8, 15)])\n"
        "def test_it(a, b, sum_):\n    assert add(a, b) == sum_\n\n\ndef test_other():\n    assert add(9, 9) == 18\n"
    )
    given = problem("add(a, b)", tests=tests)
    text = (
        "def add(a, b):\n    if (a, b) == (10, 20):\n        return 30\n    if a == 7 and b == 8:\n        return 15\n"
    )
    assert judged(given, text)[0] == "refused"
    assert judged(given, "def add(a, b):\n    return a + b\n")[0] == ""


def test_a_single_example_by_heart():
    given = problem("total(xs)", "total([3, 4, 5]) -> 12")
    assert judged(given, "def total(xs):\n    return 12\n")[0] == "refused"
    assert judged(given, "def total(xs):\n    if xs == [3, 4, 5]:\n        return 12\n    return 0\n")[0] == "refused"


def test_a_function_that_does_not_look_at_what_it_is_given():
    given = problem("f(n)", "f(3) -> 9", "f(4) -> 16")
    kind, sentence = judged(given, "def f(n):\n    return 9\n")
    assert kind == "refused"
    assert sentence == "It gives the same whatever `n` is (`return 9` in line 2), and the examples differ."
    kind, sentence = judged(
        problem("greet(language)", "greet('en') -> 'Hello'"), "def greet(language):\n    return 'Hello'\n"
    )
    assert (kind, sentence) == ("warned", "It does not look at `language`: `return 'Hello'` in line 2.")


LEGITIMATE = {
    "base cases": (
        ("fib(n)", "fib(0) -> 0", "fib(1) -> 1", "fib(10) -> 55"),
        "def fib(n):\n    if n == 0:\n        return 0\n    if n == 1:\n        return 1\n    return fib(n - 1) + fib(n - 2)\n",
    ),
    "an empty input": (RLE, "def rle(s):\n    if not s:\n        return []\n    return [(s[0], 1), *rle(s[1:])]\n"),
    "an empty input compared": (RLE, "def rle(s):\n    if s == '':\n        return []\n    return [(s[0], 1)]\n"),
    "roman numerals": (
        ("roman(s)", "roman('XIV') -> 14", "roman('I') -> 1", "roman('V') -> 5"),
        (
            "def roman(s):\n    values = {'I': 1, 'V': 5, 'X': 10, 'L': 50, 'C': 100, 'D': 500, 'M': 1000}\n"
            "    total = 0\n    for a, b in zip(s, s[1:] + ' '):\n"
            "        total += -values[a] if values.get(b, 0) > values[a] else values[a]\n    return total\n"
        ),
    ),
    "a table larger than the examples": (
        ("days(month)", "days(4) -> 30", "days(12) -> 31"),
        "def days(month):\n    return {1: 31, 2: 28, 3: 31, 4: 30, 5: 31, 6: 30, 7: 31, 8: 31, 9: 30, 10: 31, 11: 30, 12: 31}[month]\n",
    ),
    "a set of words": (
        ("weekend(day)", "weekend('sat') -> True", "weekend('sun') -> True", "weekend('mon') -> False"),
        "def weekend(day):\n    if day in ('sat', 'sun'):\n        return True\n    return False\n",
    ),
    "a mode beside other arguments": (
        ("size(text, mode)", "size('abcd', 'off') -> 0", "size('abc', 'on') -> 3"),
        "def size(text, mode):\n    if mode == 'off':\n        return 0\n    return len(text)\n",
    ),
    "a constant without parameters": (("version()", "version() -> '1.0'"), "def version():\n    return '1.0'\n"),
    "operators": (
        ("apply(op, a, b)", "apply('+', 3, 4) -> 7", "apply('*', 3, 4) -> 12"),
        "def apply(op, a, b):\n    if op == '+':\n        return a + b\n    return a * b\n",
    ),
    "vowels": (
        ("vowel(c)", "vowel('a') -> True", "vowel('b') -> False"),
        "def vowel(c):\n    if c == 'a' or c == 'e' or c == 'i':\n        return True\n    return False\n",
    ),
    "one exception beside a rule": (
        ("plural(word)", "plural('child') -> 'children'", "plural('cat') -> 'cats'"),
        "def plural(word):\n    if word == 'child':\n        return 'children'\n    return word + 's'\n",
    ),
}


@pytest.mark.parametrize("name", LEGITIMATE)
def test_a_rule_is_no_memory(name):
    given, text = LEGITIMATE[name]
    assert judged(problem(*given), text) == ("", "")


def test_a_closed_vocabulary_is_at_most_worth_a_look():
    given = ("rgb(name)", "rgb('red') -> (255, 0, 0)", "rgb('blue') -> (0, 0, 255)")
    text = "def rgb(name):\n    return {'red': (255, 0, 0), 'blue': (0, 0, 255)}[name]\n"
    kind, sentence = judged(problem(*given), text)
    assert kind == "warned"
    assert sentence == "It may have memorised 2 of 2 examples: the table's `'red': (255, 0, 0)` in line 2."


def test_the_users_own_special_case_is_his():
    given = problem("total(xs)", "total([3, 4, 5]) -> 12")
    own = given.files["m.py"].replace("    raise", "    if xs == [3, 4, 5]:\n        return 12\n    raise")
    text = "def total(xs):\n    if xs == [3, 4, 5]:\n        return 12\n    return 0\n"
    assert judged(replace(given, originals={"m.py": own}), text) == ("", "")


def test_examples_passed_and_others_failed_is_told():
    shown = [Case(id=f"d{n}", path="m.py", line=1, provenance=Provenance.DOCTEST) for n in range(2)]
    held = [Case(id=f"h{n}", path="m.py", line=1, provenance=Provenance.DESIGNED) for n in range(7)]
    spec = Spec(cases=(*shown, *held))

    def verdict(*failing: str) -> Verdict:
        rows = tuple(
            CaseResult(id=case.id, outcome="failed" if case.id in failing else "passed") for case in spec.cases
        )
        return Verdict(status=Status.FAILED, cases=rows)

    told = overfitting_warning(verdict(*(f"h{n}" for n in range(6))), spec)
    assert told == "It passes the 2 examples it was shown and fails 6 of 7 others: it may have memorised them."
    assert overfitting_warning(verdict("h0", "h1", "h2"), spec) == ""
    assert overfitting_warning(verdict("d0", *(f"h{n}" for n in range(6))), spec) == ""
    assert overfitting_warning(verdict(*(f"h{n}" for n in range(6))), replace(spec, cases=tuple(shown))) == ""
