"""What the supervisor keeps of a worker's streams."""

from __future__ import annotations

from inside import load

run_supervision = load("run_supervision")


def test_a_full_report_ends_there_and_has_no_gap():
    report = run_supervision._BoundedBuffer(10)
    for data in (b"one;", b"two;", b"three;", b"4;"):
        report.add(data)
    assert (bytes(report.data), report.overflow) == (b"one;two;", "report")
