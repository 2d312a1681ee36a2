"""Ranks the functions that a failing test reaches: each signal has a weight, and the sum decides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from greenloop.core.errors import GreenloopError
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import diff_hunks, with_plain_ends
from greenloop.core.text.encoding import decode
from greenloop.localize import signals
from greenloop.localize.evidence import CoverageEvidence
from greenloop.localize.measuring import CUT_SHORT
from greenloop.project.revisions.git import Repository

Signal = Callable[[CoverageEvidence], Mapping[Region, float]]

SIGNALS: Mapping[str, Signal] = {
    "traceback": signals.traceback,
    "spectrum": signals.spectrum,
    "words": signals.words,
    "touched": signals.touched,
}
# Chosen by lab/benchmarks/ranking.py; lab/docs/localisation.md says what each adds.
# Past fixes cannot show what `touched` is worth, so it only decides between suspects that are nearly as suspicious.
WEIGHTS: Mapping[str, float] = {"spectrum": 1.0, "words": 1.0, "traceback": 1.0, "touched": 0.5}


def rank(evidence: CoverageEvidence, weights: Mapping[str, float] = WEIGHTS) -> list[Region]:
    """Returns the regions that may be at fault, most suspicious first."""
    return sort_by(evidence, suspicions(evidence, weights))


def suspicions(evidence: CoverageEvidence, weights: Mapping[str, float] = WEIGHTS) -> dict[Region, float]:
    """Returns the weighted sum of the signals for each suspect."""
    total = dict.fromkeys(evidence.suspects, 0.0)
    for name, weight in weights.items():
        for region, score in SIGNALS[name](evidence).items() if weight else ():
            if region in total:
                total[region] += weight * score
    return total


def sort_by(evidence: CoverageEvidence, total: Mapping[Region, float]) -> list[Region]:
    """Returns the suspects by their suspicion; ties by depth, then the one that was entered last."""

    def key(region: Region) -> tuple[float | int | str, ...]:
        entry = evidence.suspects[region]
        is_special = region.qualname.rpartition(".")[2].startswith("__")
        return (-round(total[region], 9), is_special, entry.depth, -entry.order, region.path, region.start)

    return sorted(evidence.suspects, key=key)


# -- reasons in words -------------------------------------------------------------------------------------------------


def find_reasons(evidence: CoverageEvidence) -> Mapping[Region, str]:
    """Returns the reasons for each suspect that has one: `raised the exception; ran only in failing tests`."""
    found = {region: "; ".join(_reasons(evidence, region)) for region in evidence.suspects}
    return {region: reason for region, reason in found.items() if reason}


def _reasons(evidence: CoverageEvidence, region: Region) -> list[str]:
    reasons = []
    if (position := evidence.frames.get(region)) is not None:
        reasons.append(_place_in_traceback(evidence, region, position))
    if region in evidence.touched:
        reasons.append("changed since the last commit")
    entered = [case for case in evidence.failing if region in evidence.entered[case]]
    if evidence.passing and entered and not any(region in evidence.entered[case] for case in evidence.passing):
        reasons.append("ran only in failing tests")
    if evidence.suspects[region].depth == 1 and entered:
        reasons.append("called by the test itself")
    return reasons


def _place_in_traceback(evidence: CoverageEvidence, region: Region, position: int) -> str:
    if position:
        return "in the traceback"
    ends = [failure for failure in evidence.failing.values() if failure and failure.frames]
    last = [each for each in ends if evidence.region_of(each.frames[-1].path, each.frames[-1].line) == region]
    if any(failure.type not in CUT_SHORT for failure in last):
        return "raised the exception"
    if last:
        return "was running when the test was ended"
    is_on_the_way = any(
        evidence.region_of(frame.path, frame.line) == region for failure in ends for frame in failure.frames
    )
    return "called what raised the exception" if is_on_the_way else "named by the failure"


# -- functions touched since the last commit --------------------------------------------------------------------------


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
