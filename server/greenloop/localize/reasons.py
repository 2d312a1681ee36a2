"""Says in words why a function is suspicious, as far as the evidence shows it.

It must not rank anything: a reason is a fact, and an innocent function may have several.
"""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.core.records.spec import Region
from greenloop.localize.evidence import Evidence
from greenloop.localize.signals import data

JUST_NOW = 0.5  # days before the last commit: changed by that commit


def find_reasons(evidence: Evidence) -> Mapping[Region, str]:
    """Returns the reasons for each suspect that has one: `raised the exception; ran only in failing tests`."""
    produced = data.scores(evidence)
    found = {region: "; ".join(_reasons(evidence, region, produced)) for region in evidence.suspects}
    return {region: reason for region, reason in found.items() if reason}


def _reasons(evidence: Evidence, region: Region, produced: Mapping[Region, float]) -> list[str]:
    reasons = []
    if (position := evidence.frames.get(region)) is not None:
        has_raised = position == 0 and any(region in evidence.entered[case] for case in evidence.failing)
        reasons.append(
            "raised the exception" if has_raised else "in the traceback" if position else "named by the failure"
        )
    if produced.get(region):
        reasons.append("made a compared value")
    if region in evidence.touched:
        reasons.append("changed since the last commit")
    elif evidence.ages.get(region, JUST_NOW + 1) <= JUST_NOW:
        reasons.append("changed by the last commit")
    entered = [case for case in evidence.failing if region in evidence.entered[case]]
    if evidence.passing and entered and not any(region in evidence.entered[case] for case in evidence.passing):
        reasons.append("ran only in failing tests")
    if evidence.suspects[region].depth == 1 and entered:
        reasons.append("called by the test itself")
    return reasons
