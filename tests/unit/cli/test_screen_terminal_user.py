"""Questions at the terminal: what is shown, what counts as an answer, and what ends the run."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from fake_engine import CASE
from greenloop.cli.live_table import LiveTable
from greenloop.cli.main import main
from greenloop.cli.screen import TerminalUser, View
from greenloop.core.python.literals import parse_literal_input

QUESTION = 'Is `rle("") == []` right?'
OPTIONS = ("Yes", "No", "It is [('', 0)]", "The right value is …", "Skip")


def person() -> TerminalUser:
    return TerminalUser(lambda ask: ask())


@pytest.mark.parametrize(
    ("words", "chosen", "times"),
    [
        (["1"], "Yes", 1),
        (["y"], "Yes", 1),
        (["NO"], "No", 1),
        (["3"], "It is [('', 0)]", 1),
        (["5"], "Skip", 1),
        (["9", "2"], "No", 2),
        (["maybe", "0"], None, 2),
        ([""], None, 1),
        ([], None, 1),
    ],
)
async def test_an_option_by_its_number_or_its_beginning(keyboard, capsys, words, chosen, times):
    keyboard.lines += words
    assert await person().choose(QUESTION, OPTIONS) == chosen
    assert keyboard.reads == times
    assert capsys.readouterr().err.startswith(f"{QUESTION}\n  1  Yes\n  2  No\n")


@pytest.mark.parametrize(
    ("words", "value", "times"),
    [
        (["[('', 0)]"], "[('', 0)]", 1),
        (["  {1:  2} "], "{1: 2}", 1),
        (["x = 1", "1"], "1", 2),
        (["[1,", "2)"], None, 2),
        (["1 2", ""], None, 2),
        ([], None, 1),
    ],
)
async def test_a_value_that_is_none_is_asked_for_once_more(keyboard, capsys, words, value, times):
    keyboard.lines += words
    assert await person().correct(QUESTION, "[]") == value
    assert keyboard.reads == times
    assert ("is not a Python value; write it as in a test" in capsys.readouterr().err) == (times == 2)


@pytest.mark.parametrize(
    "text", ["", " ", "1 +", "import os", "(yield)", "(x := 1)", "1\n2", "[" * 3000, "\0", "9" * 2001]
)
def test_what_is_no_value_is_told_in_one_sentence(text):
    with pytest.raises(ValueError, match=r"^[^\n]{10,200}\.$"):
        parse_literal_input(text)


async def test_the_live_table_stands_still_while_it_is_asked(keyboard):
    keyboard.lines.append("1")
    seen = []

    class Watched(LiveTable):
        def pause(self) -> None:
            seen.append("pause")
            super().pause()

        def resume(self) -> None:
            seen.append("resume")
            super().resume()

    with View(Watched(Console(file=io.StringIO(), force_terminal=True))) as view:
        assert await TerminalUser(view.ask_paused).choose(QUESTION, OPTIONS) == "Yes"
    assert seen == ["pause", "resume"]


# -- the command line --------------------------------------------------------------------------------------------


def test_questions_only_where_somebody_can_answer(fake, request):
    main(["fix", CASE, "--ask", "2"])
    request.getfixturevalue("keyboard")
    main(["fix", CASE])
    main(["fix", CASE, "--ask", "2"])
    main(["fix", CASE, "--ask", "2", "--json"])
    assert [settings.ask for settings in fake.settings] == [0, 3, 2, 0]


@pytest.mark.parametrize(("number", "why"), [("6", "at most 5"), ("-1", "at least 0")])
def test_more_than_five_questions_are_refused_in_one_sentence(fake, capsys, number, why):
    assert main(["fix", CASE, "--ask", number]) == 2
    err = capsys.readouterr().err.strip()
    assert (why in err, "\n" in err) == (True, False)
    assert fake.requests == []


def test_ctrl_c_at_a_question_cancels_the_run(fake, keyboard, capsys):
    """As every cancelled run: kept in the history, 130."""
    keyboard.lines.append(KeyboardInterrupt())
    inner = fake.refine

    async def asking(request, *, user, **more):
        await user.choose(QUESTION, OPTIONS)
        return await inner(request, user=user, **more)

    fake.refine = asking
    assert main(["fix", CASE, "--ask", "1"]) == 130
    assert "Traceback" not in capsys.readouterr().err
    assert not fake.requests
