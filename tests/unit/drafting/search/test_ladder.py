"""The ladder as a function of the attempts so far: which rung is next, on whose code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.attempt import Attempt, Candidate, Draft, Move
from greenloop.core.records.model import Role, Room
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.search import ladder
from greenloop.project.settings import LadderSettings
from greenloop_sandbox import CaseResult, Failure, Frame

SOURCE = "def f(a):\n    b = a + 1\n    return b\n"
STUB = 'def f(a):\n    """One more."""\n    raise NotImplementedError\n'
CASES = tuple(Case(id=f"t.py::test_{number}", path="t.py", line=number) for number in (1, 2))


def problem(text: str) -> Problem:
    return Problem(
        root=Path("/w"),
        spec=Spec(cases=CASES, selectors=("t.py",)),
        regions=(Region(path="m.py", qualname="f", start=1, end=3),),
        originals={"m.py": text},
        files={"m.py": text},
    )


def verdict(passed: int) -> Verdict:
    cases = tuple(
        CaseResult(id=case.id, outcome="passed" if number < passed else "failed") for number, case in enumerate(CASES)
    )
    return Verdict(status=Status.FAILED, cases=cases)


BASE = Attempt(number=0, verdict=verdict(0))
FOUR = Room(slots=4)


def climb(
    text: str, rounds: int, scores: dict[int, int] | None = None, subject: Problem | None = None, room: Room = FOUR
) -> list[list[Draft]]:
    """The rounds when every attempt fails, passing as many cases as `scores` says (by attempt number, else none)."""
    subject = subject or problem(text)
    attempts, result = [BASE], []
    for _ in range(rounds):
        drafts = list(ladder.plan(subject, attempts, room=room))
        result.append(drafts)
        for draft in drafts:
            number = len(attempts)
            candidate = Candidate(texts={subject.regions[0]: f"def f(a):\n    b = {number}\n    return b\n"})
            attempts.append(
                Attempt(
                    number=number,
                    parent=draft.parent,
                    draft=draft,
                    candidate=candidate,
                    verdict=verdict((scores or {}).get(number, 0)),
                )
            )
    return result


def moves(rounds: list[list[Draft]]) -> list[str]:
    return [" ".join(f"{draft.move}<{draft.parent}" for draft in drafts) for drafts in rounds]


def test_what_is_written_is_repaired_from_cheap_to_dear():
    assert moves(climb(SOURCE, 9)) == [
        "mutate<0",
        "infill<0 infill<0",
        "draft<0",
        "restart<0",
        "infill<0 infill<0",
        "infill<0",
        "infill<0 infill<0",
        "restart<0 restart<0 restart<0 restart<0",
        "restart<0 restart<0 restart<0 restart<0",
    ]


@pytest.mark.parametrize("text", [SOURCE, STUB], ids=["written", "not written"])
def test_a_model_with_one_slot_is_asked_the_same_one_by_one_and_no_more(text):
    one_by_one = climb(text, 40, room=Room(slots=1))
    assert {len(drafts) for drafts in one_by_one} == {0, 1}
    asked = [draft for drafts in one_by_one for draft in drafts]
    assert asked == [draft for drafts in climb(text, 9) for draft in drafts][: len(asked)]
    assert {draft.variant for draft in asked} == {0}


def test_what_passes_more_tests_is_climbed_on():
    rounds = moves(climb(SOURCE, 4, {2: 1}))
    assert rounds == ["mutate<0", "infill<0 infill<0", "mutate<2", "infill<2 infill<2"]


def test_a_small_change_that_breaks_other_tests_is_not_climbed_on():
    (mutate,) = ladder.plan(problem(SOURCE), [BASE])
    broken = CaseResult(id="t.py::test_other", outcome="failed")
    candidate = Candidate(texts={problem(SOURCE).regions[0]: "def f(a):\n    b = 1\n    return b\n"})
    breaks = Attempt(
        number=1, draft=mutate, candidate=candidate, verdict=replace(verdict(2), collateral=(broken,)), parent=0
    )
    assert [draft.parent for draft in ladder.plan(problem(SOURCE), [BASE, breaks], room=FOUR)] == [0, 0]
    whole = replace(breaks, draft=replace(mutate, move=Move.DRAFT))
    assert [draft.parent for draft in ladder.plan(problem(SOURCE), [BASE, whole])] == [1]


def test_what_is_not_written_is_drafted_then_sampled_in_growing_batches():
    assert moves(climb(STUB, 5, {4: 1}, room=Room(slots=16))) == [
        "draft<0",
        "draft<0 draft<0 draft<0 draft<0",
        "mutate<4",
        " ".join(["draft<0"] * 5),
        " ".join(["draft<0"] * 10),
    ]


def test_samples_have_different_temperatures():
    (_greedy, samples, *_rest) = climb(STUB, 2)
    assert len({draft.temperature for draft in samples}) == 4


def test_the_most_suspected_line_is_filled_first():
    subject = replace(problem(SOURCE), suspicion={"m.py": {2: 0.1, 3: 0.9}})
    attempts = [BASE]
    (mutate,) = ladder.plan(subject, attempts)
    attempts.append(Attempt(number=1, parent=0, draft=mutate, verdict=Verdict(status=Status.REFUSED)))
    assert [draft.masked.start for draft in ladder.plan(subject, attempts, room=FOUR)] == [3, 2]


def test_a_single_test_is_not_enough_to_believe_a_change_of_a_draft():
    subject = replace(problem(STUB), spec=Spec(cases=CASES[:1], selectors=("t.py",)))
    moves_of = [draft.move for drafts in climb(STUB, 5, {2: 1}, subject) for draft in drafts]
    assert Move.MUTATE not in moves_of


def test_no_more_samples_are_drawn_where_their_tests_only_vote():
    voting = tuple(replace(case, provenance=Provenance.DESIGNED) for case in CASES)
    subject = replace(problem(STUB), spec=Spec(cases=voting, selectors=("t.py",)))
    assert subject.spec.open
    assert moves(climb(STUB, 4, subject=subject))[2:] == ["restart<0 restart<0 restart<0 restart<0", ""]


# -- several suspects ---------------------------------------------------------------------------------------------

SUSPECT, LAST = Region(path="m.py", qualname="g", start=5, end=7), Region(path="m.py", qualname="h", start=9, end=11)
THREE = "\n\n".join(SOURCE.replace("f(a)", f"{name}(a)").rstrip("\n") for name in "fgh") + "\n"


def with_suspects() -> Problem:
    return replace(problem(THREE), suspects=(SUSPECT, LAST))


def plan_after(*attempts: Attempt) -> list[tuple[str, tuple[str, ...]]]:
    drafts = ladder.plan(with_suspects(), [BASE, *attempts], room=FOUR)
    return [(str(draft.move), tuple(region.qualname for region in draft.regions)) for draft in drafts]


def tried(number: int, draft: Draft, *, error: str = "", passed: int = 0) -> Attempt:
    region = draft.regions[0] if draft.regions else with_suspects().regions[0]
    candidate = None if error else Candidate(texts={region: f"def {region.qualname}(a):\n    return {number}\n"})
    return Attempt(
        number=number,
        parent=draft.parent,
        draft=draft,
        candidate=candidate,
        error_class=error,
        verdict=Verdict(status=Status.REFUSED) if error else verdict(passed),
    )


def go_on(attempts: list[Attempt], *, error: str = "", passed: int = 0) -> None:
    """Makes an attempt of each draft of the next round."""
    for draft in ladder.plan(with_suspects(), [BASE, *attempts], room=FOUR):
        attempts.append(tried(len(attempts) + 1, draft, error=error, passed=passed))


def test_cheap_changes_are_tried_in_three_suspects_before_the_model_is_asked():
    attempts: list[Attempt] = []
    assert plan_after() == [("mutate", ())]
    go_on(attempts, error="NoGain")
    assert plan_after(*attempts) == [("mutate", ("g",))]
    go_on(attempts, error="NoGain")
    assert plan_after(*attempts) == [("mutate", ("h",))]
    go_on(attempts, error="NoGain")
    assert plan_after(*attempts) == [("infill", ()), ("infill", ())]


def test_cheap_changes_in_later_suspects_wait_for_the_holes_of_the_first():
    text = "\n\n".join(SOURCE.replace("f(a)", f"{name}(a)").rstrip("\n") for name in "fghij") + "\n"
    regions = [Region(path="m.py", qualname=name, start=1 + 4 * n, end=3 + 4 * n) for n, name in enumerate("fghij")]
    subject = replace(problem(text), regions=tuple(regions[:1]), suspects=tuple(regions[1:]))
    attempts, rounds = [BASE], []
    for _ in range(7):
        drafts = ladder.plan(subject, attempts, room=FOUR)
        rounds.append((str(drafts[0].move), *(region.qualname for region in drafts[0].regions)))
        attempts += [tried(len(attempts) + n, draft, error="NoGain") for n, draft in enumerate(drafts)]
    changes, later = [("mutate",), ("mutate", "g"), ("mutate", "h")], [("mutate", "i"), ("mutate", "j")]
    assert rounds == [*changes, ("infill",), *later, ("draft",)]


def test_each_suspect_has_its_turn_before_anyone_has_a_second():
    attempts: list[Attempt] = []
    for _ in range(5):
        go_on(attempts, error="NoGain")
    assert plan_after(*attempts) == [("infill", ("g",)), ("infill", ("g",))]
    go_on(attempts, error="NoGain")
    assert plan_after(*attempts) == [("draft", ("g",))]
    for _ in range(3):
        go_on(attempts, error="NoGain")
    assert plan_after(*attempts) == [("restart", ())]


def test_a_suspect_whose_change_passes_more_tests_comes_first():
    better = tried(1, Draft(parent=0, move=Move.MUTATE, role=Role.REFINER, regions=(LAST,)), passed=1)
    others = [
        tried(n, Draft(parent=0, move=Move.MUTATE, role=Role.REFINER, regions=each), error="NoGain")
        for n, each in ((2, ()), (3, (SUSPECT,)))
    ]
    assert plan_after(better, *others) == [("mutate", ("h",))]  # now of the better text
    assert ladder.plan(with_suspects(), [BASE, better, *others])[0].parent == 1


def test_a_suspect_whose_change_lets_a_test_fail_later_comes_first():
    def failing_at(attempt: Attempt, line: int) -> Attempt:
        failure = Failure(type="AssertionError", message="", frames=(Frame(path="t.py", line=line, function="test_1"),))
        cases = tuple(replace(case, failure=failure) for case in verdict(0).cases)
        return replace(attempt, verdict=Verdict(status=Status.FAILED, cases=cases))

    attempts = [failing_at(BASE, 4)]
    for region in ((), (SUSPECT,), (LAST,)):
        draft = Draft(parent=0, move=Move.MUTATE, role=Role.REFINER, regions=region)
        attempts.append(tried(len(attempts), draft, error="NoGain"))
    answer = tried(4, Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, regions=(LAST,)))
    assert {each.regions for each in ladder.plan(with_suspects(), [*attempts, failing_at(answer, 3)])} == {()}
    assert {each.regions for each in ladder.plan(with_suspects(), [*attempts, failing_at(answer, 7)])} == {(LAST,)}


def test_a_suspect_that_the_model_only_copies_falls_back():
    attempts: list[Attempt] = []
    for _ in range(4):
        go_on(attempts, error="NoGain")
    go_on(attempts, error="Unchanged")  # the whole answer about f
    for _ in range(4):
        go_on(attempts, error="NoGain")
    assert plan_after(*attempts) == [("restart", ("g",))]


def test_an_answer_about_another_suspect_belongs_to_that_one():
    draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)
    answer = Candidate(texts={LAST: "def h(a):\n    return 3\n"})
    attempt = Attempt(number=1, parent=0, draft=draft, candidate=answer, verdict=verdict(1))
    assert plan_after(attempt) == [("mutate", ())]
    focus = ladder._focus(with_suspects(), (LAST,), [BASE, attempt])
    assert [each.number for each in focus.attempts] == [0, 1]


def test_ten_suspects_get_a_whole_answer_within_the_attempts_of_the_preset():
    body = "".join(f"    a = a + {number}\n" for number in range(10)) + "    return a\n"
    text = "\n\n".join(f"def f{number}(a):\n{body}" for number in range(10))
    regions = [Region(path="m.py", qualname=f"f{n}", start=1 + 14 * n, end=12 + 14 * n) for n in range(10)]
    subject = replace(problem(text), regions=tuple(regions[:1]), suspects=tuple(regions[1:]))
    attempts = [BASE]
    while {draft.regions for draft in drafts_of(attempts, Move.DRAFT)} != {(), *((each,) for each in regions[1:])}:
        for draft in ladder.plan(subject, attempts):
            attempts.append(tried(len(attempts), draft, error="NoGain"))
    assert len(attempts) - len(drafts_of(attempts, Move.MUTATE)) <= 40


def test_what_an_answer_about_another_could_have_changed_is_asked_about_later():
    subject = replace(with_suspects(), places=2)
    attempts: list[Attempt] = [BASE]
    while Move.RESTART not in [attempt.draft.move for attempt in attempts if attempt.draft]:
        for draft in ladder.plan(subject, attempts):
            attempts.append(tried(len(attempts), draft, error="NoGain"))
    asked = [draft.regions for draft in drafts_of(attempts, Move.DRAFT)]
    assert asked == [(), (LAST,)]  # the first answer was shown g too
    attempts = attempts[:1]
    for _ in range(40):
        for draft in ladder.plan(subject, attempts):
            attempts.append(tried(len(attempts), draft, error="NoGain"))
    assert (SUSPECT,) in [draft.regions for draft in drafts_of(attempts, Move.DRAFT)]


def whole(number: int, region: Region, *passing: int, message: str = "") -> Attempt:
    draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER, regions=(region,))
    attempt = tried(number, draft)
    failure = Failure(type="AttributeError" if message else "AssertionError", message=message)
    cases = tuple(
        replace(case, outcome="passed", failure=None)
        if index in passing
        else replace(case, outcome="failed", failure=failure)
        for index, case in enumerate(attempt.verdict.cases)
    )
    return replace(attempt, verdict=replace(attempt.verdict, cases=cases))


def merges_after(*attempts: Attempt) -> list[tuple[int, tuple[int, ...]]]:
    """The merges that follow, as parent and others."""
    base = whole(0, SUSPECT)
    return [(draft.parent, draft.others) for draft in ladder._merges([base, *attempts])]


def test_answers_about_different_functions_are_merged_where_one_of_them_changes_the_failure():
    assert merges_after(whole(1, SUSPECT), whole(2, LAST)) == []
    assert merges_after(whole(1, SUSPECT, message="no b"), whole(2, LAST), whole(3, LAST)) == [(2, (1,)), (3, (1,))]
    assert merges_after(whole(1, SUSPECT), whole(2, LAST, message="no b")) == [(2, (1,))]
    assert merges_after(whole(1, SUSPECT), whole(2, SUSPECT, message="no b")) == []


def drafts_of(attempts: list[Attempt], move: Move) -> list[Draft]:
    return [attempt.draft for attempt in attempts if attempt.draft and attempt.draft.move is move]


def test_settings_say_how_many_rungs_there_are_in_which_order_and_how_hot():
    steps = LadderSettings(order=["answer", "samples", "holes"], first=1, temperatures=[0.3, 0.5])
    attempts, rounds = [BASE], []
    for _ in range(5):
        drafts = ladder.plan(problem(SOURCE), attempts, steps, FOUR)
        rounds.append(drafts)
        attempts += [Attempt(number=len(attempts), parent=0, draft=draft, verdict=verdict(0)) for draft in drafts]
    assert moves(rounds) == ["mutate<0", "draft<0", "restart<0 restart<0", "infill<0", " ".join(["restart<0"] * 4)]
    assert [draft.temperature for draft in rounds[2]] == [0.3, 0.5]
    assert all(0.4 <= draft.temperature <= 0.5 for draft in rounds[4])
    assert ladder.plan(problem(SOURCE), [BASE]) == ladder.plan(problem(SOURCE), [BASE], LadderSettings())


def stopping(*functions: str) -> Verdict:
    """As many cases as functions are named, each of which fails in one of them."""
    frames = [(Frame(path="m.py", line=3, function=name),) for name in functions]
    failures = [Failure(type="KeyError", message="", frames=each) for each in frames]
    cases = zip(CASES, failures, strict=False)
    return Verdict(
        status=Status.FAILED,
        cases=tuple(CaseResult(id=case.id, outcome="failed", failure=each) for case, each in cases),
    )


def test_a_written_function_in_which_tests_stop_before_and_after_an_answer_comes_next():
    text = STUB + "def g(a):\n    c = a[0]\n    return c\n"
    beside = Region(path="m.py", qualname="g", start=4, end=6)
    subject = replace(problem(text), suspects=(beside,))
    answer = Candidate(texts={subject.regions[0]: "def f(a):\n    return g(a)\n"})
    draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)

    def next_draft(before: Verdict, after: Verdict) -> Draft:
        first = Attempt(number=1, parent=0, draft=draft, candidate=answer, verdict=after)
        return ladder.plan(subject, [Attempt(number=0, verdict=before), first])[0]

    wanted = Draft(parent=1, move=Move.MUTATE, role=Role.REFINER, regions=(beside,))
    assert next_draft(stopping("f", "g"), stopping("g")) == wanted
    assert next_draft(stopping("f", "f"), stopping("g")) != wanted  # the answer calls it wrongly
    assert next_draft(stopping("f", "g"), stopping("f")) != wanted


def failing_at(line: int) -> Verdict:
    frames = (Frame(path="t.py", line=line, function="test_1"),)
    failure = Failure(type="AssertionError", message="", frames=frames)
    return Verdict(status=Status.FAILED, cases=(CaseResult(id=CASES[0].id, outcome="failed", failure=failure),))


def test_a_written_function_that_tests_reach_only_with_an_answer_comes_last():
    text = STUB + "def g(a):\n    c = a[0]\n    return c\n"
    beside = Region(path="m.py", qualname="g", start=4, end=6)
    subject = replace(problem(text), suspects=(beside,))
    subject = replace(subject, files={**subject.files, "t.py": "def test_1():\n    assert f(1)\n    assert g(1)\n"})

    def asked_about_it(line: int) -> list[bool]:
        """Which rounds are about `g`, where every answer lets the test fail in this line?"""
        attempts, rounds = [Attempt(number=0, verdict=failing_at(2))], []
        while drafts := list(ladder.plan(subject, attempts)):
            rounds.append(any(beside in draft.regions for draft in drafts))
            for draft in drafts:
                number = len(attempts)
                candidate = Candidate(texts={subject.regions[0]: f"def f(a):\n    return {number}\n"})
                about = {"parent": draft.parent, "draft": draft, "candidate": candidate}
                attempts.append(Attempt(number=number, verdict=failing_at(line), **about))
        return rounds

    assert sorted(asked_about_it(3)) == asked_about_it(3)
    assert any(asked_about_it(3))
    assert not any(asked_about_it(2))
