"""The functions that the user has touched since the last commit, unsaved text included.

Without git, without a commit, or where git does not answer, nothing counts as touched: this must never end a request.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from greenloop.core.errors import GreenloopError
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import diff_hunks, with_plain_ends
from greenloop.core.text.encoding import decode
from greenloop.project.revisions.git import Repository

MOST_FILES = 20


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
