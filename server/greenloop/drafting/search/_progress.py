"""Shared by strategies: comparing attempts, detecting a stuck search, further samples.

A search is stuck when the newest failure has come before (by its normalised signature) more often than the patience for
its group allows. The response has two steps: first another strategy; if restarts bring nothing either, the search ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from greenloop.core.classify import failure_key
from greenloop.core.election import is_valid, rank
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role, Room
from greenloop.core.records.verdict import ErrorGroup

SAMPLE_TEMPERATURES = (0.6, 0.75, 0.9, 1.0)  # temperatures of the samples that follow a greedy answer
STEP = 0.4  # by which the temperature rises each time the same is asked again
HOTTEST = 0.8
COPIES = ("Unchanged", "Repeated")  # error classes of a candidate that equals its parent or another earlier one
SWITCHES = 4  # restarts without a better score, after which the search is hopeless

# How often the same failure may come back before the strategy changes. Refused candidates are compared by their error
# class alone, so two of a kind may be two different mistakes.
PATIENCE = {ErrorGroup.SYNTAX: 2, ErrorGroup.ANSWER: 2}
USUAL = 1
WHOLE_ANSWERS = (Move.DRAFT, Move.RESTART)
FEWEST = 4  # samples of a batch, as far as there is room
QUIET = 8  # samples in a row that repeat earlier ones, after which the model has nothing else to say


class Progress(StrEnum):
    """Next step of a search after its attempts so far: go on, change its strategy, or end."""

    GOING = "going"
    STUCK = "stuck"
    HOPELESS = "hopeless"


def progress(attempts: Sequence[Attempt]) -> Progress:
    """Judges the newest failure by its group's patience, and the restarts since the score last rose."""
    newest = attempts[-1]
    if newest.error_class not in COPIES:
        patience = PATIENCE.get(newest.group, USUAL) if newest.group else USUAL
        if count_recurrences(attempts) < patience:
            return Progress.GOING
    fruitless = attempts[len(attempts) - count_since_gain(attempts) :]
    switches = sum(bool(attempt.draft and attempt.draft.move is Move.RESTART) for attempt in fruitless)
    return Progress.STUCK if switches < SWITCHES else Progress.HOPELESS


def refine_or_restart(attempts: Sequence[Attempt]) -> Sequence[Draft]:
    """A refinement of the best attempt, a restart on a repeated failure; nothing when restarts do not help."""
    newest = attempts[-1]
    match progress(attempts):
        case Progress.HOPELESS:
            return []
        case Progress.STUCK:
            temperature = min(HOTTEST, STEP * (_count(attempts, Move.RESTART) + 1))
            return [Draft(parent=0, move=Move.RESTART, role=Role.DRAFTER, temperature=temperature)]
    best = max((attempt for attempt in attempts if is_valid(attempt)), key=rank, default=newest)
    parent = best if rank(best) > rank(newest) else newest
    temperature = min(HOTTEST, STEP * _count(attempts, Move.REFINE))
    return [Draft(parent=parent.number, move=Move.REFINE, role=Role.REFINER, temperature=temperature)]


def _count(attempts: Sequence[Attempt], move: Move) -> int:
    return sum(bool(attempt.draft and attempt.draft.move is move) for attempt in attempts)


def count_recurrences(attempts: Sequence[Attempt]) -> int:
    """Counts earlier attempts with the newest attempt's failure; the user's own code is one of them."""
    newest = failure_key(attempts[-1])
    return sum(failure_key(attempt) == newest for attempt in attempts[:-1])


def count_since_gain(attempts: Sequence[Attempt]) -> int:
    """Returns how many attempts were made since the score last rose."""
    best: tuple[float, int] | None = None
    idle = 0
    for attempt in attempts:
        if attempt.number == 0:
            continue
        if best is None or rank(attempt) > best:
            best, idle = rank(attempt), 0
        else:
            idle += 1
    return idle


def count_advanced(attempt: Attempt, baseline: Attempt) -> int:
    """Returns how many cases fail further down in their test than they did at the start."""
    before = failing_lines(baseline)
    return sum(line > before.get(case, line) for case, line in failing_lines(attempt).items())


def failing_lines(attempt: Attempt) -> dict[str, int]:
    """By case, the line of its test file where it failed; a case whose failure has no such line is absent."""
    lines = {}
    for case in attempt.verdict.cases:
        own_path = case.id.partition("::")[0]
        frames = case.failure.frames if case.failure and not case.passed else ()
        if reached := next((frame.line for frame in frames if frame.path == own_path), 0):
            lines[case.id] = reached
    return lines


def further_samples(attempts: Sequence[Attempt], move: Move, temperatures: Sequence[float], room: Room) -> list[Draft]:
    """Returns the next batch of samples, each unlike the others; none for a model with one slot or without news.

    A batch is at most as large as all before together, so that few are wasted after one that passes.
    """
    drawn = [each for each in attempts if each.draft and each.draft.move in WHOLE_ANSWERS]
    if room.slots < 2 or not temperatures or is_quiet(drawn):
        return []
    batch = min(max(FEWEST, len(drawn)), max(1, _fitting(drawn, room)))
    return [
        Draft(parent=0, move=move, role=Role.DRAFTER, temperature=_spread(temperatures, number), variant=number)
        for number in range(len(drawn), len(drawn) + batch)
    ]


def is_quiet(samples: Sequence[Attempt]) -> bool:
    """Did none of the last samples bring a new program?"""
    last = samples[-QUIET:]
    return len(last) == QUIET and not any(each.candidate and each.error_class not in COPIES for each in last)


def _fitting(samples: Sequence[Attempt], room: Room) -> int:
    """Returns how many more there is room for: they are answered together, and their tests run one after the other."""
    tokens = sum(each.usage.tokens for each in samples)
    seconds = sum(each.usage.test_seconds for each in samples)
    left = [len(samples) * room.tokens / tokens] if tokens else []
    left += [len(samples) * room.seconds / seconds] if seconds else []
    return int(min([room.slots, *left]))


def _spread(temperatures: Sequence[float], number: int) -> float:
    """Returns the temperature of a sample, from the hotter half of these: colder answers repeat one another more.

    The numbers are van der Corput's, by which any batch is spread evenly.
    """
    high = max(temperatures)
    low = (min(temperatures) + high) / 2
    place, step = 0.0, 0.5
    while number:
        place += step * (number % 2)
        number, step = number // 2, step / 2
    return round(low + (high - low) * place, 2)
