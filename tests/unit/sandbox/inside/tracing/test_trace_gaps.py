"""What a trace of functions cannot show."""

from __future__ import annotations

import functools
import os
import sys
from types import SimpleNamespace

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


def rewriting(function, file=rewrite.__file__):
    """A module of pytest with this function."""
    return SimpleNamespace(_rewrite_test=function, __file__=file)


def test_assertions_are_rewritten_without_being_traced(profile, tmp_path):
    during = []
    module = rewriting(lambda *_arguments: during.append(sys.getprofile()))
    gaps.leave_out_rewriting(str(tmp_path), profile, module)
    sys.setprofile(profile)
    module._rewrite_test(tmp_path / "test_m.py", None)
    assert during == [None]
    assert sys.getprofile() is profile


def test_a_profiler_of_the_tests_goes_on(profile, tmp_path):
    module = rewriting(lambda *_arguments: sys.getprofile())
    gaps.leave_out_rewriting(str(tmp_path), print, module)
    sys.setprofile(profile)
    assert module._rewrite_test(tmp_path / "test_m.py", None) is profile


def test_a_file_that_cannot_be_rewritten_is_followed_by_traced_ones(profile, tmp_path):
    module = rewriting(rewrite._rewrite_test)
    gaps.leave_out_rewriting(str(tmp_path), profile, module)
    (tmp_path / "test_m.py").write_text("def\n")
    sys.setprofile(profile)
    with pytest.raises(SyntaxError):
        module._rewrite_test(tmp_path / "test_m.py", None)
    assert sys.getprofile() is profile


def test_where_pytest_is_the_project_its_rewriting_is_traced(profile):
    module = rewriting(print, "/w/src/_pytest/assertion/rewrite.py")
    gaps.leave_out_rewriting("/w", profile, module)
    assert module._rewrite_test is print
