"""What a trace of functions cannot show."""

from __future__ import annotations

import functools
import os

import pytest

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
