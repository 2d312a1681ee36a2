"""Tests that compare a function with its own text before: which inputs, and what differs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Region, Spec
from greenloop.plugins.improve import comparison

CODE = "def f(items: list[int], most=3):\n    return sorted(items)[:most]\n"


def problem(code: str = CODE, test: str = "f([1, 2])\n", qualname: str = "f") -> Problem:
    return Problem(
        root=Path("/w"),
        spec=Spec(cases=(Case(id="t.py::test_1", path="t.py", line=1),), selectors=("t.py",)),
        regions=(Region(path="compared_module.py", qualname=qualname, start=1, end=code.count("\n")),),
        originals={"compared_module.py": code, "t.py": test},
        files={"compared_module.py": code, "t.py": test},
    )


def run(tmp_path, monkeypatch, now: str, subject: Problem, calls=()) -> None:
    """Runs the tests of the comparison with this text of the module."""
    (tmp_path / "compared_module.py").write_text(now)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "compared_module", raising=False)
    found = comparison.build_comparison(subject, calls)
    names: dict = {"__name__": "compared_tests"}
    exec(compile(*found.files.values(), "test_same.py", "exec"), names)
    for each in found.alone:
        names[each.partition("::")[2]]()


def test_the_same_text_is_the_same(tmp_path, monkeypatch):
    run(tmp_path, monkeypatch, CODE, problem(), ["f([3, 1])", "f([], most=1)", "f(None)"])


@pytest.mark.parametrize(
    "now",
    [
        CODE.replace("sorted(items)", "items"),  # another result
        CODE.replace("sorted(items)[:most]", "tuple(sorted(items)[:most])"),  # another type
        CODE.replace(
            "    return", "    items.append(0) if len(items) == 7 else None\n    return"
        ),  # changes its argument
        CODE.replace("    return", "    assert sum(items) >= 0\n    return"),  # raises
    ],
)
def test_what_differs_is_told_with_the_input(tmp_path, monkeypatch, now):
    with pytest.raises(AssertionError, match=r"f\(items=.*most=.*\) differs from before"):
        run(tmp_path, monkeypatch, now, problem())


def test_a_call_of_the_user_is_compared(tmp_path, monkeypatch):
    code = "def f(given):\n    return given\n"
    with pytest.raises(AssertionError, match=r"f\(object\(\) and 2\) differs from before"):
        run(
            tmp_path,
            monkeypatch,
            code.replace("return given", "return given if given != 2 else 3"),
            problem(code, test=""),
            ["f(object() and 2)"],
        )


def test_values_may_be_unlike_those_of_the_tests(tmp_path, monkeypatch):
    code = "def f(number):\n    return number\n"
    with pytest.raises(AssertionError, match=r"f\(number=-1\) differs"):
        run(tmp_path, monkeypatch, code.replace("return number", "return abs(number)"), problem(code, test="f(3)\n"))


@pytest.mark.parametrize(
    ("code", "test", "qualname", "reason"),
    [
        ("class A:\n    def f(self, x: int):\n        pass\n", "", "A.f", "not a plain function"),
        ("async def f(x: int):\n    pass\n", "", "f", "not a plain function"),
        ("def f():\n    pass\n", "", "f", "takes no arguments"),
        ("def f(thing):\n    pass\n", "", "f", "no values can be made up for `thing`"),
    ],
)
def test_where_nothing_can_be_made_up_the_reason_is_told(code, test, qualname, reason):
    found = comparison.build_comparison(problem(code, test, qualname), [])
    assert found.alone == ()
    assert reason in found.reason


@pytest.mark.parametrize(
    ("compared", "skipped", "late", "said"),
    [
        (0, 0, 0, "no call of the tests can be repeated"),
        (0, 3, 1, "of its calls, which take long, none can be compared in the time (name short ones: --inputs FILE)"),
        (2, 3, 0, "of its calls, which take long, 2 can be compared in the time (name short ones: --inputs FILE)"),
        (2, 0, 0, ""),
        (10, 3, 1, ""),
    ],
)
def test_too_few_compared_calls_are_told_with_the_reason(tmp_path, monkeypatch, compared, skipped, late, said):
    (tmp_path / "compared_module.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    names: dict = {"__name__": "compared_tests"}
    exec(compile(*comparison.build_comparison(problem(), []).files.values(), "test_same.py", "exec"), names)
    for name, number in {"COMPARED": compared, "SKIPPED": skipped, "LATE": late}.items():
        names[name].extend([True] * number)
    told = ""
    try:
        names[comparison.ENOUGH]()
    except AssertionError as error:
        told = str(error)
    assert told == said
