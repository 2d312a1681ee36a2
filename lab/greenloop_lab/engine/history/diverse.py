"""Selects rows that differ: from every error class in turn, each time the row least like those selected before.

Likeness is that of min-hashes: the tokens of a row, three at a time, are hashed into one of 128 bins, and each bin
keeps one bit of its smallest hash. The distance of two rows is the number of bits that differ.
It must not know what the rows are for.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from itertools import cycle
from typing import Any
from zlib import crc32

BINS = 128
_TOKEN = re.compile(r"\w+|[^\w\s]")
Candidate = tuple[Hashable, int]  # key and signature


def texts_of(value: Any) -> Iterable[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_of(item)


def signature(texts: Iterable[str]) -> int:
    """The min-hash of some texts, one bit for each bin."""
    smallest: dict[int, int] = {}
    for text in texts:
        tokens = _TOKEN.findall(text)
        for three in zip(tokens, tokens[1:], tokens[2:], strict=False):
            value, place = divmod(crc32(" ".join(three).encode("utf-8", "replace")), BINS)
            if value < smallest.get(place, value + 1):
                smallest[place] = value
    return sum(1 << place for place, value in smallest.items() if value & 1)


def select(rows: Iterable[tuple[Hashable, str, int]], count: int) -> set[Hashable]:
    """Selects the keys of `count` rows (key, error class, signature); all of them where there are no more.

    The same rows always give the same selection. Error classes take turns, in the order of their names; a class that
    has no more rows is passed over.
    """
    classes: dict[str, list[Candidate]] = {}
    for key, error_class, bits in rows:
        classes.setdefault(error_class, []).append((key, bits))
    if sum(map(len, classes.values())) <= count:
        return {key for candidates in classes.values() for key, _bits in candidates}
    selections = {name: _Farthest(classes[name]) for name in sorted(classes)}
    selected: set[Hashable] = set()
    for name in cycle(selections):
        if len(selected) == count:
            break
        if selections[name].candidates:
            selected.add(selections[name].take())
    return selected


class _Farthest:
    """The candidates of a class that are left, with the distance of each to the nearest one that was taken."""

    def __init__(self, candidates: list[Candidate]) -> None:
        self.candidates = candidates
        self.distances = [BINS + 1] * len(candidates)

    def take(self) -> Hashable:
        """Takes the candidate that is farthest from those taken; of equals the first, which begins."""
        at = max(range(len(self.candidates)), key=self.distances.__getitem__)
        key, bits = self.candidates.pop(at)
        del self.distances[at]
        self.distances = [
            min(distance, (bits ^ other).bit_count())
            for distance, (_key, other) in zip(self.distances, self.candidates, strict=True)
        ]
        return key
