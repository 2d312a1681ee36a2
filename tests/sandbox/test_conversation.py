"""Capable models through a real wall: one question with a bug report, looks, edits of any file, what comes of them."""

from __future__ import annotations

import pytest

import shop_run
from greenloop.cli.live_table import title
from greenloop.core.events import Looked, Planned, Started, Tested
from greenloop.core.records.attempt import Move
from greenloop.core.records.model import ModelKind
from greenloop.core.records.outcome import StopReason, Verified
from greenloop.wording.notes import list_notes
from shop_run import FILES, NARROW, RIGHT, SHOP, TARGET, TESTS, block, texts, turns

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]


@pytest.fixture
def play(tmp_path, monkeypatch, lay):
    """`play(*answers)`: (outcome, events); an answer is a text, or a list of calls."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    async def run(*answers, files=FILES, target=TARGET, stand_in=None, **options):
        root = lay(tmp_path / "w", files)
        return await shop_run.play(root, *answers, target=target, model=stand_in, options=options)

    return run


@pytest.mark.story("a capable model mends with one question")
async def test_one_question_with_a_bug_report(play):
    outcome, events = await play(RIGHT)
    assert (outcome.solved, outcome.verified) == (True, Verified.VERIFIED), outcome.message
    assert outcome.after == {"shop/core.py": SHOP.replace("kind.strip()]", "kind.strip().lower()]")}
    (turn,) = turns(outcome)
    system, report = texts(outcome, turn.number)
    assert "SEARCH" in system
    for part in (
        "`tests/test_shop.py::test_total`",
        "test_price[PEN]",  # fails for the same cause
        "def basket():",
        "KeyError: 'Pen'",
        "kind = 'Pen'",
        "raised the exception",
        "return RATES[kind.strip()]",
        "Python 3",
    ):
        assert part in report
    assert "test_plain" not in report
    assert "1/1 target tests pass, no other tests affected (1 checked), " in outcome.message
    assert outcome.message.startswith("Verified in bubblewrap: also fixes ")
    assert len(outcome.evidence.also_fixed) == 2
    assert outcome.evidence.still_red == ()
    started = next(event for event in events if isinstance(event, Started))
    assert started.kind is ModelKind.CAPABLE
    assert not any(each.draft and each.draft.move is Move.INFILL for each in outcome.attempts)


async def test_looks_come_before_the_answer_and_are_recorded(play):
    calls = [
        ["read", {"path": "shop/rates.json"}],
        ["search", {"text": "RATES"}],
        ["references", {"symbol": "lookup"}],
        ["run", {"tests": ["tests/test_shop.py::test_price"]}],
        ["evaluate", {"expression": "sorted(RATES)"}],
        ["read", {"path": "../secret"}],
        ["fly", {}],
    ]
    outcome, events = await play(calls, RIGHT)
    assert outcome.verified is Verified.VERIFIED
    (turn,) = turns(outcome)
    results = {look.call.name: look.result for look in turn.looks}
    assert [look.call.name for look in turn.looks] == [name for name, _arguments in calls]
    assert '{"pen": 19, "ink": 7}' in turn.looks[0].result
    assert "shop/rates.py:4: RATES = json.loads(" in results["search"]
    assert "shop/core.py:17: def lookup(kind):" in results["references"]
    assert "0 passed, 2 failed of 2." in results["run"]
    assert "KeyError: 'PEN'" in results["run"]
    assert results["evaluate"] == "sorted(RATES) = ['ink', 'pen']"
    assert "outside the workspace" in turn.looks[5].result
    assert "There is no tool `fly`" in results["fly"]
    told = [event.look.summary for event in events if isinstance(event, Looked)]
    assert told[0] == "read shop/rates.json"
    assert told[4] == "evaluate sorted(RATES): sorted(RATES) = ['ink', 'pen']"
    assert [message.role for message in turn.sent.messages][2:] == ["assistant", *["tool"] * len(calls)]


async def test_what_an_answer_has_next_to_calls_stays_in_the_conversation(play):
    first = 'The rates first:\nLOOK read {"path": "shop/rates.json"}\n'
    outcome, _events = await play(stand_in=shop_run.StandIn(steps=[first, RIGHT], calls_tools=False))
    assert outcome.verified is Verified.VERIFIED, outcome.message
    (turn,) = turns(outcome)
    assert "The rates first:" in turn.sent.messages[2].content
    assert outcome.after["shop/core.py"].count(".lower()") == 1


async def test_a_file_that_cannot_be_read_is_no_end(play):
    files = {**FILES, "odd.py": "# -*- coding: nonsense -*-\nRATES = 1\n"}
    calls = [["search", {"text": "RATES ="}], ["read", {"path": "odd.py"}]]
    outcome, _events = await play(calls, RIGHT, files=files)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    (turn,) = turns(outcome)
    assert "shop/rates.py:4" in turn.looks[0].result
    assert turn.looks[1].result == "`odd.py` is not a text file."


async def test_prose_alone_is_answered_with_what_is_wanted(play):
    outcome, _events = await play("I would lower the name first.", RIGHT)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert "Answer with edits, look at the project, or say CANNOT: why." in texts(outcome, turns(outcome)[1].number)[-1]


async def test_tests_that_fail_for_the_same_cause_belong_to_the_goal(play):
    outcome, _events = await play(NARROW, RIGHT)
    assert outcome.verified is Verified.VERIFIED
    first, second = turns(outcome)
    assert not first.accepted
    assert len(first.verdict.still_red) == 2
    told = texts(outcome, second.number)[-1]
    assert "The target passes. These are still red" in told
    assert "test_price[PEN]" in told
    assert "Your edits are kept" in told
    assert outcome.after["shop/core.py"].count(".lower()") == 2  # the second answer builds on the first


async def test_what_only_leaves_them_red_is_taken_in_the_end(play):
    outcome, _events = await play(NARROW, NARROW, NARROW, attempts=3)
    assert outcome.solved
    assert outcome.after["shop/core.py"].count(".lower()") == 1
    red = "2 tests that fail for the same cause are still red: test_price[PEN], test_price[Ink]."
    assert outcome.message.endswith(f". {red}")


async def test_a_wrong_answer_is_taken_back_and_told_with_its_new_failure_alone(play):
    wrong = block("shop/core.py", "    return RATES[kind.strip()]", "    return RATES.get(kind.strip(), 0)")
    outcome, _events = await play(wrong, RIGHT)
    assert outcome.verified is Verified.VERIFIED
    first, second = turns(outcome)
    assert not first.verdict.passed
    messages = texts(outcome, second.number)
    assert messages[:2] == texts(outcome, first.number)  # the prefix stays the same
    assert "Still failing." in messages[3]
    assert "assert 7 == 45" in messages[3]
    assert "def basket" not in messages[3]
    assert "Your edits are taken back" in messages[3]


async def test_an_answer_that_breaks_others_hears_which(play):
    wrong = block("shop/core.py", "    return RATES[kind.strip()]", "    return {'Pen': 19, 'ink': 7}[kind]")
    kept = block("shop/core.py", "{'Pen': 19, 'ink': 7}[kind]", "RATES[kind.strip().lower()]")
    outcome, _events = await play(wrong, kept)
    assert outcome.verified is Verified.VERIFIED
    told = texts(outcome, turns(outcome)[1].number)[-1]
    assert "These tests passed before and fail with your edits" in told
    assert "test_plain" in told


async def test_a_data_file_may_be_what_is_wrong(play):
    files = {
        **FILES,
        "shop/rates.json": '{"pen": 19, "ink": 70}\n',
        "tests/test_shop.py": TESTS.replace('"Pen"', '"pen"'),
    }
    outcome, _events = await play(block("shop/rates.json", '"ink": 70', '"ink": 7'), files=files)
    assert outcome.solved, outcome.message
    assert outcome.after == {"shop/rates.json": '{"pen": 19, "ink": 7}\n'}


async def test_where_no_function_ran_the_question_is_asked_all_the_same(play):
    reads = "import json\nfrom pathlib import Path\n\ntext = (Path(__file__).parent / 'd.json').read_text()\n"
    files = {
        "d.json": '{"a": [1]}\n',
        "d.py": f"{reads}globals().update(json.loads(text))\n",
        "test_d.py": "import d\n\n\ndef test_a():\n    assert d.a == [2]\n",
    }
    edit = block("d.json", '{"a": [1]}', '{"a": [2]}')
    outcome, events = await play(edit, files=files, target="test_d.py::test_a", **{"spec.write": True})
    assert outcome.solved, outcome.message
    assert outcome.after == {"d.json": '{"a": [2]}\n'}
    started = next(event for event in events if isinstance(event, Started))
    assert started.problem.regions == ()
    assert title(started).startswith("test_d.py::test_a with scripted (capable), preset default, ")


async def test_new_files_and_other_files_are_one_change(play):
    answer = (
        block("shop/names.py", "", "def plain(kind):\n    return kind.strip().lower()")
        + block(
            "shop/core.py",
            "from shop.rates import RATES",
            "from shop.names import plain\nfrom shop.rates import RATES",
        )
        + block("", "    return RATES[kind.strip()]", "    return RATES[plain(kind)]")
    )
    outcome, _events = await play(answer)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert set(outcome.after) == {"shop/core.py", "shop/names.py"}
    assert outcome.before["shop/names.py"] is None


async def test_blemishes_are_told_once(play):
    poor = block(
        "shop/core.py",
        "    return RATES[kind.strip()]",
        "    return RATES[kind.strip().lower()]\n    return RATES[kind.strip()]",
    )
    cleaned = block("shop/core.py", "lower()]\n    return RATES[kind.strip()]", "lower()]")
    outcome, _events = await play(poor, cleaned)
    first, second = turns(outcome)
    assert first.blemishes == ("`return RATES[kind.strip()]` can never run, shop/core.py:19",)
    assert "clean this up" in texts(outcome, second.number)[-1]
    assert second.accepted
    again, _events = await play(poor, poor)
    assert again.solved  # told once; better than nothing
    assert list_notes(again)[: len(first.blemishes)] == first.blemishes  # behind them: what its tests leave open


async def test_an_edit_that_cannot_be_placed_costs_no_attempt(play):
    misplaced = block("shop/core.py", "    return RATES[kind.upper()]", "    return 0")
    outcome, _events = await play(misplaced, misplaced.replace("upper", "title"), RIGHT, attempts=1)
    assert outcome.verified is Verified.VERIFIED, outcome.message
    told = texts(outcome, turns(outcome)[1].number)[-1]
    assert "the nearest line is 18 of `shop/core.py`" in told


async def test_a_model_may_say_that_it_cannot(play):
    outcome, _events = await play("CANNOT: the test contradicts the documentation.")
    assert not outcome.solved
    assert outcome.reason is StopReason.STALLED
    assert "the test contradicts the documentation" in outcome.message


async def test_a_model_that_only_looks_gets_an_end(play):
    outcome, _events = await play(*[[["read", {"path": "shop/core.py"}]]] * 14, attempts=1)
    assert not outcome.solved
    (turn,) = turns(outcome)
    assert "No more looks" in turn.looks[-1].result


async def test_without_function_calling_calls_are_lines(play):
    outcome, _events = await play('LOOK read {"path": "shop/rates.json"}', RIGHT)
    assert outcome.verified is Verified.VERIFIED
    (turn,) = turns(outcome)
    assert [look.call.name for look in turn.looks] == ["read"]
    assert "LOOK read" in turn.sent.messages[0].content
    assert turn.sent.messages[2].content == 'LOOK read {"path": "shop/rates.json"}'
    assert turn.sent.messages[3].role == "user"


async def test_a_one_token_change_withdraws_the_question(play):
    test = "from m import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n    assert add(4, -1) == 3\n"
    files = {"m.py": "def add(a, b):\n    return a - b\n", "tests/test_m.py": test}
    outcome, events = await play(files=files, target="tests/test_m.py::test_add")  # the script has no answer at all
    assert outcome.verified is Verified.VERIFIED, outcome.message
    assert outcome.after["m.py"] == "def add(a, b):\n    return a + b\n"
    assert not any(isinstance(event, Planned) for event in events)


async def test_the_first_question_leaves_before_the_baseline_is_done(play):
    outcome, events = await play(RIGHT)
    assert outcome.solved
    kinds = [type(event).__name__ for event in events]
    assert kinds.index("Started") < kinds.index("Planned")
    assert [type(event) for event in events if isinstance(event, Tested)]
