"""A run with a capable model: its kind, its looks and what it leaves behind, wherever an editor shows a run."""

from __future__ import annotations

import sqlite3

import pytest

from conversation_attempts import BLEMISH, MANY_LOOKS
from greenloop.core.records.model import ModelKind
from greenloop.engine.history.store import History
from history_runs import forget_newer_fields

from .conftest import EVERYTHING, without
from .test_presentation import target
from .test_restart import kept
from .test_views import able, named, shown

__all__ = ["kept"]
QUOTED = BLEMISH.replace("`", "'")  # what quotes the model's code cannot end the quotation
EIGHT = [look.summary for look in MANY_LOOKS[:8]]


async def looking(editor, *abilities, missing=()):
    """A run that has looked eleven times, and waits; the number of its request."""
    base = without(EVERYTHING, *missing)
    await editor.start(able("runs", *abilities, base=base), model="play:looks")
    number = editor.request("greenloop/refine", target(editor))
    await shown(editor, lambda run: len(run["looks"]) == len(MANY_LOOKS))
    return number


async def finished(editor, number):
    await editor.call("test/go")
    await editor.reply(number)


@pytest.mark.story("a capable model looks at the project")
async def test_the_hover_has_the_kind_of_the_model_and_its_first_looks(editor):
    number = await looking(editor)
    value = (await editor.hover())["value"]
    listed = "\n".join(f"- `{each}`" for each in EIGHT)
    assert f"Model: `play:looks (capable)`.\n\nLooks before attempt 1:\n\n{listed}\n- `… and 3 more`\n" in value
    await finished(editor, number)
    value = (await editor.hover())["value"]
    asked = "1 question, 11 looks, 12,300 tokens (9,800 cached)"
    assert f"Model: `play:looks (capable)`, {asked}.\n\nLooks before attempt 1:\n\n{listed}\n" in value
    assert "| 12,300 (9,800 cached) |" in value


async def test_the_hover_in_plain_text(editor):
    await finished(editor, await looking(editor, missing=("textDocument.hover",)))
    value = (await editor.hover())["value"]
    assert "\n- read m0.py\n- read m1.py\n" in value
    assert "`" not in value.partition("Looks before")[2].partition("Best attempt")[0]


async def test_the_result_names_other_tests_its_blemishes_and_what_was_not_needed(editor):
    await finished(editor, await looking(editor))
    value = (await editor.hover())["value"]
    for sentence in (
        "also fixes test_other, 1/1 target tests pass, no other tests affected (3 checked, 1 was already failing)",
        "1 test that fails for the same cause is still red: test_red.",
        "A question to the model was no longer needed: about 500 tokens, $0.0010.",
        f"Note: `{QUOTED}`",
    ):
        assert sentence in value
    message = (await editor.told("Changed m.py:2"))["params"]["message"]
    assert "Fixed: test_double passes, also fixes test_other." in message
    assert "1 test that fails for the same cause is still red: test_red." in message


async def test_progress_names_the_model_and_the_newest_look(editor):
    number = await looking(editor)
    told = await editor.wait(
        lambda m: (
            m.get("method") == "$/progress" and "looking: read m10.py" in (m["params"]["value"].get("message") or "")
        )
    )
    line = told["params"]["value"]["message"]
    assert line.startswith("attempt 1/5 · looking: read m10.py · with play:looks (capable) · 11 looks · 0/1 passed · ")
    await finished(editor, number)


async def test_a_view_of_runs_gets_looks_notes_and_cached_tokens(editor):
    number = await looking(editor)
    run = await shown(editor, lambda run: len(run["looks"]) == len(MANY_LOOKS))
    assert (run["model"], run["kind"], run["looks"][0]) == ("play:looks", "capable", "read m0.py")
    await finished(editor, number)
    run = await shown(editor, lambda run: run["phase"] == "over")
    assert (run["looks"], run["notes"]) == ([], [BLEMISH])
    assert len(run["attempts"][1]["looks"]) == len(MANY_LOOKS)
    assert (run["attempts"][1]["tokens"], run["attempts"][1]["cachedTokens"]) == (12_300, 9_800)


async def test_the_page_has_every_look_with_its_result(editor):
    await finished(editor, await looking(editor))
    page = (await editor.call("greenloop/report", named(editor)))["markdown"]
    assert page.count("m.py, lines 1-2 of 2:") == len(MANY_LOOKS)
    assert "Look: `read m10.py`, 0.1 s" in page
    assert "12,300 tokens (12,000 read, 9,800 of them cached, 300 written)" in page
    assert "Also passes now:\n\n- `test_m.py::test_other`" in page
    assert "Still red:\n\n- `test_m.py::test_red`" in page
    assert f"To clean up:\n\n- `{QUOTED}`" in page


@pytest.mark.parametrize("kind", [ModelKind.CAPABLE, None])
async def test_a_run_of_an_earlier_server_is_shown_with_the_kind_that_was_stored(editor, kept, kind):
    """Also one of a version that stored none of this."""
    number = kept()
    if kind is None:
        history = History.open(kept.path)
        forget_newer_fields(history)
        history.close()
    else:
        with sqlite3.connect(kept.path) as connection:
            connection.execute("INSERT INTO kinds VALUES (?, ?)", (number, kind.value))
    await editor.start()
    await editor.call("test/settled")
    value = (await editor.hover())["value"]
    assert ("Model: `play (capable)`" if kind else "Model: `play`") in value
    assert "attempt 1 is wrong" in value
    assert "Looks" not in value
