"""What a result means beyond its target is said in a clause of its summary, or in a sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conversation_attempts import BLEMISH, turn
from fake_engine import attempt, solved, unsolved
from greenloop.core.records.model import Usage
from greenloop.core.records.outcome import Evidence, Noticed, Survivor, Verified
from greenloop.core.text.json_codec import to_json
from greenloop.plugins.other_inputs.differences import Difference
from greenloop.wording.notes import describe_withdrawn, list_notes
from greenloop.wording.outcome import describe_related, summarize_solved

TESTS = tuple(f"t.py::test_{name}" for name in "abcde")
SURE = Evidence(
    sandbox="bubblewrap", cases={"user": (1, 1)}, proofs={TESTS[0]: ("apart",)}, neighbours_unchanged=1,
    neighbours_already_failing=3,
)  # fmt: skip


@pytest.mark.parametrize(
    ("also_fixed", "clause"),
    [
        (
            TESTS[:2],
            "Verified in bubblewrap: also fixes test_a, test_b, 1/1 target tests pass, no other tests affected (1 checked, 1 was already failing)",
        ),
        (
            TESTS[:1],
            "Verified in bubblewrap: also fixes test_a, 1/1 target tests pass, no other tests affected (1 checked, 2 were already failing)",
        ),
        ((), "target tests pass, no other tests affected (1 checked, 3 were already failing)"),
    ],
)
def test_other_tests_that_turned_green_are_a_clause(also_fixed, clause):
    assert clause in summarize_solved(replace(SURE, also_fixed=also_fixed), Verified.VERIFIED)


@pytest.mark.parametrize(
    ("still_red", "sentence"),
    [
        (TESTS[:1], " 1 test that fails for the same cause is still red: test_a."),
        (TESTS[:2], " 2 tests that fail for the same cause are still red: test_a, test_b."),
        (TESTS, " 5 tests that fail for the same cause are still red: test_a, test_b, test_c and 2 more."),
    ],
)
def test_tests_of_the_same_cause_that_stay_red_are_a_sentence(still_red, sentence):
    text = summarize_solved(
        replace(SURE, still_red=still_red, warnings=("It newly imports os in m.py.",)), Verified.VERIFIED
    )
    assert text.endswith(f"proven apart 1/1.{sentence} It newly imports os in m.py.")


SURVIVOR = Survivor(path="m.py", line=2, change="`<` → `<=` in `if a < b:`")


@pytest.mark.parametrize(
    ("killed", "tried", "least", "is_said"),
    [(2, 6, 0.5, True), (3, 6, 0.5, False), (0, 4, 0.5, False), (0, 5, 0.5, True), (0, 6, 0.0, False)],
)
def test_tests_that_notice_little_are_in_the_first_line(killed, tried, least, is_said):
    noticed = Noticed(killed=killed, tried=tried, least=least)
    sentence = summarize_solved(replace(SURE, data=left_open(noticed)), Verified.VERIFIED)
    assert (f"but its tests notice {killed} of {tried} one-token changes of it." in sentence) is is_said


def left_open(noticed=None, differences=(), doubts=()):
    others = {"differences": [to_json(each) for each in differences], "doubts": [*doubts]}
    return {"other_inputs": others, **({"noticed": to_json(noticed)} if noticed else {})}


def test_what_the_tests_leave_open_is_a_note(tmp_path):
    difference = Difference(path="m.py", line=3, call="f(3, 'x')", old="5", new="raises KeyError")
    noticed = Noticed(killed=4, tried=6, survivors=(SURVIVOR,) * 2, unreached=(("m.py", 9),))

    def notes(**found):
        return list_notes(replace(solved(tmp_path), evidence=replace(SURE, data=left_open(**found))))

    shown = "f(3, 'x'): old → 5, new → raises KeyError"
    accepted = "`<` → `<=` in `if a < b:`, m.py:2"
    assert notes(doubts=("`# TODO: large files`, m.py:7", "`raise NotImplementedError`, m.py:8"))[-1] == (
        "Green, and perhaps unfinished: `# TODO: large files`, m.py:7; `raise NotImplementedError`, m.py:8"
    )
    assert notes(differences=(difference, difference), noticed=noticed)[-2:] == (
        f"Green, though is this wanted? {shown}; {shown}, m.py:3",
        (
            f"Its tests notice 4 of 6 one-token changes of it; they also accept {accepted}; {accepted}; "
            "anything in m.py:9, which they never reach"
        ),
    )
    outcome = replace(solved(tmp_path), evidence=replace(SURE, data=left_open(noticed)))
    assert list_notes(replace(outcome, solved=False)) == ()
    assert notes(noticed=Noticed(killed=6, tried=6)) == ()
    assert notes(noticed=Noticed(unreached=(("m.py", 9),))) == (
        "Its tests reach none of its changed lines; they also accept anything in m.py:9, which they never reach",
    )


def test_what_turned_green_is_not_told_as_failing():
    assert describe_related(replace(SURE, also_fixed=TESTS[:3])) == ["1 related test unchanged"]


def test_flaky_tests_are_named():
    evidence = replace(SURE, neighbours_flaky=2, flaky=("test_m.py::test_a", "test_m.py::test_b"))
    assert describe_related(evidence)[-1] == "2 flaky (test_a, test_b)"


@pytest.mark.parametrize(
    ("usage", "sentence"),
    [
        (Usage(), ""),
        (Usage(prompt_tokens=1669), "A question to the model was no longer needed: about 1,669 tokens."),
        (Usage(prompt_tokens=1669, cost=0.0021), "A question to the model was no longer needed: about 1,669 tokens, $0.0021."),
        (
            Usage(prompt_tokens=1669, cost=None),
            "A question to the model was no longer needed: about 1,669 tokens, at an unknown price.",
        ),
    ],
)  # fmt: skip
def test_a_question_that_was_not_needed_is_told_with_its_price(usage, sentence):
    assert describe_withdrawn(usage) == sentence


def test_blemishes_of_the_accepted_attempt_are_notes():
    made = (attempt(0), turn(1, blemishes=("other",)), turn(2, blemishes=(BLEMISH,)))
    assert list_notes(solved(None, attempts=made)) == (BLEMISH,)
    assert list_notes(unsolved(attempts=made)) == ()
