"""Calls that are not what they look like."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.calls import calls

BUILT_IN = ("", "'a'", "<built-in method lower of str object at 0x7>")
METHOD = ("unsupported operand type(s) for +: 'builtin_function_or_method' and 'int'", None, None)
NOT_CALLABLE = ("'int' object is not callable", None, None)
COROUTINE = ("", "1", "<coroutine object g at 0x7>")
OTHER = ("", "1", "2")


@pytest.mark.parametrize(
    ("header", "body", "failure", "wanted"),
    [
        ("def f(xs)", "return xs.sort()", OTHER, ["return sorted(xs)"]),
        ("def f(xs)", "ys = xs.sort(key=len, reverse=True)", OTHER, ["ys = sorted(xs, key=len, reverse=True)"]),
        ("def f(xs)", "xs = xs.sort()", OTHER, ["xs.sort()"]),
        ("def f(xs)", "xs = xs.append(1)", OTHER, ["xs.append(1)"]),
        ("def f(self)", "self.x = self.x.append(1)", OTHER, ["self.x.append(1)"]),
        ("def f(xs)", "return xs.reverse()", OTHER, ["return xs[::-1]"]),
        ("def f(xs)", "return xs.append(1)", OTHER, ["xs.append(1)\n        return xs"]),
        ("def f(xs)", "ys = xs.append(1)", OTHER, []),
        ("def f(s)", "s.strip()", OTHER, ["s = s.strip()"]),
        ("def f(s)", "s.strip().lower()", OTHER, []),
        ("def f(xs)", "sorted(xs, key=len)", OTHER, ["xs = sorted(xs, key=len)"]),
        ("def f(xs)", "reversed(xs)", OTHER, ["xs = list(reversed(xs))"]),
        ("def f(self)", "self.x == 5", OTHER, ["self.x = 5"]),
        ("def f(self)", "1 == 5", OTHER, []),
        ("def f(xs)", "return list(zip(xs))", OTHER, ["return list(zip(*xs))"]),
        ("def f(xs)", "return [*zip(*xs), *zip(xs, xs)]", OTHER, []),
        ("def f(s)", "return s.lower", BUILT_IN, ["return s.lower()", "return s().lower"]),
        ("def f(s)", "return s.lower", OTHER, []),
        (
            "def f(s)",
            "return len(s.x.count + 1)",
            METHOD,
            ["return len(s.x.count() + 1)", "return len(s.x().count + 1)", "return len(s().x.count + 1)"],
        ),
        ("def f(s)", "return s.size() + g(1)", NOT_CALLABLE, ["return s.size + g(1)"]),
        ("async def f(s)", "return g(s)", COROUTINE, ["return await g(s)"]),
        ("async def f(s)", "return g(s).x + await h()", COROUTINE, ["return (await g(s)).x + await h()"]),
        ("def f(s)", "return g(s)", COROUTINE, []),
    ],
)
def test_what_was_meant(failing, header, body, failure, wanted):
    text = f"    {header}:\n        {body}\n"
    changes = list(calls(text, failing(failure)))
    assert [change.text.partition("\n")[2].strip() for change in changes] == wanted
    assert {change.line for change in changes} <= {2}


def test_code_that_is_no_function(failing):
    for text in ("X = 1\n", "def f(:\n"):
        assert not list(calls(text, failing(BUILT_IN)))
