r"""Line differences: minimal hunks, three-way merge, line ends.

A line ends in `\r\n`, `\r` or `\n` and nowhere else: a form feed or U+2028 inside a line is text.
This module must not know what language the text is written in.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_CONTEXT = 3  # unchanged lines around a hunk, as patch programs expect
_EFFORT = 1000  # edits up to which hunks are minimal; beyond that the cost would grow with the square
_LEAST = 50  # the same between two lines that were found again


@dataclass(frozen=True, kw_only=True)
class Hunk:
    """Replaces the old lines `start`..`end` (0-based, half open) by `lines`."""

    start: int
    end: int
    lines: tuple[str, ...]


def lines(text: str) -> list[str]:
    """The lines of a text with their ends; joined they are the text again."""
    return _LINE.findall(text)


def flat(text: str) -> str:
    r"""The text with every line end written as `\n`."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def end_of(line: str) -> str:
    """The line end that a line carries, or nothing."""
    return line[len(line.rstrip("\r\n")) :]


def newline_of(text: str) -> str:
    r"""The line end that most lines of a text have; `\n` where there is none. The first one seen wins a draw.

    A lone `\r` counts only where a text has no other: before an empty line that ends in `\n` the two would be one.
    """
    counted = Counter(end for line in lines(text) if (end := end_of(line)))
    if len(counted) > 1:
        del counted["\r"]
    return counted.most_common(1)[0][0] if counted else "\n"


def hunks(old: str, new: str) -> tuple[Hunk, ...]:
    """What changed from `old` to `new`, as few lines as possible, in order; hunks never touch each other."""
    return _hunks(lines(old), lines(new))


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> int:
    """How many lines differ, removed and added ones counted, over all files of `after`."""
    return sum(
        hunk.end - hunk.start + len(hunk.lines)
        for path, text in after.items()
        for hunk in hunks(before.get(path, ""), text)
    )


def apply_hunks(text: str, changes: Sequence[Hunk]) -> str:
    """The text with its hunks applied; they must be in order and not overlap."""
    result = lines(text)
    for hunk in reversed(changes):
        result[hunk.start : hunk.end] = hunk.lines
    return "".join(result)


def keep_ends(old: str, new: str, newline: str | None = None) -> str:
    """The new text with the old one's line ends.

    A line that is equal but for its end keeps the old line's own end; a new line gets `newline`
    (by default the end that most old lines have). The last line has an end where the old last line has one.
    """
    before, after = lines(old), lines(new)
    if not before:
        return "".join(line.rstrip("\r\n") + (newline or end_of(line)) if end_of(line) else line for line in after)
    newline = newline or newline_of(old)
    result = [line.rstrip("\r\n") + newline for line in after]
    bare = [line.rstrip("\r\n") for line in before]
    for here, there in _equal(bare, [line.rstrip("\r\n") for line in after]):
        if end_of(before[here]):
            result[there] = before[here]
    for n in range(len(result) - 1, 0, -1):
        if result[n] == "\n" and end_of(result[n - 1]) == "\r":
            result[n - 1] = result[n - 1][:-1] + "\n"  # else the two ends were one
    if result and not end_of(before[-1]):
        result[-1] = result[-1].rstrip("\r\n") or result[-1]  # an empty last line is nothing but its end
    return "".join(result)


def merge(base: str, ours: str, theirs: str) -> str | None:
    """Both sides' changes of `base` in one text; None where two changes touch or overlap without being the same."""
    if theirs in (ours, base):
        return ours
    if ours == base:
        return theirs
    mine, other = hunks(base, ours), hunks(base, theirs)
    added = [hunk for hunk in other if hunk not in mine]
    if any(a.start <= b.end and b.start <= a.end for a in mine for b in added):
        return None
    return apply_hunks(base, sorted([*mine, *added], key=lambda hunk: hunk.start))


def unified(before: str | None, after: str, path: str) -> str:
    """A unified diff for people and for `git apply`; empty when nothing changed. `before` None: the file is new."""
    old, new = lines(before or ""), lines(after)
    changes = _hunks(old, new)
    if not changes and before is not None:
        return ""
    tab = "\t" if " " in path else ""  # as git does, so that a name with spaces ends somewhere
    source = "/dev/null" if before is None else f"a/{path}{tab}"
    result = [f"--- {source}\n", f"+++ b/{path}{tab}\n"]
    shift = 0
    for group in _groups(changes):
        first = max(group[0].start - _CONTEXT, 0)
        last = min(group[-1].end + _CONTEXT, len(old))
        grown = sum(len(hunk.lines) - (hunk.end - hunk.start) for hunk in group)
        span = f"-{_range(first, last - first)} +{_range(first + shift, last - first + grown)}"
        result.append(f"@@ {span} @@\n")
        shift += grown
        at = first
        for hunk in group:
            result += [_shown(" ", line) for line in old[at : hunk.start]]
            result += [_shown("-", line) for line in old[hunk.start : hunk.end]]
            result += [_shown("+", line) for line in hunk.lines]
            at = hunk.end
        result += [_shown(" ", line) for line in old[at:last]]
    return "".join(result)


def _groups(changes: Sequence[Hunk]) -> Iterator[list[Hunk]]:
    group: list[Hunk] = []
    for hunk in changes:
        if group and hunk.start - group[-1].end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(hunk)
    if group:
        yield group


def _range(start: int, count: int) -> str:
    return f"{start + 1 if count else start},{count}" if count != 1 else f"{start + 1}"


def _shown(mark: str, line: str) -> str:
    end = end_of(line)
    body = line.rstrip("\r\n")
    if not end:
        return f"{mark}{body}\n\\ No newline at end of file\n"
    return mark + body + ("\r\n" if end == "\r\n" else "\n")


def _hunks(old: Sequence[str], new: Sequence[str]) -> tuple[Hunk, ...]:
    result = []
    i = j = 0
    for here, there in [*_equal(old, new), (len(old), len(new))]:
        if here > i or there > j:
            result.append(Hunk(start=i, end=here, lines=tuple(new[j:there])))
        i, j = here + 1, there + 1
    return tuple(result)


def _equal(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of equal lines in order: a longest common subsequence."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    before, after = old[head : len(old) - tail], new[head : len(new) - tail]
    middle = _shortest(before, after)
    return [
        *((n, n) for n in range(head)),
        *((head + i, head + j) for i, j in middle),
        *((len(old) - tail + n, len(new) - tail + n) for n in range(tail)),
    ]


def _shortest(old: Sequence[str], new: Sequence[str], effort: int = _EFFORT) -> list[tuple[int, int]]:
    """Myers' greedy algorithm: walks the edit graph by number of edits, then back along the trace."""
    if not old or not new:
        return []
    trace: list[dict[int, int]] = []
    reach = {1: 0}
    for edits in range(min(len(old) + len(new), effort) + 1):
        trace.append(dict(reach))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and reach[k - 1] < reach[k + 1])
            x = reach[k + 1] if down else reach[k - 1] + 1
            while x < len(old) and x - k < len(new) and old[x] == new[x - k]:
                x += 1
            reach[k] = x
            if x >= len(old) and x - k >= len(new):
                return _walk_back(trace, len(old), len(new))
    return _anchored(old, new)


def _anchored(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Equal pairs around the lines that each text has once and both have; nothing is equal where there are none.

    Its time grows with the texts, not with their square: blank lines alone would make hours of a reformatted file.
    """
    counts, others = Counter(old), Counter(new)
    places = {line: there for there, line in enumerate(new) if others[line] == 1}
    common = [(here, places[line]) for here, line in enumerate(old) if counts[line] == 1 and line in places]
    pairs: list[tuple[int, int]] = []
    i = j = 0
    ends = [(len(old), len(new))] if (kept := _rising(common)) else []
    for here, there in [*kept, *ends]:
        pairs += [(i + a, j + b) for a, b in _shortest(old[i:here], new[j:there], _LEAST)]
        if here < len(old):
            pairs.append((here, there))
        i, j = here + 1, there + 1
    return pairs


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of these pairs, whose first numbers rise, in which the second rise too."""
    lowest: list[int] = []
    heads: list[int] = []
    before: list[int] = []
    for number, (_here, there) in enumerate(pairs):
        at = bisect_left(lowest, there)
        before.append(heads[at - 1] if at else -1)
        lowest[at : at + 1], heads[at : at + 1] = [there], [number]
    result, at = [], heads[-1] if heads else -1
    while at >= 0:
        result.append(pairs[at])
        at = before[at]
    return result[::-1]


def _walk_back(trace: Sequence[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs = []
    for edits in range(len(trace) - 1, -1, -1):
        reach, k = trace[edits], x - y
        down = k == -edits or (k != edits and reach.get(k - 1, -1) < reach.get(k + 1, -1))
        before = k + 1 if down else k - 1
        to_x = reach[before] if edits else 0
        to_y = to_x - before if edits else 0
        while x > to_x and y > to_y:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = to_x, to_y
    return pairs[::-1]
