"""The functions that the user has touched since the last commit, unsaved text included, and those of the last commits.

Without git, without a commit, or where git does not answer, nothing counts as touched: this must never end a request.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from time import monotonic

from greenloop.core.errors import GreenloopError
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import diff_hunks, with_plain_ends
from greenloop.core.text.encoding import decode
from greenloop.project.revisions.git import Repository

MOST_FILES = 20
OLDEST = 180  # days before the last commit that are looked at
BLAME_SECONDS = 3.0  # for all files
_DAY = 86_400


def find_touched(root: Path, texts: Mapping[str, str], suspects: Collection[Region]) -> frozenset[Region]:
    """Returns the suspects whose lines in `texts`, the user's by path, differ from the last commit."""
    try:
        repository = Repository.find(root)
        commit = repository.commit("HEAD")
    except GreenloopError:
        return frozenset()
    touched: set[Region] = set()
    for path in list(texts)[:MOST_FILES]:
        lines = _changed_lines(_committed_text(repository, commit, path), texts[path])
        touched |= {each for each in suspects if each.path == path and lines & {*range(each.start, each.end + 1)}}
    return frozenset(touched)


def find_ages(
    root: Path, texts: Mapping[str, str], suspects: Collection[Region], *, seconds: float = BLAME_SECONDS
) -> Mapping[Region, float]:
    """Returns how many days before the last commit one of a suspect's lines was last changed, at most `OLDEST`.

    Suspects without such lines are left out, and those of files for which the time did not suffice.
    """
    deadline = monotonic() + seconds
    found: dict[Region, float] = {}
    try:
        repository = Repository.find(root)
        commit = repository.commit("HEAD")
        header = repository.output("cat-file", "commit", commit).partition(b"\n\n")[0]
        newest = int(next(row for row in header.split(b"\n") if row.startswith(b"committer ")).split()[-2])
        for path in list(texts)[:MOST_FILES]:
            if (left := deadline - monotonic()) <= 0:
                break
            times = _line_times(repository, commit, path, newest - OLDEST * _DAY, seconds=left)
            times = _in_new_text(times, _committed_text(repository, commit, path), texts[path])
            for region in (each for each in suspects if each.path == path):
                known = [time for time in times[region.start - 1 : region.end] if time]
                if known:
                    found[region] = max(0.0, (newest - max(known)) / _DAY)
    except (GreenloopError, StopIteration, ValueError, IndexError):
        return found
    return found


def _line_times(repository: Repository, commit: str, path: str, since: int, *, seconds: float) -> list[int]:
    """When each line of the committed file was last changed, in seconds since 1970; 0 for what is older than `since`.

    Where the history begins (in a shallow clone too) lines may be older than the commit says: 0 as well.
    No text is converted by a command that the repository's configuration names.
    """
    options = ("--porcelain", "--no-textconv", f"--since={since}", commit, "--", path)
    times: dict[str, int] = {}
    lines: list[str] = []
    for row in repository.output("blame", *options, seconds=seconds).decode("utf-8", "replace").split("\n"):
        key, _space, rest = row.partition(" ")
        if row.startswith("\t"):
            continue
        if len(key) >= len(commit) and _is_hash(key):
            lines.append(key)
        elif key == "committer-time":
            times[lines[-1]] = int(rest)
        elif key == "boundary":
            times[lines[-1]] = 0
    return [times.get(each, 0) for each in lines]


def _is_hash(word: str) -> bool:
    return all(char in "0123456789abcdef" for char in word)


def _in_new_text(times: list[int], before: str, after: str) -> list[int]:
    """The times of the new text's lines; 0 for those that are not committed."""
    for hunk in reversed(diff_hunks(with_plain_ends(before), with_plain_ends(after))):
        times[hunk.start : hunk.end] = [0] * len(hunk.lines)
    return times


def _committed_text(repository: Repository, commit: str, path: str) -> str:
    """The text of the last commit; empty for a file that it does not have, or not as text."""
    try:
        decoded = decode(repository.output("cat-file", "blob", f"{commit}:./{path}"))
    except GreenloopError:
        return ""
    return decoded[0] if decoded else ""


def _changed_lines(before: str, after: str) -> set[int]:
    """The lines of the new text, from 1, that are new, or next to which lines are gone."""
    found: set[int] = set()
    shift = 0
    for hunk in diff_hunks(with_plain_ends(before), with_plain_ends(after)):
        first = hunk.start + shift + 1
        found |= {*range(first, first + len(hunk.lines))} or {first - 1, first}
        shift += len(hunk.lines) - (hunk.end - hunk.start)
    return found
