"""Few tests that tell much: of those that reach a function, some that come to it from different places.

After TENET ("Leveraging Tests Beyond Validation for Code Generation", arXiv 2509.24148): a small set that covers
different callers, direct ones first, shows a model more than the whole suite does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from greenloop.core.nouns import Approach, Case, Region
from greenloop.core.records import Reach

MOST = 5


def approaches(reach: Mapping[str, Sequence[Reach]], regions: Sequence[Region]) -> dict[str, Approach]:
    """How each case that comes to one of the regions does so, by the shortest way."""
    found = {}
    for case, hits in reach.items():
        mine = [hit for hit in hits if any(_in(hit, region) for region in regions)]
        if mine:
            nearest = min(mine, key=lambda hit: hit.depth)
            found[case] = Approach(depth=nearest.depth, caller=nearest.caller)
    return found


def _in(hit: Reach, region: Region) -> bool:
    return hit.path == region.path and region.start <= hit.firstlineno <= region.end


def choose(cases: Sequence[Case], known: Mapping[str, Approach], most: int = MOST) -> list[Case]:
    """At most `most` cases, each from another caller, in their own order; without approaches the first ones.

    The nearest of every caller speaks for it; files with callers take turns, the one with the nearest caller first.
    """
    speaking: dict[tuple[str, str], tuple[int, int]] = {}
    for order, case in enumerate(cases):
        if (approach := known.get(case.id)) is not None:
            caller = _caller(case, approach)
            speaking[caller] = min(speaking.get(caller, (approach.depth, order)), (approach.depth, order))
    if not speaking:
        firsts: dict[str, Case] = {}
        for case in cases:
            firsts.setdefault(_name(case), case)
        return list(firsts.values())[:most]
    files: dict[str, list[tuple[int, int]]] = {}
    for (path, _function), nearest in sorted(speaking.items(), key=lambda item: item[1]):
        files.setdefault(path, []).append(nearest)
    turns = sorted((turn, *nearest) for mine in files.values() for turn, nearest in enumerate(mine))
    return [cases[order] for order in sorted(order for _turn, _depth, order in turns[:most])]


def _caller(case: Case, approach: Approach) -> tuple[str, str]:
    """Path and function; tests of one name in several classes are several callers."""
    if approach.caller is None or approach.caller.function.rpartition(".")[2] == _name(case).rpartition("::")[2]:
        return case.path, _name(case)
    return approach.caller.path, approach.caller.function


def _name(case: Case) -> str:
    """The test function of a case, which may be one of its parameters' many."""
    return case.id.partition("[")[0]
