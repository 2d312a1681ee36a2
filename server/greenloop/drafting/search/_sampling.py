"""Further samples where a model answers many requests at once: how many, how hot, and until when.

It must not know which rungs come before them. Measured on all of MBPP (lab/docs/evidence.md): when the first five
answers fail, one more sample solves more than anything else that can be asked, however often they repeat one another.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.usage import Room
from greenloop.drafting.search._progress import COPIES

WHOLE_ANSWERS = (Move.DRAFT, Move.RESTART)
FEWEST = 4  # samples of a batch, as far as there is room
QUIET = 8  # samples in a row that repeat earlier ones, after which the model has nothing else to say


def further_samples(attempts: Sequence[Attempt], move: Move, temperatures: Sequence[float], room: Room) -> list[Draft]:
    """Returns the next batch of samples, each unlike the others; none for a model with one slot or without news.

    A batch is at most as large as all before together, so that few are drawn in vain after one that passes.
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
    """How many more there is room for: they are answered together, and their tests run one after the other."""
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
