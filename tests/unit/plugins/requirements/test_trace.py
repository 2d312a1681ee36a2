"""Recorded calls become tests; a line that cannot be read is named, and nothing goes on without it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from greenloop.core.errors import SettingsError
from greenloop.core.generated_tests import parse_equation
from greenloop.core.records.spec import Provenance
from greenloop.plugins.requirements import trace
from spec_problem import make_problem, make_start

TEXT = '''\
from dataclasses import dataclass


@dataclass
class Point:
    x: int


def cached(function):
    return function


@cached
def f(x, y=0):
    """Something."""
    raise NotImplementedError


async def later(x):
    return x


class Box:
    def area(self, w):
        return w
'''


async def collected(tmp_path, *lines, name="f", path="m.py"):
    rows = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (tmp_path / "t.jsonl").write_text("\n".join(rows) + "\n")
    return (await trace.begin(make_start(make_problem(tmp_path, TEXT, name, path), trace="t.jsonl"))).spec


async def shown(tmp_path, *lines, **how):
    return [case.source for case in (await collected(tmp_path, *lines, **how)).cases]


async def test_recorded_calls_become_binding_cases_at_the_functions_name(tmp_path):
    spec = await collected(
        tmp_path,
        {"args": [1, [2]], "returns": {"a": None}},
        {"args": [1], "kwargs": {"y": 2}, "returns": True},
        {"call": "f(1, y=[2])", "raises": "ValueError"},
        {"args": ["a"], "stdout": "a\nb\n"},
    )
    assert [case.source for case in spec.cases] == [
        "assert f(1, [2]) == {'a': None}",
        "assert f(1, y=2) == True",
        "with pytest.raises(ValueError): f(1, y=[2])",
        "f('a') prints 'a\\nb\\n'",
    ]
    assert {(case.provenance, case.line, case.path, case.binding) for case in spec.cases} == {
        (Provenance.TRACE, 14, "m.py", True)
    }
    text = spec.files["test_greenloop_trace_m.py"]
    assert "def test_trace_4(capsys):\n    from m import f\n    f('a')\n    assert capsys.readouterr().out == " in text
    assert parse_equation(spec.cases[0].source).expected == "{'a': None}"
    assert parse_equation(spec.cases[2].source).raises == "ValueError"


async def test_lines_of_other_functions_are_skipped(tmp_path):
    lines = [
        {"function": name, "args": [number], "returns": number}
        for number, name in enumerate(["f", "m.f", "pkg.m.f", "pkg/m.py::f", "g", "other.f", "m.Box.f"])
    ]
    assert await shown(tmp_path, *lines, {"call": "g(1)", "returns": 1}, path="pkg/m.py") == [
        f"assert f({number}) == {number}" for number in range(4)
    ]


async def test_values_that_json_lacks_are_python(tmp_path):
    spec = await collected(
        tmp_path,
        {"args": [{"repr": "(1, {2})"}], "returns": {"repr": "Point(x=1)"}},
        {"args": [{"repr": "datetime.date(2020, 1, 2)"}], "returns": {"repr": "Decimal('1.5')"}},
        {"args": [], "returns": {"repr": "array([1])"}, "imports": ["from array import array"]},
        '{"args": [NaN], "returns": Infinity}',
        '{"args": [1], "returns": NaN}',
    )
    text = spec.files["test_greenloop_trace_m.py"]
    assert "    from m import Point\n    assert f((1, {2})) == Point(x=1)" in text
    head = text.partition("\n\n\n")[0].split("\n")
    assert set(head) == {
        "import datetime",
        "from decimal import Decimal",
        "from array import array",
        "from math import inf",
        "from math import nan",
    }
    assert "    assert f(nan) == inf\n" in text
    assert "    assert repr(f(1)) == repr(nan)\n" in text
    compile(text, "sheet", "exec")


async def test_methods_and_coroutines(tmp_path):
    assert await shown(tmp_path, {"args": [{"repr": "Box()"}, 2], "returns": 2}, name="Box.area") == [
        "assert Box.area(Box(), 2) == 2"
    ]
    spec = await collected(tmp_path, {"args": [2], "returns": 2}, name="later")
    assert "    assert asyncio.run(later(2)) == 2\n" in spec.files["test_greenloop_trace_m.py"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "it is not valid JSON"),
        ("[1]", "it is not a JSON object"),
        ("[" * 100_000, "it is not valid JSON"),
        ({"args": 1, "returns": 2}, "`args` must be a list"),
        ({"args": [1]}, "it needs one of the keys `returns`"),
        ({"args": [1], "result": 2}, "there is no key `result`"),
        ({"args": [1], "returns": 1, "raises": "E"}, "cannot both return and raise"),
        ({"args": [1], "raises": "1 + 1"}, "`raises` must be the name of an exception"),
        ({"args": [1], "raises": "MyError"}, "nothing imports `MyError`"),
        ({"args": [1], "returns": {"repr": "<object at 0x7f>"}}, "which is not a Python expression"),
        ({"args": [1], "returns": {"repr": 1}}, "`repr` must be a string"),
        ({"args": [1], "returns": {"repr": "x"}}, "nothing imports `x`"),
        ({"args": [1], "returns": 1, "imports": ["print(1)"]}, "`imports` must be a list of import statements"),
        ({"call": "f", "returns": 1}, "`f` is not a call"),
        ({"call": "f(1)", "args": [1], "returns": 1}, "`call` already contains the arguments"),
        ({"args": [1], "stdout": 1}, "`stdout` must be a string"),
        ({"function": 1}, "`function` must be a string"),
    ],
)
async def test_a_bad_line_is_named(tmp_path, line, why):
    with pytest.raises(SettingsError) as caught:
        await collected(tmp_path, {"args": [], "returns": 1}, "", line)
    assert str(caught.value).startswith("t.jsonl, line 3: ")
    assert why in str(caught.value)
    assert "docs/specs.md" in caught.value.remedy


@pytest.mark.parametrize("path", ["none.jsonl", "../t.jsonl", "/etc/passwd"])
async def test_a_file_that_is_not_in_the_workspace_is_named(tmp_path, path):
    (tmp_path / "in").mkdir()
    (tmp_path / "t.jsonl").write_text('{"args": [], "returns": 1}\n')
    with pytest.raises(SettingsError, match=f"names {path}, which is not a file of this workspace"):
        await trace.begin(make_start(make_problem(tmp_path / "in", TEXT, "f"), trace=path))


async def test_what_is_left_out_is_said(tmp_path):
    many = await collected(tmp_path, *({"args": [n], "returns": n} for n in range(trace.MOST + 5)))
    assert len(many.cases) == trace.MOST
    assert many.doubts == ("Only the first 300 of 305 recorded calls are used.",)
    none = await collected(tmp_path, {"function": "g", "args": [], "returns": 1})
    assert (none.cases, none.doubts) == ((), ("t.jsonl has no recorded call of f.",))


async def test_the_pages_decorator_writes_what_is_read(tmp_path, monkeypatch):
    page = (Path(__file__).resolve().parents[4] / "docs/specs.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"```python\n(import functools.*?)```", page, re.DOTALL)
    space: dict = {}
    exec(source, space)
    monkeypatch.chdir(tmp_path)

    def f(x, y=0):
        return (x, y)

    f.__qualname__ = "f"
    assert space["recorded"](f, "t.jsonl")({1}, y=None) == ({1}, None)
    spec = (await trace.begin(make_start(make_problem(tmp_path, TEXT, "f"), trace="t.jsonl"))).spec
    assert [case.source for case in spec.cases] == ["assert f({1}, y=None) == ({1}, None)"]


async def test_the_pages_lines_are_read(tmp_path):
    page = (Path(__file__).resolve().parents[4] / "docs/specs.md").read_text(encoding="utf-8")
    (lines,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert len(await shown(tmp_path, *lines.strip().split("\n"))) == 4
