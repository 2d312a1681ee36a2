"""How many further samples are drawn, how hot they are, and when they end."""

from __future__ import annotations

import pytest

from greenloop.core.records.attempt import Attempt, Candidate, Draft, Move
from greenloop.core.records.model import Role, Room, Usage
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.search._progress import QUIET, further_samples, is_quiet

HEATS = (0.6, 0.75, 0.9, 1.0)


def sample(number: int, error: str = "AssertionError", *, tokens: int = 0, seconds: float = 0.0) -> Attempt:
    return Attempt(
        number=number,
        parent=0,
        draft=Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER),
        candidate=Candidate(texts={}),
        error_class=error,
        usage=Usage(completion_tokens=tokens, test_seconds=seconds),
        verdict=Verdict(status=Status.FAILED),
    )


def drawn(count: int, **usage: float) -> list[Attempt]:
    return [
        Attempt(number=0, verdict=Verdict(status=Status.FAILED)),
        *(sample(number, **usage) for number in range(1, count + 1)),
    ]


def draw(attempts: list[Attempt], room: Room) -> list[Draft]:
    return further_samples(attempts, Move.DRAFT, HEATS, room)


@pytest.mark.parametrize(
    ("slots", "sizes"),
    [(1, [0]), (2, [2, 2, 2]), (4, [4, 4, 4]), (16, [5, 10, 16, 16]), (32, [5, 10, 20, 32])],
)
def test_batches_grow_up_to_the_slots(slots, sizes):
    attempts = drawn(5)
    for size in sizes:
        drafts = draw(attempts, Room(slots=slots))
        assert len(drafts) == size
        attempts += [sample(len(attempts) + number) for number in range(size)]


def test_no_two_samples_are_asked_for_alike():
    attempts, drafts = drawn(5), []
    for _ in range(4):
        batch = draw(attempts, Room(slots=16))
        drafts += batch
        attempts += [sample(len(attempts) + number) for number in range(len(batch))]
    assert len({draft.variant for draft in drafts}) == len(drafts)
    assert all(0.8 <= draft.temperature <= 1.0 for draft in drafts)
    for start in range(0, len(drafts) - 8, 8):
        heats = [draft.temperature for draft in drafts[start : start + 8]]
        assert len({*heats}) == 8
        assert max(heats) - min(heats) > 0.15


def test_where_nothing_was_drawn_a_few_are():
    assert len(draw(drawn(0), Room(slots=16))) == 4
    assert further_samples(drawn(0), Move.RESTART, (0.5,), Room(slots=2))[0].temperature == 0.5
    assert further_samples(drawn(0), Move.RESTART, (), Room(slots=2)) == []


@pytest.mark.parametrize(
    ("usage", "room", "size"),
    [
        ({"tokens": 200}, Room(slots=16, tokens=1500), 7),
        ({"tokens": 200}, Room(slots=16, tokens=100), 1),  # the limit ends the run
        ({"seconds": 10.0}, Room(slots=16, seconds=35.0), 3),
        ({"seconds": 10.0}, Room(slots=16, seconds=0.0), 1),
        ({"tokens": 200, "seconds": 10.0}, Room(slots=16, tokens=1500, seconds=35.0), 3),
        ({"tokens": 200, "seconds": 10.0}, Room(slots=16, tokens=1e6, seconds=1e6), 10),
    ],
)
def test_a_batch_fits_the_tokens_and_the_time(usage, room, size):
    assert len(draw(drawn(10, **usage), room)) == size


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        (["Repeated"] * QUIET, True),
        (["AssertionError", *["Repeated"] * QUIET], True),
        (["Repeated"] * (QUIET - 1), False),
        (["Repeated", "Unchanged"] * (QUIET // 2), True),
        ([*["Repeated"] * QUIET, "AssertionError"], False),
        (["AssertionError", *["Repeated"] * (QUIET - 1)], False),
        ([], False),
    ],
)
def test_a_model_that_only_repeats_itself_is_asked_no_more(errors, expected):
    samples = [sample(number, error) for number, error in enumerate(errors, 1)]
    assert is_quiet(samples) is expected
    assert bool(draw([*drawn(0), *samples], Room(slots=4))) is not expected
