"""How far a long step is: a bar with the time left, or a line every ten seconds."""

from __future__ import annotations

import pytest

from greenloop.cli.progress import INTERVAL, PacedLines, ProgressBar, timed


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("elapsed", "left", "later", "text"),
    [
        (3, None, 0, "running (3 s)"),
        (30, 90, 0, "█████░░░░░░░░░░░░░░░  25%, about 90 s left: running"),
        (30, 90, 30, "██████████░░░░░░░░░░  50%, about 60 s left: running"),
        (60, 300, 0, "███░░░░░░░░░░░░░░░░░  17%, about 5 min left: running"),
        (30, 10, 20, "running (50 s)"),  # it took longer: nothing is known any more
    ],
)
def test_the_bar(elapsed, left, later, text):
    clock = Clock()
    progress = ProgressBar(clock)
    progress.report_status("running (2 s)")
    clock.now += elapsed
    if left is not None:
        progress.report_left(left)
    clock.now += later
    assert str(progress) == text


def test_in_a_pipe_each_step_is_a_line_and_a_long_one_every_ten_seconds():
    clock, lines = Clock(), []
    paced = PacedLines(lines.append, clock)
    paced.report_status("reading HEAD")
    for second in range(0, 24, 2):
        clock.now = float(second)
        if second == 12:
            paced.progress.report_left(30)
        paced.report_status(f"running the tests ({second} s)" if second else "running the tests")
    assert lines == [
        "reading HEAD",
        "running the tests",
        "running the tests (10 s)",
        "running the tests (20 s), about 22 s left",
    ]
    assert INTERVAL == 10


def test_a_long_step_says_how_long_it_took_the_last_time(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    clock, reported = Clock(), []

    def run(seconds, error=None):
        with timed("fix", tmp_path, reported.append, clock):
            clock.now += seconds
            if error is not None:
                raise error

    run(30.0)  # nothing is known yet
    run(2.0)
    run(2.0)  # nor of a short one
    assert reported == [30.0]
    with pytest.raises(KeyboardInterrupt):
        run(60.0, KeyboardInterrupt())
    run(40.0)
    run(40.0)
    assert reported == [30.0, 40.0]


def test_a_count_that_grows_is_no_new_step():
    clock, lines = Clock(), []
    paced = PacedLines(lines.append, clock)
    for second in range(0, 25, 5):
        clock.now = float(second)
        paced.report_status(f"verified so far, {second} of 54 related tests; the rest goes on")
    assert [line.split()[3] for line in lines] == ["0", "10", "20"]
