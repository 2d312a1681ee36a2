"""What the report says beside the figures themselves."""

from __future__ import annotations

from greenloop_lab.bench.reporting import report
from greenloop_lab.bench.reporting.figures import compute_figures


def test_right_at_first_and_after_refinement_stand_side_by_side_with_their_ratio(make):
    done = [
        make("a", "1", ("", True)),
        make("a", "2", ("AssertionError", False), ("", True)),
        make("a", "3", ("NameError", False), ("AssertionError", False), ("", True)),
        make("b", "1", ("AssertionError", False)),
    ]
    lines = report.format_report(compute_figures(done, ()), []).splitlines()

    def row(name: str) -> list[str]:
        return next(line.removeprefix(name).split() for line in lines if line.startswith(name + " "))

    assert row("first attempt right") == ["1", "0"]
    assert row("solved")[0] == "3"
    assert row("  solved for each") == ["3.00", "-"]


def test_what_was_located_and_fully_verified_stands_below_what_was_solved(make):
    done = [
        make("a", "1", ("", True), asked_right=True, verified="verified"),
        make("a", "2", ("", True), asked_right=True, verified="partially"),
        make("a", "3", ("AssertionError", False), asked_right=False),
        make("b", "1", ("", True)),
    ]
    lines = report.format_report(compute_figures(done, ()), []).splitlines()
    assert [line.split()[-2:] for line in lines if line.startswith(("  fully verified", "asked about"))] == [
        ["1", "0"],
        ["2", "-"],
    ]
