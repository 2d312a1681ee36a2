"""What code means, apart from how it is written: comments, layout and docstrings do not count.

A search asks about every new candidate whether it was there before: `fingerprint` answers by a look into a set.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from greenloop.core.compose import region_text
from greenloop.core.diff import flat
from greenloop.core.nouns import Candidate, Problem, Region
from greenloop.core.source import piece
from greenloop.core.telling import told


def same(problem: Problem, a: Candidate | None, b: Candidate | None) -> bool:
    """Do two candidates mean the same code? None is the user's own."""
    return _different(problem, a) == _different(problem, b) and _beside(a) == _beside(b)


def fingerprint(problem: Problem, candidate: Candidate | None) -> str:
    """Equal for two candidates of one problem exactly when they are the `same`. None is the user's own code."""
    regions = _different(problem, candidate)
    imports, helpers = _beside(candidate)
    lines = [*(f"{region.path}:{region.start}:{meant}" for region, meant in regions.items())]
    text = "\0".join([*sorted(lines), "", *sorted(imports), "", *sorted(helpers)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=64)  # the user's own code is compared with every candidate
def meaning(text: str) -> str:
    """A digest that is equal for pieces of equal code; of what does not parse, one of its lines that are not blank."""
    found = piece(text)
    if isinstance(found, SyntaxError):
        plain = "\n".join(line.rstrip() for line in flat(text).split("\n") if line.strip())
    else:
        plain = " ".join(told(found.body, docstrings=False))
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def _different(problem: Problem, candidate: Candidate | None) -> dict[Region, str]:
    """What the regions mean that a candidate writes otherwise than the user."""
    meant = {region: meaning(text) for region, text in (candidate.texts.items() if candidate else ())}
    return {region: found for region, found in meant.items() if found != meaning(region_text(problem, region))}


def _beside(candidate: Candidate | None) -> tuple[frozenset[str], frozenset[str]]:
    if candidate is None:
        return frozenset(), frozenset()
    return frozenset(map(meaning, candidate.imports)), frozenset(map(meaning, candidate.helpers))
