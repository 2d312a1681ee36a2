"""The user's own word."""

from __future__ import annotations

from greenloop.core.records.outcome import Evidence, Verified
from greenloop.core.records.verdict import Status
from greenloop.core.summary import verification_level
from greenloop.plugins.requirements import human
from spec_problem import FAILED, LONG, PASSED, TEXT, AnsweringUser, judge_text, make_problem

GOOD = TEXT.replace("raise NotImplementedError", "return x")


async def test_the_user_is_shown_the_change_and_his_words_are_the_failure(tmp_path):
    user = AnsweringUser(human.REJECT, "It must  round\nup.")
    verdict = await judge_text(tmp_path, GOOD, PASSED, final=True, user=user, human=True)
    assert "-    raise NotImplementedError\n+    return x" in user.questions[0]
    assert "`f`" in user.questions[0]
    assert verdict.status is Status.FAILED
    rejected = verdict.cases[-1]
    assert (rejected.id, rejected.failure.type, rejected.failure.message) == (
        "m.py::f::human", "Rejected", "It must round up.",
    )  # fmt: skip


async def test_an_accepted_candidate_passes_and_no_answer_leaves_it_partial(tmp_path):
    accepted = await judge_text(tmp_path, GOOD, PASSED, final=True, user=AnsweringUser(human.ACCEPT), human=True)
    assert accepted.status is Status.PASSED
    assert accepted.cases[-1].passed
    unanswered = await judge_text(tmp_path, GOOD, PASSED, final=True, human=True)
    assert (unanswered.status, unanswered.cases[-1].outcome) == (Status.PASSED, "skipped")
    everything = {"user": (1, 1), "human": (1, 1)}
    assert verification_level(Evidence(sandbox="bubblewrap", cases=everything)) is Verified.VERIFIED
    assert (
        verification_level(Evidence(sandbox="bubblewrap", cases={**everything, "human": (0, 1)})) is Verified.PARTIALLY
    )


async def test_a_rejection_without_words_is_one(tmp_path):
    verdict = await judge_text(tmp_path, GOOD, PASSED, final=True, user=AnsweringUser(human.REJECT, None), human=True)
    assert verdict.status is Status.FAILED
    assert verdict.cases[-1].failure.message == "The user did not accept it and did not say why."


async def test_nobody_is_asked_about_what_fails_or_before_the_end(tmp_path):
    user = AnsweringUser()
    assert (await judge_text(tmp_path, GOOD, FAILED, final=True, user=user, human=True)) == FAILED
    assert (await judge_text(tmp_path, GOOD, PASSED, user=user, human=True)) == PASSED
    broken = await judge_text(tmp_path, LONG, PASSED, final=True, user=user, human=True, constraints=["forbid eval"])
    assert broken.status is Status.FAILED
    assert user.questions == []


async def test_a_long_change_is_shown_in_part(tmp_path):
    text = GOOD.replace("return x", "\n".join(["return x", *(f"    # {n} {'x' * 200}" for n in range(100))]))
    rows = human.format_change(make_problem(tmp_path, TEXT, "f"), {"m.py": text}).split("\n")
    assert len(rows) == human.ROWS + 1
    assert rows[-1].startswith("… and ")
    assert max(map(len, rows)) <= human.WIDE
