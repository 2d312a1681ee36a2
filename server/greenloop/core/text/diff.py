r"""Line differences: minimal hunks, three-way merge, line ends.

A line ends in `\r\n`, `\r` or `\n` and nowhere else: a form feed or U+2028 inside a line is text.
This module must not know what language the text is written in.
"""

from __future__ import annotations

import difflib
import os.path
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, kw_only=True)
class Hunk:
    """A change: replaces the old lines `start`..`end` (0-based, half open) by `lines`."""

    start: int
    end: int
    lines: tuple[str, ...]

    @property
    def size(self) -> int:
        return self.end - self.start + len(self.lines)


def split_lines(text: str) -> list[str]:
    """The lines of a text with their ends; joined, they give the text again."""
    return _LINE.findall(text)


def with_plain_ends(text: str) -> str:
    r"""The text with every line end written as `\n`."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def line_end(line: str) -> str:
    """The line end that a line carries, or nothing."""
    return line[len(line.rstrip("\r\n")) :]


def main_line_end(text: str) -> str:
    r"""The line end that most lines of a text have; `\n` where there is none. The first one seen wins a tie.

    A lone `\r` counts only where a text has no other: with an empty line after it that ends in `\n`, both would be one.
    """
    counted = Counter(end for line in split_lines(text) if (end := line_end(line)))
    if len(counted) > 1:
        del counted["\r"]
    return counted.most_common(1)[0][0] if counted else "\n"


def diff_hunks(old: str, new: str) -> tuple[Hunk, ...]:
    """The changes from `old` to `new` in order, with as few lines as possible; hunks never touch each other."""
    return _hunks(split_lines(old), split_lines(new))


def first_changed_line(before: str | None, after: str) -> int:
    """The first line of the new text that differs, 1-based."""
    old_lines, new_lines = (before or "").splitlines(), after.splitlines()
    index = len(os.path.commonprefix([old_lines, new_lines]))  # noqa: RUF071 - of lists, line by line
    return min(index, max(len(new_lines) - 1, 0)) + 1


def count_changed_lines(before: Mapping[str, str], after: Mapping[str, str]) -> int:
    """Counts removed and added lines over all files of `after`."""
    return sum(hunk.size for path, text in after.items() for hunk in diff_hunks(before.get(path, ""), text))


def apply_hunks(text: str, changes: Sequence[Hunk]) -> str:
    """The text with its hunks applied; they must be in order and not overlap."""
    result = split_lines(text)
    for hunk in reversed(changes):
        result[hunk.start : hunk.end] = hunk.lines
    return "".join(result)


def keep_ends(old: str, new: str, newline: str | None = None) -> str:
    """The new text with the old one's line ends.

    A line that is equal except for its end keeps the old line's own end, and so does a line that takes the place of an
    old one; an added line gets `newline` (by default the end that most old lines have). The last line has an end where
    the old last line has one.
    """
    before, after = split_lines(old), split_lines(new)
    if not before:
        return "".join(line.rstrip("\r\n") + (newline or line_end(line)) if line_end(line) else line for line in after)
    newline = newline or main_line_end(old)
    bare = [line.rstrip("\r\n") for line in after]
    ends = [newline] * len(after)
    i = j = 0
    for old_index, new_index in [
        *_equal_pairs([line.rstrip("\r\n") for line in before], bare),
        (len(before), len(after)),
    ]:
        # The lines that take the place of old ones, then the equal one.
        replaced = min(old_index - i, new_index - j)
        ends[j : j + replaced] = [line_end(line) or newline for line in before[i : i + replaced]]
        if old_index < len(before):
            ends[new_index] = line_end(before[old_index]) or newline
        i, j = old_index + 1, new_index + 1
    result = [line + end for line, end in zip(bare, ends, strict=True)]
    for index in range(len(result) - 1, 0, -1):
        if result[index] == "\n" and line_end(result[index - 1]) == "\r":
            result[index - 1] = result[index - 1][:-1] + "\n"  # otherwise both would be read as one line end
    if result and not line_end(before[-1]):
        result[-1] = result[-1].rstrip("\r\n") or result[-1]  # an empty last line consists of its end only
    return "".join(result)


def merge(base: str, ours: str, theirs: str) -> str | None:
    """Merges both sides' changes of `base`; None where two different changes touch or overlap."""
    if theirs in (ours, base):
        return ours
    if ours == base:
        return theirs
    our_hunks, their_hunks = diff_hunks(base, ours), diff_hunks(base, theirs)
    added = [hunk for hunk in their_hunks if hunk not in our_hunks]
    if any(a.start <= b.end and b.start <= a.end for a in our_hunks for b in added):
        return None
    return apply_hunks(base, sorted([*our_hunks, *added], key=lambda hunk: hunk.start))


def contains(before: str, after: str, current: str) -> bool:
    """True if `current` contains every change from `before` to `after`, whatever else was typed around it."""
    if current in (before, after):
        return current == after
    if not {*split_lines(after)} - {*split_lines(before)} <= {*split_lines(current)}:
        # Called at every keystroke: this check avoids diffing the whole text.
        return False
    shift, later_changes = 0, diff_hunks(after, current)
    for hunk in diff_hunks(before, after):
        start, end = hunk.start + shift, hunk.start + shift + len(hunk.lines)
        shift += len(hunk.lines) - (hunk.end - hunk.start)
        # A deletion counts as undone when other text is in its place.
        deleted = start == end and any(change.start <= start <= change.end for change in later_changes)
        if deleted or any(change.start < end and start < change.end for change in later_changes):
            return False
    # Among several equal lines, one more or one less can be matched where nothing was changed.
    return sum(each.size for each in later_changes) <= sum(each.size for each in diff_hunks(before, current))


def diff_files(before: Mapping[str, str | None], after: Mapping[str, str]) -> str:
    """The change of all files in the format of `git apply`; empty when nothing changed."""
    return "".join(unified_diff(before.get(path), after[path], path) for path in sorted(after))


def unified_diff(before: str | None, after: str, path: str) -> str:
    """A unified diff for people and for `git apply`; empty when nothing changed. `before` None: the file is new."""
    old, new = split_lines(before or ""), split_lines(after)
    tab = "\t" if " " in path else ""  # as git does, so that the end of a name with spaces is visible
    source = "/dev/null" if before is None else f"a/{path}{tab}"
    rows = list(difflib.unified_diff(old, new))[2:]  # without its own names
    if not rows and before is not None:
        return ""
    return "".join([f"--- {source}\n", f"+++ b/{path}{tab}\n", *(_format_line(row[0], row[1:]) for row in rows)])


def _format_line(mark: str, line: str) -> str:
    end = line_end(line)
    body = line.rstrip("\r\n")
    if not end:
        return f"{mark}{body}\n\\ No newline at end of file\n"
    return mark + body + ("\r\n" if end == "\r\n" else "\n")


def _hunks(old: Sequence[str], new: Sequence[str]) -> tuple[Hunk, ...]:
    result = []
    i = j = 0
    for old_index, new_index in [*_equal_pairs(old, new), (len(old), len(new))]:
        if old_index > i or new_index > j:
            result.append(Hunk(start=i, end=old_index, lines=tuple(new[j:new_index])))
        i, j = old_index + 1, new_index + 1
    return tuple(result)


def _equal_pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Index pairs of equal lines in order."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    before, after = old[head : len(old) - tail], new[head : len(new) - tail]
    blocks = difflib.SequenceMatcher(None, before, after).get_matching_blocks()
    return [
        *((n, n) for n in range(head)),
        *((head + each.a + n, head + each.b + n) for each in blocks for n in range(each.size)),
        *((len(old) - tail + n, len(new) - tail + n) for n in range(tail)),
    ]
