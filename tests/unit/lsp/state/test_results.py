"""What is known of each test: cases of a parametrised test are taken together, the worst of them counts."""

from pathlib import Path

from greenloop.lsp.state.results import Result, TestResults, group_by_test
from greenloop_sandbox import CaseResult, Failure

ROOT = Path("/w")


def test_cases_of_one_test_are_taken_together_by_the_worst():
    found = group_by_test(
        [
            CaseResult(id="t.py::test_a[1]", outcome="passed", seconds=1.0),
            CaseResult(
                id="t.py::test_a[x::y]", outcome="failed", failure=Failure(type="E", message="no\nmore"), seconds=2.0
            ),
            CaseResult(id="t.py::TestC::test_b", outcome="skipped"),
        ]
    )
    assert found == {
        ("t.py", "test_a"): Result(outcome="failed", passed=1, total=2, seconds=3.0, message="no"),
        ("t.py", "TestC.test_b"): Result(outcome="skipped", passed=0, total=1),
    }


def test_an_outcome_that_nobody_knows_is_the_worst():
    found = group_by_test(
        [CaseResult(id="t.py::t[1]", outcome="error"), CaseResult(id="t.py::t[2]", outcome="strange")]
    )
    assert found["t.py", "t"].outcome in {"error", "strange"}


def test_the_last_result_counts_and_whoever_looks_is_told():
    results, told = TestResults(), []
    results.on_changed = lambda: told.append(1)
    results.put(ROOT, group_by_test([CaseResult(id="t.py::t", outcome="failed")]))
    results.put(ROOT, group_by_test([CaseResult(id="t.py::t", outcome="passed")]))
    assert results.get(ROOT, "t.py", "t").outcome == "passed"
    assert len(told) == 2
    results.forget(ROOT, "t.py")
    assert results.get(ROOT, "t.py", "t") is None


def test_a_function_passes_where_all_known_tests_that_reach_it_do():
    results = TestResults()
    results.reached_functions = lambda _root, _path: {"f"}
    results.tests_through = lambda _root, _path, _name: ["t.py::t[1]", "t.py::t[2]", "t.py::TestC::test_b", "t.py::new"]
    assert not results.passes(ROOT, "m.py", "f")
    results.put(ROOT, group_by_test([CaseResult(id="t.py::t[1]", outcome="passed")]))
    assert results.passes(ROOT, "m.py", "f")
    assert not results.passes(ROOT, "m.py", "g")
    results.put(ROOT, group_by_test([CaseResult(id="t.py::TestC::test_b", outcome="failed")]))
    assert not results.passes(ROOT, "m.py", "f")


def test_a_function_passes_where_its_examples_do():
    results = TestResults()
    results.put(ROOT, group_by_test([CaseResult(id="m.py::C::f::doctest-1", outcome="passed")]))
    assert results.passes(ROOT, "m.py", "C.f")
    results.put(ROOT, group_by_test([CaseResult(id="m.py::C::f::doctest-1", outcome="failed")]))
    assert not results.passes(ROOT, "m.py", "C.f")
