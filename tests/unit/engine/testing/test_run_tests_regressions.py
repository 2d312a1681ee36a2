"""Which failing tests became red since a revision."""

from __future__ import annotations

from greenloop.engine.testing.run_tests import Regressions, sort_failing

A, B, C, D = "t.py::a", "t.py::b", "t.py::c", "u.py::d"


def test_what_passed_there_comes_before_what_is_new_and_what_failed_there_is_left_out():
    found = sort_failing([D, A, B], [], {A: "passed", B: "failed"}, "abc")
    assert found == Regressions(commit="abc", broken=(A,), new=(D,), old=(B,))
    assert found.red == (A, D)


def test_of_a_file_that_cannot_be_read_now_every_test_counts_that_passed_there():
    found = sort_failing([A], ["u.py"], {A: "error", D: "passed", "u.py::e": "skipped"}, "abc")
    assert (found.broken, found.new, found.old) == ((D,), (), (A,))
