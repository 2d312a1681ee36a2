"""Chooses the differences on other inputs that a user should see: pure functions of what two versions do.

It must not know whether new code answers the inputs of its tests alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.plugins.function_calls.changed_functions import ChangedFunction
from greenloop.plugins.other_inputs.other_inputs import LEAST_NEAR, MISUSE, Observation, show_call, show_done

SHOWN = 3  # differences


@dataclass(frozen=True, kw_only=True)
class Difference:
    """An input besides those of the tests on which the new code does something else: the call, and what either does.

    `line` is the first changed line of the function, in the new text.
    """

    path: str
    line: int
    call: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.call}: old → {self.old}, new → {self.new}"


def choose_differences(observations: Sequence[Observation]) -> tuple[Difference, ...]:
    """Returns the differences on other inputs that say most: each of another kind, errors first, the nearest first.

    Of a function that failed in one way on all inputs, for it was not written yet, only where all answers are those of
    the tests.
    """
    functions = dict.fromkeys(each.function for each in observations)
    found = [each for function in functions for each in _of_function(function, observations)]
    kinds = [_rank(each) for each in found]
    # Each kind has its turn.
    turns = sorted((kinds[:place].count(kind), kind, place) for place, kind in enumerate(kinds))
    return tuple(
        Difference(
            path=each.function.path,
            line=each.function.line,
            call=show_call(each),
            old=show_done(each.old),
            new=show_done(each.new),
        )
        for each in (found[place] for _turn, _kind, place in turns[:SHOWN])
    )


def _of_function(function: ChangedFunction, observations: Sequence[Observation]) -> list[Observation]:
    group = [each for each in observations if each.function == function]
    before = {(each.old.kind, each.old.trees) for each in group}
    if len(before) == 1 and group[0].old.kind == "raises" and not _gives_tested_answers(group):
        return []
    telling = [each for each in group if not each.is_tested and each.differs and _is_telling(each)]
    return sorted(telling, key=lambda each: each.is_moved)


def _gives_tested_answers(group: Sequence[Observation]) -> bool:
    """Do all other inputs get one of the few answers of the tests, yes and no apart?"""
    others = [each.new for each in group if not each.is_tested]
    answers = {each.new for each in group if each.is_tested}
    is_yes_or_no = all(isinstance(each.value, bool) for each in others)
    return len(others) >= LEAST_NEAR and not is_yes_or_no and answers.issuperset(others)


def _is_telling(observation: Observation) -> bool:
    """True unless the value is unreadable, or causes an error that neither version is made for."""
    kinds = (observation.old.kind, observation.new.kind)
    if kinds == ("raises", "raises") or (kinds[0] == "raises" and observation.old.value in MISUSE):
        return False
    return show_done(observation.old) != show_done(observation.new)


def _rank(observation: Observation) -> int:
    if "raises" in (observation.old.kind, observation.new.kind):
        return 0 if observation.new.kind == "raises" else 1
    old, new = observation.old.value, observation.new.value
    is_other_type = type(old) is not type(new) or (isinstance(old, list) and old[:1] != new[:1])
    return 2 if is_other_type else 3
