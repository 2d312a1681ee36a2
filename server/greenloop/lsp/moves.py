"""Where a line of a text went when the text became another: pure, of any two texts, however the change came about.

A line that was deleted went nowhere. One that was edited is still itself while half of it is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from greenloop.core.diff import flat

# From a row (0-based) of the old text to that of the new one; None where it is gone.
Move = Callable[[int], int | None]

LEFT = 0.5  # share of an edited line's characters that must be left at its two ends
AROUND = 30  # rows around its old place in which an edited line is looked for
NEAR = 3  # neighbouring rows that tell apart lines that say the same


def rows(text: str) -> list[str]:
    """The text's lines without their ends; the last is what follows the last end."""
    return flat(text).split("\n")


def between(old: Sequence[str], new: Sequence[str]) -> Move:
    """From rows of `old` to rows of `new`, both as `rows` gives them."""
    least = min(len(old), len(new))
    head = next((n for n in range(least) if old[n] != new[n]), least)
    tail = next((n for n in range(least - head) if old[-1 - n] != new[-1 - n]), least - head)
    delta = len(new) - len(old)
    block = _Block(old[head : len(old) - tail], new[head : len(new) - tail])

    def move(row: int) -> int | None:
        if row < head:
            return row
        if row >= len(old) - tail:
            return row + delta
        found = block.find(row - head)
        return None if found is None else head + found

    return move


class _Block:
    """The rows between the first that differ and the last."""

    def __init__(self, was: Sequence[str], now: Sequence[str]) -> None:
        self._was, self._now = was, now
        self._places: dict[str, list[int]] | None = None
        self._others: set[str] = set()

    def find(self, row: int) -> int | None:
        """The row that goes on with a row of the old ones."""
        was, now, text = self._was, self._now, self._was[row].strip()
        if not text or not now:
            return None
        if self._places is None:
            self._places, self._others = {}, {line.strip() for line in was}
            for there, line in enumerate(now):
                self._places.setdefault(line.strip(), []).append(there)
        same = self._places.get(text)
        if same:
            return max(same, key=lambda there: (_alike_around(was, now, row, there), -abs(there - row)))
        # Counted from both ends: what was added or taken away stands before it or after it.
        starts = (row, row + len(now) - len(was))
        near = {there for start in starts for there in range(max(start - AROUND, 0), start + AROUND + 1)}
        edited = [there for there in sorted(near) if there < len(now) and now[there].strip() not in self._others]
        best = max(edited, key=lambda there: (_left(text, now[there].strip()), -abs(there - row)), default=None)
        return best if best is not None and _left(text, now[best].strip()) >= LEFT else None


def _alike_around(was: Sequence[str], now: Sequence[str], row: int, there: int) -> int:
    """How much the lines around two rows are the same: the nearer the more, blank ones nothing."""
    return sum(
        NEAR + 1 - abs(step)
        for step in range(-NEAR, NEAR + 1)
        if 0 <= row + step < len(was) and 0 <= there + step < len(now) and was[row + step].strip()
        if was[row + step] == now[there + step]
    )


def _left(old: str, new: str) -> float:
    """The share of `old` that stands at the two ends of `new`."""
    kept = _common(old, new) + _common(old[::-1], new[::-1])
    return min(kept, len(old), len(new)) / len(old)


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
