"""Says in words why a function is suspicious, as far as the evidence shows it.

It must not rank anything: a reason is a fact, and an innocent function may have several.
"""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.core.records.spec import Region
from greenloop.localize.evidence import CoverageEvidence
from greenloop.localize.measuring import CUT_SHORT


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
