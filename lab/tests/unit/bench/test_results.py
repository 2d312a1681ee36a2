"""Files of results."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.errors import UsageError
from greenloop.core.records.attempt import Attempt, Candidate, Draft, Look, Mask, Move
from greenloop.core.records.model import Role, ToolCall
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import Status, Verdict
from greenloop_lab.bench import results


def test_what_a_kill_cut_off_is_not_done_and_the_file_goes_on(six, tmp_path):
    path = tmp_path / "r.jsonl"
    for done in six[:2]:
        results.append(path, done)
    whole = path.read_bytes()
    for cut in (2, 5, 12, 300, 700):
        path.write_bytes(whole[:-cut])
        assert [done.key for done in results.read([path])] == [six[0].key]
        results.append(path, six[2])
        assert [done.key for done in results.read([path])] == [six[0].key, six[2].key]
        assert results.read([path])[1] == six_again(six[2])


def six_again(done):
    add = {"format": results.FORMAT}
    return results.TaskRunResult(run={**add, **done.run}, attempts=tuple({**add, **row} for row in done.attempts))


def test_a_later_run_takes_the_place_of_an_earlier_one(make, tmp_path):
    path = tmp_path / "r.jsonl"
    results.append(path, make("a", "1", reason="model"))
    results.append(path, make("a", "1", ("", True)))
    (done,) = results.read([path])
    assert done.run["right"]
    assert len(done.attempts) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"kind": "run"}\n', "format None"),
        ('{"format": 99, "kind": "run"}\n', "format 99; this version reads format 1"),
        ('{"task_id": 1}\n', "Line 1 .* is not a result"),
        ("hello\n", "Line 1 .* is not a result"),
        (None, "cannot be read"),
    ],
)
def test_what_holds_no_results_is_told(text, why, tmp_path):
    path = tmp_path / "r.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=why):
        results.read([path])


REGION = Region(path="m.py", qualname="Box.grow", start=1, end=3)
OTHER = Region(path="m.py", qualname="other", start=5, end=6)
RED = Verdict(status=Status.FAILED, cases=())


def attempt(number, move=None, *, region=None, candidate=(), about=()):
    mask = Mask(region=region, start=1, end=1) if region else None
    draft = Draft(parent=0, move=move, role=Role.DRAFTER, masked=mask, regions=about) if move else None
    texts = Candidate(texts=dict.fromkeys(candidate, "")) if candidate else None
    return Attempt(number=number, verdict=RED, draft=draft, candidate=texts)


@pytest.mark.parametrize(
    ("regions", "attempts", "functions", "right"),
    [
        ((REGION,), [attempt(1, Move.DRAFT)], ["m.py::Box.grow"], True),
        ((REGION,), [attempt(1, Move.DRAFT)], ["m.py::Box.grow.step"], True),
        ((REGION,), [attempt(1, Move.DRAFT)], ["m.py::Box", "n.py::Box.grow", "m.py::Box.growth"], False),
        ((REGION, OTHER), [attempt(1, Move.INFILL, region=OTHER)], ["m.py::Box.grow"], False),
        ((OTHER,), [attempt(1, Move.INFILL, region=REGION)], ["m.py::Box.grow"], True),
        ((OTHER,), [attempt(1, Move.DRAFT, candidate=[REGION])], ["m.py::Box.grow"], True),
        ((OTHER,), [attempt(1, Move.DRAFT, about=(REGION,))], ["m.py::Box.grow"], True),
        ((REGION,), [attempt(1, Move.DRAFT, about=(OTHER,))], ["m.py::Box.grow"], False),
        ((REGION,), [attempt(1, Move.MUTATE)], ["m.py::Box.grow"], None),
        ((REGION,), [attempt(1, Move.DRAFT)], [], None),
    ],
)
def test_a_run_asked_about_what_its_model_was_asked_to_write(problem, regions, attempts, functions, right):
    run = replace(problem("def f():\n    pass\n"), regions=regions)
    outcome = Outcome(
        solved=False,
        verified=Verified.UNVERIFIED,
        reason=StopReason.ATTEMPTS,
        message="",
        attempts=[attempt(0), *attempts],
    )
    assert results.asked_right(outcome, run, functions) is right
    assert results.asked_right(outcome, None, functions) is None


def test_a_whole_answer_asks_about_the_suspects_that_it_is_shown_and_a_hole_does_not(problem):
    run = replace(problem("def f():\n    pass\n"), regions=(OTHER,), suspects=(REGION,), places=2)
    for move, region, right in ((Move.DRAFT, None, True), (Move.INFILL, OTHER, False)):
        outcome = Outcome(
            solved=False,
            verified=Verified.UNVERIFIED,
            reason=StopReason.ATTEMPTS,
            message="",
            attempts=[attempt(0), attempt(1, move, region=region)],
        )
        assert results.asked_right(outcome, run, ["m.py::Box.grow"]) is right


def test_the_place_of_the_right_function_counts_the_regions_and_then_the_suspects(problem):
    run = replace(problem("def f():\n    pass\n"), regions=(OTHER,), suspects=(REGION,))
    assert results.place_of(run, ["m.py::Box.grow"]) == 2
    assert results.place_of(run, ["m.py::Box.grow", "m.py::other"]) == 1
    assert results.place_of(run, ["m.py::elsewhere"]) is None
    assert results.place_of(None, ["m.py::Box.grow"]) is None


async def test_an_attempt_says_what_it_was_about(problem):
    run = replace(problem("def f():\n    pass\n"), regions=(OTHER,), suspects=(REGION,))
    attempts = [attempt(0), attempt(1, Move.DRAFT), attempt(2, Move.DRAFT, about=(REGION,)), attempt(3, Move.TURN)]
    outcome = Outcome(
        solved=False, verified=Verified.UNVERIFIED, reason=StopReason.ATTEMPTS, message="", attempts=attempts
    )
    rows = await results.attempt_rows(outcome, run, judge=None)
    assert [row["asked"] for row in rows] == [
        [],
        ["m.py::other"],
        ["m.py::Box.grow"],
        ["m.py::Box.grow", "m.py::other"],
    ]


def test_looks_and_changed_lines_are_counted():
    look = Look(call=ToolCall(id="1", name="read", arguments="{}"), result="", summary="read m.py")
    outcome = Outcome(
        solved=True,
        verified=Verified.VERIFIED,
        reason=StopReason.SOLVED,
        message="",
        attempts=[attempt(0), replace(attempt(1, Move.TURN), looks=(look, look))],
        before={"m.py": "a = 1\nb = 2\n", "new.py": None},
        after={"m.py": "a = 1\nb = 3\n", "new.py": "c = 4\n"},
    )
    fields = results.outcome_fields(outcome, None, 0)
    assert (fields["looks"], fields["changed_lines"]) == (2, 3)
