"""The calls that a user names to be measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.errors import SettingsError
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.plugins.improve import workloads

PROBLEM = Problem(
    root=Path("/w"),
    spec=Spec(cases=(Case(id="t.py::test_1", path="t.py", line=1),), selectors=("t.py",)),
    regions=(Region(path="pkg/m.py", qualname="Box.put", start=2, end=3),),
    originals={"pkg/m.py": "class Box:\n    def put(self):\n        pass\n"},
    files={"pkg/m.py": "class Box:\n    def put(self):\n        pass\n"},
)


def test_each_line_is_a_call_and_comments_are_none():
    assert workloads.read_calls("# two\nf(1)\n\n  f(2)  \n", "f") == ["f(1)", "f(2)"]


@pytest.mark.parametrize("text", ["f(1)\nx = 2\n", "f(1)\nf(\n", "f(1)\nf(\0)\n"])
def test_what_is_no_expression_is_named_by_its_line(text):
    with pytest.raises(SettingsError, match="Line 2 of the --inputs file is not a Python expression"):
        workloads.read_calls(text, "f")


def test_too_many_calls():
    with pytest.raises(SettingsError, match="has 51 calls; at most 50"):
        workloads.read_calls("f(1)\n" * 51, "f")


@pytest.mark.parametrize(
    ("text", "qualname", "sentence"),
    [
        ("f(1)\nsorted([1])\n", "f", "Line 2 of the file of --inputs does not call f: sorted"),
        ("put(1)\n", "Box.put_all", "Line 1 of the file of --inputs does not call Box.put_all"),
        ("# nothing yet\n\n", "f", "The file of --inputs has no calls."),
    ],
)
def test_calls_of_something_else_and_no_calls_are_told(text, qualname, sentence):
    with pytest.raises(SettingsError, match=sentence):
        workloads.read_calls(text, qualname)


@pytest.mark.parametrize(("call", "qualname"), [("Box().put(1)", "Box.put"), ("Box()(3)", "Box.__call__")])
def test_a_method_is_called_on_an_object(call, qualname):
    assert workloads.read_calls(call, qualname) == [call]


def test_no_text_means_no_calls():
    assert workloads.read_calls("", "f") == []


def test_without_calls_the_tests_are_measured():
    assert workloads.build_workload(PROBLEM, []).selectors == ("t.py::test_1",)


def test_docstring_examples_are_measured_by_the_selector_of_their_docstring():
    """Their ids are those of single examples, which select nothing."""
    examples = [
        Case(id=f"pkg/m.py::f::doctest-{number}", path="pkg/m.py", line=1, provenance=Provenance.DOCTEST)
        for number in (1, 2)
    ]
    spec = PROBLEM.spec + Spec(cases=tuple(examples), selectors=("doctest:pkg/m.py::f",))
    assert workloads.build_workload(replace(PROBLEM, spec=spec), []).selectors == (
        "t.py::test_1",
        "doctest:pkg/m.py::f",
    )


def test_calls_become_tests_beside_the_module():
    workload = workloads.build_workload(PROBLEM, ["Box().put()"])
    assert workload.selectors == ("pkg/test_greenloop_workload_m.py",)
    (text,) = workload.files.values()
    names: dict = {}
    exec(compile(text, "t", "exec"), names)
    assert [name for name in names if name.startswith("test_")] == ["test_workload_1"]


def test_a_measured_call_has_to_give_what_it_gave_before():
    """What it gave is learned from the messages with which the tests fail as long as nothing is known."""
    workload = workloads.build_workload(PROBLEM, ["Box().put()"])
    case = "pkg/test_greenloop_workload_m.py::test_workload_1"
    said = f"AssertionError: it does something else than before (result {'0a' * 16})"
    (text,) = workloads.with_results(workload, {case: said, "other": "no result"}).files.values()
    assert f"\nRESULTS = {{{case!r}: '{'0a' * 16}'}}\n" in text
    assert "\nRESULTS = None\n" in next(iter(workload.files.values()))
