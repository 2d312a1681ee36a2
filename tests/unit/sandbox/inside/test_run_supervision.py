"""What the supervisor keeps of a worker's streams."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from inside import load

run_supervision = load("run_supervision")


def test_a_full_report_ends_there_and_has_no_gap():
    report = run_supervision._BoundedBuffer(10)
    for data in (b"one;", b"two;", b"three;", b"4;"):
        report.add(data)
    assert (bytes(report.data), report.overflow) == (b"one;two;", "report")


@pytest.mark.parametrize(
    ("load", "waited", "case_seconds", "end"),
    [
        (1.0, 9.0, 0.0, 1.0),  # nobody else wants the processors: what hangs has had its time
        (4.0, 0.0, 0.0, 1.0),
        (4.0, 0.5, 0.0, 1.5),
        (1.2, 9.0, 0.0, 1.2),
        (4.0, 0.5, 0.4, 0.9),
        (4.0, 9.0, 0.4, 1.0),  # many cases have so much time together, whatever each waited for
    ],
)
def test_waiting_for_a_processor_does_not_count_on_a_loaded_machine(load, waited, case_seconds, end):
    now = 0.0

    def tick() -> float:
        nonlocal now
        now += 0.01
        return now

    processes = SimpleNamespace(
        waited=lambda: waited,
        descendants=list,
        reap=lambda _worker, status: (False, status),
        memory_used=lambda _all: 0,
    )
    report = run_supervision._BoundedBuffer(100)
    report.data, report.last = bytearray(run_supervision.BEGIN), 0.0
    request = {
        "seconds": 1.0,
        "case_seconds": case_seconds,
        "watch_disk": False,
        "root": "/",
        "processes": 9,
        "memory": 9,
    }
    ended = run_supervision._watch_worker(request, os.getpid(), {}, 0.0, processes, report, None, load, tick)
    assert ended == ("timeout", None)
    assert now == pytest.approx(end, abs=0.06)
