"""Why an answer was rejected before any test ran."""

from __future__ import annotations

import pytest

from critic import Critic
from critique import BASELINE, PROBLEM, attempt
from greenloop.core.records.attempt import Finding
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting import infill
from greenloop.drafting.candidates.answers import parse_answer, search_replace
from greenloop.drafting.candidates.checks import gate, repetition, signature
from greenloop.drafting.feedback import cases, raw
from greenloop.drafting.feedback._rejected_answers import ADVICE, rejection_sentence
from greenloop.engine.loop import candidate_runs
from greenloop_lab.drafting.feedback import bug_taxonomy, explain, reflect, summary

ASKING = [explain, reflect, summary, bug_taxonomy]


@pytest.mark.parametrize("part", [*ASKING, raw, cases])
@pytest.mark.parametrize("name", sorted(ADVICE))
async def test_each_refusal_has_its_own_sentence_and_asks_no_model(part, name):
    finding = Finding(error_class=name, message="Something is wrong.", line=3)
    refused = attempt(candidate=None, verdict=Verdict(status=Status.REFUSED), finding=finding)
    note = await part.describe(PROBLEM, [BASELINE, refused], Critic().tools)
    assert note.text == rejection_sentence(finding)
    assert ADVICE[name] in note.text
    assert "Something is wrong. (line 3)" in note.text


def test_every_refusal_there_is_has_advice():
    named = {
        parse_answer.EMPTY,
        parse_answer.NO_CODE,
        parse_answer.TRUNCATED,
        parse_answer.WRONG,
        search_replace.SEARCH_NOT_FOUND,
        gate.UNCHANGED,
        gate.UNDEFINED,
        gate.ENCODING,
        signature.SIGNATURE,
        signature.DELETED,
        candidate_runs.REPEATED,
        infill.NO_LINE,
        repetition.REPETITION,
    }
    assert named | {"SyntaxError", "IndentationError", "TabError"} == set(ADVICE)


def test_refusals_differ_and_name_pythons_own_errors():
    texts = {rejection_sentence(Finding(error_class=name, message="M.")) for name in ADVICE}
    assert len(texts) == len(ADVICE)
    error = Finding(error_class="SyntaxError", message="invalid syntax in line 3: retrun n", line=3)
    assert rejection_sentence(error) == (
        "The code was not run: SyntaxError: invalid syntax in line 3: retrun n. Write valid Python."
    )
    other = Finding(error_class="NoGain", message="None of 9 one-token changes passes more tests.")
    assert rejection_sentence(other) == "The code was not run: None of 9 one-token changes passes more tests."


@pytest.mark.parametrize("part", [raw, cases])
@pytest.mark.parametrize(
    ("code", "name"), [("    return n + 0\n", "Repeated"), ("    return n  # as it was\n", "Unchanged")]
)
async def test_code_that_was_run_before_keeps_its_failures(part, code, name):
    finding = Finding(error_class=name, message="It repeats.")
    twin = attempt(2, code=code, verdict=Verdict(status=Status.REFUSED), finding=finding)
    note = await part.describe(PROBLEM, [BASELINE, attempt(), twin], Critic().tools)
    assert note.text.startswith(rejection_sentence(finding))
    assert "assert f(1) == 2" in note.text
