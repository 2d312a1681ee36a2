"""Which attempts are merged without a model: those that pass different cases, and others that a search names.

A merge costs a few test runs and no tokens, so a search plans it before it asks a model again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from greenloop.core.election import CHEAP, is_valid
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role

MOST_ALIKE = 3  # merges of small changes that pass the same cases as others that were merged

Adds = Callable[[Attempt, Attempt], bool]


def plan_merges(attempts: Sequence[Attempt], adds: Adds = lambda _first, _second: False) -> list[Draft]:
    """Each attempt that was run, with the earlier ones that pass what it does not, or of which `adds` says so.

    Small changes pass the same few cases again and again, so only some of those are merged.
    """
    valid = [each for each in attempts[1:] if is_valid(each) and each.draft]
    alike: Counter[frozenset[frozenset[str]]] = Counter()
    drafts = []
    for index, newest in enumerate(valid):
        others = []
        for earlier in valid[:index]:
            is_small = _is_cheap(earlier) or _is_cheap(newest)
            if differ(earlier, newest):
                kind = frozenset(map(passed_cases, (earlier, newest)))
                alike[kind] += is_small
                if not is_small or alike[kind] <= MOST_ALIKE:
                    others.append(earlier.number)
            elif adds(earlier, newest):
                others.append(earlier.number)
        if others:
            drafts.append(Draft(parent=newest.number, move=Move.MERGE, role=Role.REFINER, others=tuple(others)))
    return drafts


def differ(first: Attempt, second: Attempt) -> bool:
    """Does each pass a case that the other fails, so that both together may pass more?"""
    passed = passed_cases(first), passed_cases(second)
    return bool(passed[0] - passed[1] and passed[1] - passed[0])


def passed_cases(attempt: Attempt) -> frozenset[str]:
    """The ids of the target cases that an attempt passes."""
    return frozenset(case.id for case in attempt.verdict.cases if case.passed)


def _is_cheap(attempt: Attempt) -> bool:
    """Was it a small change? A merge is as good as the answers that it is made of."""
    return attempt.draft is not None and attempt.draft.move in CHEAP and attempt.draft.move is not Move.MERGE
