"""What a trace of functions cannot show."""

from __future__ import annotations

import functools
import os
import sys

import pytest
from _pytest.assertion import rewrite

from inside import load

gaps = load("trace_gaps")


@pytest.mark.parametrize(
    ("variables", "harmless"),
    [
        ({"executable": "/usr/bin/git"}, True),
        ({"args": ["uname", "-r"]}, True),
        ({"executable": None, "args": ("python", "-c", "1")}, False),
        ({"args": "git status"}, False),
        ({}, False),
    ],
)
def test_programs_that_run_no_python(variables, harmless):
    assert gaps.runs_no_python(variables) is harmless


def test_functions_that_start_processes():
    assert os.fork in gaps.PROCESS_FUNCTIONS
    assert os.getpid not in gaps.PROCESS_FUNCTIONS


def test_functions_whose_results_are_kept():
    @functools.lru_cache
    def kept():
        return 1

    folder, name = os.path.split(__file__)
    found = gaps.cached_functions(folder)
    assert [name, kept.__wrapped__.__code__.co_firstlineno] in found
    assert gaps.cached_functions(os.path.join(folder, "elsewhere")) == []


@pytest.fixture
def profile():
    """A profile function; the one from before is set again."""
    before, profile = sys.getprofile(), lambda _frame, _event, _argument: None
    yield profile
    sys.setprofile(before)


def test_assertions_are_rewritten_without_being_traced(monkeypatch, profile, tmp_path):
    during = []
    monkeypatch.setattr(rewrite, "_rewrite_test", lambda *_arguments: during.append(sys.getprofile()))
    gaps.leave_out_rewriting(str(tmp_path), profile)
    sys.setprofile(profile)
    rewrite._rewrite_test(tmp_path / "test_m.py", None)
    assert during == [None]
    assert sys.getprofile() is profile


def test_a_profiler_of_the_tests_goes_on(monkeypatch, profile, tmp_path):
    monkeypatch.setattr(rewrite, "_rewrite_test", lambda *_arguments: sys.getprofile())
    gaps.leave_out_rewriting(str(tmp_path), print)
    sys.setprofile(profile)
    assert rewrite._rewrite_test(tmp_path / "test_m.py", None) is profile


def test_a_file_that_cannot_be_rewritten_is_followed_by_traced_ones(monkeypatch, profile, tmp_path):
    monkeypatch.setattr(rewrite, "_rewrite_test", rewrite._rewrite_test)  # so that it is put back
    gaps.leave_out_rewriting(str(tmp_path), profile)
    (tmp_path / "test_m.py").write_text("def\n")
    sys.setprofile(profile)
    with pytest.raises(SyntaxError):
        rewrite._rewrite_test(tmp_path / "test_m.py", None)
    assert sys.getprofile() is profile


def test_where_pytest_is_the_project_its_rewriting_is_traced(monkeypatch, profile):
    original = rewrite._rewrite_test
    monkeypatch.setattr(rewrite, "__file__", "/w/src/_pytest/assertion/rewrite.py")
    gaps.leave_out_rewriting("/w", profile)
    assert rewrite._rewrite_test is original
