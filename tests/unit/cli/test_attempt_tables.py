"""The attempts of a run as tables, and the colours of a diff."""

from __future__ import annotations

import io

from rich.console import Console

from conversation_attempts import LOOKS, MANY_LOOKS, look, turn
from fake_engine import attempt
from greenloop.cli.attempt_tables import colour_diff, draw_attempts
from greenloop.core.records.attempt import Finding
from greenloop.core.records.verdict import Status, Verdict


def rendered(attempts, width: int = 120, **more) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(draw_attempts(attempts, **more))
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
    Console(file=out, width=60).print(draw_attempts([attempt(0), long]))
    head, _rule, *rows = (" ".join(line.split()) for line in out.getvalue().splitlines())
    assert head == "attempt model result error tokens seconds"
    assert sum("0/1 passed" in row for row in rows) == 2
    assert "120" in out.getvalue()


def test_a_refused_attempt_names_the_line():
    one = attempt(1)
    finding = Finding(error_class="SyntaxError", message="bad", line=7)
    refused = type(one)(
        **{**vars(one), "verdict": Verdict(status=Status.REFUSED), "finding": finding, "error_class": "SyntaxError"}
    )
    assert "SyntaxError line 7" in rendered([refused])


def test_the_diff_has_the_usual_colours():
    text = colour_diff("--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-a\n+b\n c\n")
    assert text.plain == "--- a/m.py\n+++ b/m.py\n@@ -1 +1 @@\n-a\n+b\n c\n"
    styles = {text.plain[span.start : span.end].strip(): str(span.style) for span in text.spans}
    assert (styles["-a"], styles["+b"], styles["@@ -1 +1 @@"]) == ("red", "green", "cyan")


def rows(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_looks_are_lines_below_the_attempts_and_counted_apart_from_questions():
    shown = rows(rendered([attempt(0), turn(1, *LOOKS)]))
    assert "1 scripted passed 12,300 (9,800 cached) 0.0" in shown
    below = shown[shown.index("attempt looks before the answer") + 2 :]
    assert below[:3] == ["1 read m.py", "1 search RATES: m.py:3: RATES = {}", "1 run t.py"]
    assert shown[-1] == "1 question, 3 looks, 12,300 tokens (9,800 cached)"


def test_looks_of_an_attempt_under_way_are_shown_too():
    shown = rows(rendered([attempt(0)], looks={1: [look(path="m.py")]}))
    assert shown[-1] == "1 read m.py"


def test_many_looks_are_cut_and_a_long_one_stays_a_line():
    text = rendered([attempt(0), turn(1, *MANY_LOOKS), turn(2, look(summary="read \x1b" + "long " * 40))], width=60)
    assert "… and 3 more" in text
    assert "\x1b" not in text
    assert max(len(line) for line in text.splitlines()) <= 60
    assert sum("long" in line for line in text.splitlines()) == 1


def test_without_looks_nothing_of_them_is_shown():
    assert "look" not in rendered([attempt(0), attempt(1)])
