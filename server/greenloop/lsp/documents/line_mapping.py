"""Maps the lines of a text to those of a changed text. Pure, for any two texts.

A deleted line maps to nothing. An edited line keeps its identity while half of its characters are left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from greenloop.core.text.diff import with_plain_ends

# From a row (0-based) of the old text to one of the new text; None where it was deleted.
RowMap = Callable[[int], int | None]

LEFT = 0.5  # minimum share of an edited line's characters that is unchanged at its two ends
AROUND = 30  # rows around its old position in which an edited line is searched
NEAR = 3  # adjacent rows that distinguish lines with the same text


def split_rows(text: str) -> list[str]:
    """The text's lines without line ends; the last one follows the last line end."""
    return with_plain_ends(text).split("\n")


def map_rows(old: Sequence[str], new: Sequence[str]) -> RowMap:
    """The map from rows of `old` to rows of `new`, both as returned by `split_rows`."""
    common_rows = min(len(old), len(new))
    head = next((n for n in range(common_rows) if old[n] != new[n]), common_rows)
    tail = next((n for n in range(common_rows - head) if old[-1 - n] != new[-1 - n]), common_rows - head)
    delta = len(new) - len(old)
    block = _Block(old[head : len(old) - tail], new[head : len(new) - tail])

    def new_row_of(row: int) -> int | None:
        if row < head:
            return row
        if row >= len(old) - tail:
            return row + delta
        new_row = block.find(row - head)
        return None if new_row is None else head + new_row

    return new_row_of


class _Block:
    """The rows from the first to the last that differ."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self._old, self._new = old, new
        self._places: dict[str, list[int]] | None = None
        self._others: set[str] = set()

    def find(self, row: int) -> int | None:
        """The new row that corresponds to an old one."""
        old_rows, new_rows, text = self._old, self._new, self._old[row].strip()
        if not text or not new_rows:
            return None
        if self._places is None:
            self._places, self._others = {}, {line.strip() for line in old_rows}
            for candidate, line in enumerate(new_rows):
                self._places.setdefault(line.strip(), []).append(candidate)
        same = self._places.get(text)
        if same:
            return max(
                same, key=lambda candidate: (_alike_around(old_rows, new_rows, row, candidate), -abs(candidate - row))
            )
        # Counted from both ends: rows were added or removed either before it or after it.
        starts = (row, row + len(new_rows) - len(old_rows))
        nearby = {candidate for start in starts for candidate in range(max(start - AROUND, 0), start + AROUND + 1)}
        edited = [
            candidate
            for candidate in sorted(nearby)
            if candidate < len(new_rows) and new_rows[candidate].strip() not in self._others
        ]
        best = max(
            edited,
            key=lambda candidate: (_kept_share(text, new_rows[candidate].strip()), -abs(candidate - row)),
            default=None,
        )
        return best if best is not None and _kept_share(text, new_rows[best].strip()) >= LEFT else None


def _alike_around(old: Sequence[str], new: Sequence[str], row: int, candidate: int) -> int:
    """Returns how similar the lines around two rows are: nearer lines weigh more, blank ones nothing."""
    return sum(
        NEAR + 1 - abs(step)
        for step in range(-NEAR, NEAR + 1)
        if 0 <= row + step < len(old) and 0 <= candidate + step < len(new) and old[row + step].strip()
        if old[row + step] == new[candidate + step]
    )


def _kept_share(old: str, new: str) -> float:
    """The share of `old` that is unchanged at the two ends of `new`."""
    kept = _common_prefix(old, new) + _common_prefix(old[::-1], new[::-1])
    return min(kept, len(old), len(new)) / len(old)


def _common_prefix(first: str, second: str) -> int:
    """The length of the common prefix."""
    return next(
        (n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )
