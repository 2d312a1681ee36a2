"""What people see while a run is under way."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from fake_engine import FakeEngine, attempt, solved
from greenloop.cli import render
from greenloop.cli.live_table import Activity, LiveTable, PlainLines, attempt_table, colour_diff
from greenloop.core import summary
from greenloop.core.events import Checked, Planned, Proposed, Started, Token
from greenloop.core.records.attempt import Finding
from greenloop.core.records.usage import Estimate, Quantiles, Usage
from greenloop.core.records.verdict import Status, Verdict


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def started(tmp_path, model: str = "local") -> Started:
    event = FakeEngine(tmp_path).events(solved(tmp_path).attempts)[0]
    assert isinstance(event, Started)
    return Started(**{**vars(event), "model": model})


def planned(number: int, tokens: int) -> Planned:
    draft = attempt(number).draft
    assert draft is not None
    return Planned(attempt=number, draft=draft, model="local", prompt_tokens=tokens)


def test_the_activity_says_what_is_going_on_and_about_how_long(tmp_path):
    clock = Clock()
    activity = Activity(clock)
    activity.update(started(tmp_path))
    activity.update(planned(1, 660))
    assert str(activity) == "attempt 1/5: reading prompt, about 20 s"
    clock.now += 10
    activity.update(Token(attempt=1, text="d", count=1))
    clock.now += 3
    activity.update(Token(attempt=1, text="d", count=84))
    assert str(activity) == "attempt 1/5: writing, 84 tokens (13 s)"
    activity.update(Proposed(attempt=1, answer="", usage=Usage()))
    activity.update(Checked(attempt=1, error_class="", message=""))
    assert str(activity) == "attempt 1/5: testing"
    activity.update(planned(2, 660))
    assert str(activity) == "attempt 2/5: reading prompt, about 10 s"  # as fast as the first was read


def test_a_remote_model_is_not_guessed_at(tmp_path):
    activity = Activity(Clock())
    activity.update(started(tmp_path, model="openai/x"))
    activity.update(planned(1, 660))
    assert str(activity) == "attempt 1/5: reading prompt"


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize("no_color", [True, False])
def test_the_table_fits_every_terminal(tmp_path, width, no_color):
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=width, no_color=no_color, color_system="standard")
    with LiveTable(console, Clock()) as screen:
        screen.report_status("opening the sandbox")
        for event in FakeEngine(tmp_path).events(solved(tmp_path).attempts):
            screen.emit(event)
    text = out.getvalue()
    assert ("\x1b[31m" in text) is not no_color
    assert text.count("\x1b[?25h") == text.count("\x1b[?25l") > 0  # the cursor comes back


def rendered(attempts) -> str:
    out = io.StringIO()
    Console(file=out, width=120).print(attempt_table(attempts))
    return out.getvalue()


def test_a_row_has_model_result_error_tokens_and_seconds():
    text = rendered([attempt(0), attempt(1), attempt(2, Status.PASSED)])
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "1 scripted 0/1 passed AssertionError test_m.py:5 120 1.1" in lines
    assert "2 scripted passed 120 1.1" in lines


def test_a_narrow_terminal_keeps_numbers_and_results():
    one = attempt(1)
    long = type(one)(**{**vars(one), "model": "provider/" + "long" * 20, "error_class": "SomeVeryLongKindOfError"})
    out = io.StringIO()
    Console(file=out, width=60).print(attempt_table([attempt(0), long]))
    head, _rule, *rows = (" ".join(line.split()) for line in out.getvalue().splitlines())
    assert head == "attempt model result error tokens seconds"
    assert all("0/1 passed" in row for row in (rows[0], rows[-2] if len(rows) > 2 else rows[-1]))
    assert "120" in out.getvalue()


def test_the_file_of_a_scripted_model_is_left_out():
    assert [render.model_name(name) for name in ("scripted:/a/b", "ollama/b:1b", "local")] == [
        "scripted",
        "ollama/b:1b",
        "local",
    ]


def test_a_refused_attempt_names_the_line():
    one = attempt(1)
    finding = Finding(error_class="SyntaxError", message="bad", line=7)
    refused = type(one)(
        **{**vars(one), "verdict": Verdict(status=Status.REFUSED), "finding": finding, "error_class": "SyntaxError"}
    )
    assert "SyntaxError line 7" in rendered([refused])


def test_a_broken_neighbour_is_told(tmp_path):
    one = attempt(1, Status.PASSED)
    other = attempt(1).verdict.cases[0]
    broken = type(one)(
        **{**vars(one), "verdict": Verdict(status=Status.FAILED, cases=one.verdict.cases, collateral=(other,))}
    )
    assert summary.attempt_result(broken) == "breaks 1 other"


def test_the_diff_has_the_usual_colours():
    text = colour_diff("--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-a\n+b\n c\n")
    assert text.plain == "--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-a\n+b\n c\n"
    styles = {text.plain[span.start : span.end].strip(): str(span.style) for span in text.spans}
    assert (styles["-a"], styles["+b"], styles["@@ -1 +1 @@"]) == ("red", "green", "cyan")


def test_what_is_to_come_is_one_line(tmp_path):
    known = Estimate(
        prompt_tokens=300,
        tokens=Quantiles(400, 912, 3219),
        seconds=Quantiles(8, 14, 55),
        cost=Quantiles(0.001, 0.012, 0.03),
        runs=19,
    )
    event = Started(**{**vars(started(tmp_path)), "estimate": known})
    written: list[str] = []
    lines = PlainLines(written.append)
    lines.emit(event)
    told = "about 910 tokens (400 to 3200), 14 s (8 to 55), $0.012, based on 19 similar runs"
    assert written[1] == f"  estimate: {told}"
    out = io.StringIO()
    with LiveTable(Console(file=out, width=120, force_terminal=True, color_system=None)) as terminal:
        terminal.emit(event)
    assert f"Estimate: {told}." in out.getvalue()
