"""What people see while a run is under way."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from conversation_attempts import LOOKS, look, turn
from fake_engine import CASE, FakeEngine, attempt, solved
from greenloop.cli import render
from greenloop.cli.live_table import Activity, LiveTable, PlainLines
from greenloop.core.events import Checked, Finished, Looked, Planned, Proposed, Started, Tested, Token
from greenloop.core.records.model import Estimate, ModelKind, Quantiles, Usage
from greenloop.core.records.verdict import Status, Verdict
from greenloop.wording.attempt import attempt_result


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


def test_a_long_suite_is_a_bar_with_the_time_left():
    out, clock = io.StringIO(), Clock()
    with LiveTable(Console(file=out, force_terminal=True, width=80), clock) as screen:
        screen.report_status("running the suite")
        screen.report_left(40)
        clock.now += 10
        screen.pause()
    assert "█████░░░░░░░░░░░░░░░  25%, about 30 s left: running the suite" in out.getvalue()


def test_the_file_of_a_scripted_model_is_left_out():
    assert [render.model_name(name) for name in ("scripted:/a/b", "ollama/b:1b", "local")] == [
        "scripted",
        "ollama/b:1b",
        "local",
    ]


def test_a_broken_neighbour_is_told(tmp_path):
    one = attempt(1, Status.PASSED)
    other = attempt(1).verdict.cases[0]
    broken = type(one)(
        **{**vars(one), "verdict": Verdict(status=Status.FAILED, cases=one.verdict.cases, collateral=(other,))}
    )
    assert attempt_result(broken) == "breaks 1 other"


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


@pytest.fixture
def conversation(tmp_path):
    """The events of a run in which a capable model looks three times and then answers."""
    begin = Started(**{**vars(started(tmp_path, model="openai/gpt-5.1")), "kind": ModelKind.CAPABLE})
    one = turn(1, *LOOKS)
    told = [Looked(attempt=1, look=each) for each in LOOKS]
    outcome = solved(tmp_path, attempts=(attempt(0), one), best=1)
    return [begin, planned(1, 660), *told, Tested(attempt=one), Finished(outcome=outcome)]


def test_the_lines_have_the_kind_of_the_model_each_look_and_what_was_asked(conversation):
    written: list[str] = []
    lines = PlainLines(written.append)
    for event in conversation:
        lines.emit(event)
    assert written[0] == "m.py::double with openai/gpt-5.1 (capable), preset plain, sandbox bubblewrap"
    assert written[2:] == [
        "  attempt 1/5 looks: read m.py",
        "  attempt 1/5 looks: search RATES: m.py:3: RATES = {}",
        "  attempt 1/5 looks: run t.py",
        "  attempt 1/5: passed, 12,300 (9,800 cached) tokens, 0.0 s",
        "  1 question, 3 looks, 12,300 tokens (9,800 cached)",
    ]


def test_the_live_table_has_a_line_for_a_look_before_its_attempt_is_complete(conversation):
    out = io.StringIO()
    screen = LiveTable(Console(file=out, width=120, force_terminal=True, color_system=None), Clock())
    for event in conversation[:3]:
        screen.emit(event)
    with screen:
        pass
    text = " ".join(out.getvalue().split())
    assert "with openai/gpt-5.1 (capable)" in text
    assert "1 read m.py" in text


def test_the_activity_names_the_newest_look(conversation):
    activity = Activity(Clock())
    for event in conversation[:3]:
        activity.update(event)
    assert str(activity) == "attempt 1/5: looking: read m.py"
    activity.update(Looked(attempt=1, look=look(summary="read \x1b[2Jm.py")))
    assert str(activity) == "attempt 1/5: looking: read \\x1b[2Jm.py"


def test_a_run_without_any_suspect_is_titled_by_its_tests(tmp_path, conversation):
    """A capable model may begin where no function of the project ran."""
    begin = conversation[0]
    problem = replace(begin.problem, regions=())
    out = io.StringIO()
    with LiveTable(Console(file=out, width=120, force_terminal=True, color_system=None)) as screen:
        screen.emit(replace(begin, problem=problem))
    assert f"{CASE} with openai/gpt-5.1 (capable), preset plain" in out.getvalue()
