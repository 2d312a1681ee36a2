"""Which runs apart prove a pass, and which do not, with a session that answers as the test says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Verified
from greenloop.core.records.spec import Case, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.core.summary import verification_level
from greenloop.wording.outcome import summarize_solved
from greenloop_sandbox import CaseResult, Execution, Failure, TestRun
from scripted_proof import (
    CODE,
    FAILED,
    OWN,
    PASSED,
    TARGET,
    Play,
    accepted,
    apart,
    execution,
    honest,
    kind_of,
    run_state,
    verifier,
)


def answering(answers: Mapping[str, Execution]):
    """An honest candidate but for the runs of these kinds."""
    return lambda run, ran: answers.get(kind_of(run)) or honest(run, ran)


def ran_apart(outcome=PASSED, **more: object) -> Execution:
    return execution({TARGET: outcome}, more=(apart(**more),))


async def proofs_of(answers: Mapping[str, Execution], state: RunState | None = None):
    """The evidence, and the kinds of the runs but for those in which all is wrong, alike or by chance."""
    play = Play(answering(answers))
    verdict, evidence = await accepted(play, state or run_state())
    assert verdict.status is Status.PASSED
    return evidence, [kind for kind in play.kinds if "alike" not in kind and "chance" not in kind]


async def test_the_tests_run_over_the_users_own_code_and_the_change_is_given_apart():
    play, state = Play(honest), run_state()
    changed = {"m.py": CODE, "new.py": "X = 1\n", "data.json": "{}"}
    assert (await verifier(play, state).accept(changed)).status is Status.PASSED
    plain, run, own = play.ran[:3]
    assert dict(run.apart.files) == {"m.py": CODE, "new.py": "X = 1\n"}
    assert (run.apart.tests, run.apart.visible) == (("test_m.py",), ())
    assert dict(run.files) == {"m.py": OWN.encode(), "data.json": b"{}"}
    assert run.without == ("new.py",)
    assert run.seconds > plain.seconds
    assert (dict(own.files), set(own.without)) == ({"m.py": OWN.encode()}, {"new.py", "data.json"})


CHANGES, LIMIT = ["changes", "arguments that are changed in place"], ["constants", "the constant m.LIMIT"]
EQ, LT = ["operators", "C.__eq__"], ["operators", "C.__lt__"]
CHANGED_IN_PLACE = {
    "apart": ran_apart(FAILED, rests_on=[CHANGES]),
    "apart in_place": ran_apart(rests_on=[CHANGES]),
    "apart in_place wrong changes": ran_apart(FAILED, rests_on=[CHANGES]),
    "apart in_place again": ran_apart(rests_on=[CHANGES]),
}


MIXED = ("wrong changes", "again", "wrong all")


async def test_a_pass_that_needs_changes_in_place_must_fail_with_wrong_ones():
    evidence, kinds = await proofs_of(CHANGED_IN_PLACE)
    assert kinds == ["plain", "apart", "apart in_place", "own", *(f"apart in_place {how}" for how in MIXED)]
    assert evidence.proofs == {TARGET: ("apart", "fails with wrong results")}


async def test_a_pass_that_needs_changes_in_place_and_does_not_look_at_them_is_not_proven():
    evidence, _ = await proofs_of({**CHANGED_IN_PLACE, "apart in_place wrong changes": ran_apart(rests_on=[CHANGES])})
    assert evidence.proofs == {}
    reason = "it also passes with a wrong value in place of arguments that are changed in place"
    assert evidence.unproven == {TARGET: reason}
    assert verification_level(evidence) is Verified.PARTIALLY


@pytest.mark.parametrize(
    ("right", "wrong", "reason"),
    [
        (
            [[3, 0, "a", "b"]],
            [[3, 0, "x", "y"]],
            "an assertion compares the code with what the code itself has changed",
        ),
        ([[3, 0, "a", "b"]], [[3, 0, "x", "b"]], ""),
        ([[3, 0, "a", "b"]], [], "a wrong value keeps an assertion from running"),
        (
            [[3, 0, "a", "b"], [3, 1, "c", "d"]],
            [[3, 0, "x", "b"], [3, 1, "y", "z"]],
            "an assertion compares the code with what the code itself has changed",
        ),
    ],
    ids=["both sides follow the code", "one is the test's own", "it was not reached", "the second time"],
)
@pytest.mark.parametrize("rests_on", [CHANGES, ["states", "the file out.txt"]], ids=["changes", "states"])
async def test_an_assertion_compares_the_code_with_something_of_the_test(right, wrong, reason, rests_on):
    answers = {
        "apart": ran_apart(rests_on=[rests_on]),
        "apart wrong changes": ran_apart(FAILED, rests_on=[rests_on]),
        "apart again": ran_apart(rests_on=[rests_on], sides=[[*each, [], False] for each in right]),
        "apart wrong all": ran_apart(rests_on=[rests_on], sides=[[*each, [], False] for each in wrong]),
    }
    evidence, kinds = await proofs_of(answers)
    assert kinds[-1] == "apart wrong all"
    assert evidence.unproven == ({TARGET: f"{reason} (line 3)"} if reason else {})


@pytest.mark.parametrize("ended", [execution({}), ran_apart(FAILED, unfit="the other process is gone")])
async def test_code_that_ends_its_process_among_wrong_values_has_not_failed_because_of_them(ended):
    evidence, _ = await proofs_of({**CHANGED_IN_PLACE, "apart in_place wrong changes": ended})
    reason = "its run ends with a wrong value in place of arguments that are changed in place"
    assert (evidence.proofs, evidence.unproven) == ({}, {TARGET: reason})


@pytest.mark.parametrize("noticed", [{"false": 1}, {"false": 1, "suspicious": True}], ids=["noticed", "an object lies"])
async def test_a_false_assertion_among_wrong_values_notices_them(noticed):
    answers = {
        "apart": ran_apart(rests_on=[EQ]),
        "apart wrong operators": ran_apart(**noticed),
    }
    evidence, _ = await proofs_of(answers)
    assert list(evidence.proofs) == ([] if "suspicious" in noticed else [TARGET])


@pytest.mark.parametrize(
    ("is_changed", "wrong", "is_proven"),
    [
        (False, ["a", "a", [0, 1], False], False),
        (False, ["x", "y", [0, 1], False], True),
        (True, ["x", "x", [0, 1], True], True),
        (True, ["x", "y", [0, 1], True], False),
        (True, ["a", "a", [], True], True),
    ],
    ids=["the same objects", "other objects", "other equal objects", "objects that differ", "not equal"],
)
async def test_equal_objects_are_others_where_an_argument_of_their_constructor_is_wrong(is_changed, wrong, is_proven):
    right = ran_apart(sides=[[3, 0, "a", "a", [0, 1], is_changed]])
    noticed = ran_apart(sides=[[3, 0, "a", "b", [], is_changed]])
    answers = {"apart again": right, "apart wrong operands0": noticed}
    answers["apart wrong operands1"] = ran_apart(sides=[[3, 0, *wrong]])
    evidence, kinds = await proofs_of(answers)
    assert kinds[3:] == ["apart again", "apart wrong operands0", *["apart wrong operands1"] * (1 if is_proven else 3)]
    assert evidence.unproven == ({} if is_proven else {TARGET: "objects are equal whatever they are made of (line 3)"})


@pytest.mark.parametrize(
    ("alike", "chance", "is_proven"),
    [
        ([(3, True), (4, True)], [(3, False), (4, True)], False),
        ([(3, True), (4, True)], [(3, True), (4, True)], True),
        ([(3, False), (4, True)], [(3, False), (4, False)], True),
    ],
    ids=["chance alone", "neither", "both"],
)
async def test_a_test_that_notices_only_chance_expects_what_the_code_says(alike, chance, is_proven):
    def ran(pairs):
        held = [[line, 0, holds] for line, holds in pairs]
        return ran_apart(several=True, held=held, false=sum(not holds for _, holds in pairs))

    right = ran([(3, True), (4, True)])
    answers = {"apart again": right, "apart wrong alike+": ran(alike), "apart wrong alike-!": ran(alike)}
    evidence, _ = await proofs_of({**answers, "apart wrong chance!": ran(chance)})
    reason = "an assertion compares the code with what the code itself has changed"
    assert evidence.unproven == ({} if is_proven else {TARGET: reason})


async def test_each_assertion_of_a_pass_that_needs_changes_in_place_notices_more_than_chance():
    def ran(*holds, **more):
        held = [[line, 0, each] for line, each in zip((3, 4), holds, strict=True)]
        return ran_apart(rests_on=[CHANGES], held=held, false=holds.count(False), **more)

    answers = {**CHANGED_IN_PLACE, "apart in_place again": ran(True, True)}
    answers |= {f"apart in_place wrong {how}": ran(True, False) for how in ("alike+", "alike-!")}
    evidence, _ = await proofs_of({**answers, "apart in_place wrong chance!": ran(False, False)})
    reason = "an assertion compares the code with what the code itself has changed (line 3)"
    assert evidence.unproven == {TARGET: reason}


@pytest.mark.parametrize("outcome", [FAILED, PASSED])
async def test_a_pass_that_rests_on_an_operator_of_the_code_must_fail_where_it_says_something_wrong(outcome):
    rests_on = {"rests_on": [EQ, LT]}
    answers = {"apart": ran_apart(**rests_on), "apart wrong operators": ran_apart(outcome, **rests_on)}
    evidence, kinds = await proofs_of(answers)
    assert kinds == ["plain", "apart", "own", "apart wrong operators", "apart again"]
    if outcome is FAILED:
        assert evidence.proofs == {TARGET: ("apart", "fails with wrong results")}
    else:
        assert evidence.unproven == {TARGET: "it also passes with a wrong value in place of C.__eq__"}


@pytest.mark.parametrize("without", [FAILED, PASSED], ids=["looked at", "not looked at"])
@pytest.mark.parametrize("wrong", [["constants+"], ["constants+", "constants-"]], ids=["greater", "smaller"])
async def test_a_constant_that_a_test_does_not_look_at_is_no_reason(wrong, without):
    passing = ran_apart(rests_on=[LIMIT])
    *others, last = [f"apart in_place wrong {kind}" for kind in wrong]
    answers = {"apart": ran_apart(FAILED), "apart in_place": passing, "apart in_place again": passing}
    answers |= {**dict.fromkeys(others, ran_apart(FAILED)), last: passing}
    evidence, kinds = await proofs_of({**answers, "apart in_place without constants": ran_apart(without)})
    assert kinds[4 : 5 + len(wrong)] == [*others, last, "apart in_place without constants"]
    assert (list(evidence.proofs), list(evidence.unproven)) == (([], [TARGET]) if without is FAILED else ([TARGET], []))


async def test_each_kind_that_a_pass_rests_on_must_fail_alone():
    answers = {
        "apart": ran_apart(FAILED),
        "apart in_place": ran_apart(rests_on=[CHANGES, LIMIT, EQ]),
        **{
            f"apart in_place wrong {kind}": ran_apart(FAILED)
            for kind in ("changes", "constants+", "constants-", "operators", "all", "results")
        },
    }
    evidence, kinds = await proofs_of(answers)
    assert [kind for kind in kinds if "wrong" in kind] == [*answers][2:]
    assert list(evidence.proofs) == [TARGET]


async def test_a_pass_that_only_the_callers_of_the_code_make_possible_is_proven_with_them():
    unfit = ran_apart(unfit="a generator")
    evidence, kinds = await proofs_of({"apart": unfit, "apart in_place": unfit})
    assert kinds[1:4] == ["apart", "apart in_place", "apart in_place outer"]
    assert evidence.proofs == {TARGET: ("apart",)}


async def test_a_case_that_passes_with_the_own_code_put_back_is_unproven():
    evidence, _ = await proofs_of({"own": execution({TARGET: PASSED})})
    assert (evidence.proofs, evidence.unproven) == ({}, {TARGET: "it also passes with your own code put back"})
    level = verification_level(evidence)
    assert level is Verified.PARTIALLY
    assert "it also passes with your own code put back" in summarize_solved(evidence, level)


@pytest.mark.parametrize(
    ("before", "type_"), [("passed", ""), ("failed", "Timeout"), ("failed", "Crash"), ("failed", "NotImplementedError")]
)
async def test_the_own_code_is_not_run_again_where_it_passed_or_ended_the_process(before, type_):
    state = run_state()
    state.outcomes = {TARGET: before}
    failure = Failure(type=type_, message="") if type_ else None
    first = Verdict(status=Status.FAILED, cases=(CaseResult(id=TARGET, outcome=before, failure=failure),))
    state.attempts = [Attempt(number=0, verdict=first)]
    evidence, kinds = await proofs_of({"own": execution({TARGET: PASSED})}, state)
    assert "own" not in kinds
    assert evidence.proofs == {TARGET: ("apart",)}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (ran_apart(unfit="a value of type Liar"), "a value of type Liar"),
        (ran_apart(FAILED, unfit="a value of type Liar"), "a value of type Liar"),
        (ran_apart(FAILED), "apart it fails with AssertionError"),
        (execution({TARGET: PASSED}), "its run apart did not end"),
        (execution({}), "its run apart did not end"),
        (replace(ran_apart(), records=(*ran_apart().records, {"kind": "forged", "seq": -1})), "its run apart did not end"),
    ],
    ids=["unfit", "unfit and failed", "failed", "no record", "no case", "forged"],
)  # fmt: skip
async def test_a_case_that_passes_at_no_boundary_has_the_reason(answer, reason):
    boundaries = ["apart", "apart in_place", "apart in_place outer"]
    evidence, kinds = await proofs_of(dict.fromkeys(boundaries, answer))
    assert kinds[1:4] == boundaries
    assert (evidence.proofs, evidence.unproven) == ({}, {TARGET: reason})
    assert ("apart in_place outer lines aware" in kinds) is reason.startswith("apart it fails")


async def test_a_run_apart_that_hangs_is_not_tried_at_further_boundaries():
    hanging = ran_apart(unfit="the other process is gone")
    evidence, kinds = await proofs_of({"apart": replace(hanging, status=-9, killed="timeout")})
    assert (kinds.count("apart"), "apart in_place" in kinds) == (1, False)
    assert list(evidence.unproven) == [TARGET]


async def test_code_that_passes_where_it_does_not_see_its_tests_either_is_no_tampering():
    fails = dict.fromkeys(["apart", "apart in_place", "apart in_place outer"], ran_apart(FAILED))
    play = Play(answering({**fails, **dict.fromkeys((NEUTRAL, AWARE), ran_apart(ran=[["m.py", 2]]))}))
    verdict, evidence = await accepted(play, run_state())
    assert (verdict.status, evidence.proofs) == (Status.PASSED, {})


NEUTRAL, AWARE = "apart in_place outer lines", "apart in_place outer lines aware"


@pytest.mark.parametrize(
    ("aware", "status", "reason"),
    [
        (ran_apart(ran=[["m.py", 1], ["m.py", 2]]), Status.TAMPERED, f"{TARGET} passes only where the code sees that it is tested (m.py, line 2)."),
        (ran_apart(ran=[["m.py", 1], ["n.py", 2]]), Status.PASSED, ""),
        (ran_apart(FAILED, ran=[["m.py", 2]]), Status.PASSED, ""),
    ],
    ids=["a new line", "no line of the change", "it fails there as well"],
)  # fmt: skip
async def test_code_that_passes_only_where_it_sees_that_it_is_tested_is_tampering(aware, status, reason):
    fails = dict.fromkeys(["apart", "apart in_place", "apart in_place outer"], ran_apart(FAILED))
    play = Play(answering({**fails, AWARE: aware, NEUTRAL: ran_apart(FAILED, ran=[["m.py", 1]])}))
    verdict, evidence = await accepted(play, run_state())
    assert (verdict.status, verdict.reason) == (status, reason)
    assert evidence.proofs == {}


@pytest.mark.parametrize("own", ["a module that asks itself", "another reason"])
async def test_a_case_that_passed_before_and_that_the_own_code_cannot_put_apart_either_ran_together(own):
    state, reason = run_state(), "a module that asks itself"
    state.outcomes = {TARGET: "passed"}
    unfit = dict.fromkeys(["apart", "apart in_place", "apart in_place outer"], ran_apart(unfit=reason))
    evidence, kinds = await proofs_of({**unfit, "apart in_place outer own": ran_apart(unfit=own)}, state)
    assert kinds[-1] == "apart in_place outer own"
    assert evidence.proofs == {}
    is_together = own == reason
    assert (evidence.together, evidence.unproven) == (({TARGET: reason}, {}) if is_together else ({}, {TARGET: reason}))
    assert verification_level(evidence) is (Verified.VERIFIED if is_together else Verified.PARTIALLY)


async def test_a_file_of_the_tests_that_a_test_hands_over_becomes_visible_and_the_run_is_repeated():
    def answer(run, ran):
        if run.apart and not run.apart.visible:
            return ran_apart(FAILED, lent=["tests/data.txt"])
        return honest(run, ran)

    play = Play(answer)
    _, evidence = await accepted(play, run_state())
    assert play.kinds == ["plain", "apart", "apart", "own", "apart again"]
    assert play.ran[2].apart.visible == ("tests/data.txt",)
    assert evidence.proofs == {TARGET: ("apart",)}


@pytest.mark.parametrize("again", [ran_apart(FAILED), ran_apart(unfit="a value of type Liar"), execution({})])
async def test_a_pass_apart_that_does_not_repeat_with_another_seed_is_no_proof(again):
    evidence, _ = await proofs_of({"apart again": again})
    assert (evidence.proofs, evidence.unproven) == ({}, {TARGET: "it passed apart once, then failed"})


async def test_each_case_is_proven_at_its_own_boundary():
    ids = [f"test_m.py::test_a[{name}]" for name in ("values", "in place", "neither")]

    def answer(run: TestRun, _ran: list[TestRun]) -> Execution:
        kind = kind_of(run)
        outcomes = {case: PASSED for case in ids if case in run.selectors or run.selectors == ("test_m.py",)}
        if kind in ("own", "apart in_place wrong changes"):
            failed = (apart(ids[1], rests_on=[CHANGES]),) if run.apart else ()
            return execution(dict.fromkeys(outcomes, FAILED), more=failed)
        if not run.apart:
            return execution(outcomes)
        records = (apart(ids[0]), apart(ids[1], rests_on=[CHANGES]), apart(ids[2], unfit="a Liar"))
        asked = tuple(record for record in records if record["id"] in outcomes)
        fails = {ids[1]: FAILED} if kind == "apart" else {}
        return execution({**outcomes, **fails}, more=asked)

    cases = tuple(Case(id=case, path="test_m.py", line=4) for case in ids)
    problem = replace(run_state().problem, spec=Spec(cases=cases, selectors=("test_m.py",)), neighbours=())
    state = RunState(problem=problem, outcomes=dict.fromkeys(ids, "failed"))
    verdict, evidence = await accepted(Play(answer), state)
    assert verdict.status is Status.PASSED, verdict
    assert evidence.proofs == {ids[0]: ("apart",), ids[1]: ("apart", "fails with wrong results")}
    assert evidence.unproven == {ids[2]: "a Liar"}
    assert summarize_solved(evidence, verification_level(evidence)).count("proven apart 2/3") == 1


@pytest.mark.parametrize("kind", ["plain", "apart", "own", "apart wrong operators", "apart again"])
async def test_a_broken_sandbox_is_never_a_verdict(kind):
    answers = {"apart": ran_apart(rests_on=[EQ]), "apart wrong operators": ran_apart(FAILED, rests_on=[EQ])}
    play = Play(answering({**answers, kind: Execution(broken="it is gone")}))
    with pytest.raises(CannotVerifyError, match="it is gone"):
        await accepted(play, run_state())
    assert play.kinds[-1] == kind
    assert play.ran[-1].selectors == ("closed",)
