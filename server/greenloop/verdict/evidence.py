"""Counts what a run showed for a pass, and names the proofs of each case.

It must not know where candidates come from.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from greenloop.core.records.outcome import Evidence
from greenloop.core.records.spec import USER_PROVENANCES, Case, Provenance, Spec
from greenloop.core.records.verdict import Verdict
from greenloop.verdict.inputs import VerificationInputs
from greenloop.verdict.reversal import ReversalResult

NO_PROOF = "nothing shows that it depends on the changed code"


def has_assertions(case: Case) -> bool:
    """Can its assertions be mutated? Docstring examples and property tests have none."""
    return case.provenance is Provenance.USER or (bool(case.source) and case.provenance is not Provenance.PROPERTY)


def gather(
    inputs: VerificationInputs,
    verdict: Verdict,
    sandbox: str,
    cases: Sequence[Case],
    *,
    canaried: Collection[str],
    out_of_process: int,
) -> Evidence:
    """Counts the evidence for a pass."""
    outcomes = [inputs.outcomes.get(case) for case in inputs.problem.neighbours]
    return Evidence(
        sandbox=sandbox,
        network=inputs.network,
        cases=count_cases(inputs.problem.spec, verdict),
        neighbours_unchanged=outcomes.count("passed")
        - verdict.unaffected
        - (verdict.left_out - verdict.first_left_out)
        + verdict.first_passes
        - len(verdict.flaky),
        neighbours_not_affected=verdict.unaffected,
        neighbours_already_failing=sum(outcome in {"failed", "error", "missing"} for outcome in outcomes)
        + verdict.first_failures,
        neighbours_left_out=verdict.left_out,
        neighbours_flaky=len(verdict.flaky),
        canaried=len(canaried),
        canaried_cases=tuple(case.id for case in cases if case.id in canaried),
        canary_total=len(cases),
        out_of_process=out_of_process,
        also_fixed=verdict.turned_green,
        still_red=tuple(case for case in verdict.still_red if case in inputs.problem.siblings),
    )


def add_proofs(evidence: Evidence, spec: Spec, passed: Collection[str], reversed_cases: ReversalResult) -> Evidence:
    """Adds the proofs of each passed case, and the reason where one of the user's has none.

    Where the values that a test compared may lie, only the isolated re-run counts: no such value reached it.
    """
    isolated = {case.id for case in spec.cases if case.id in passed and has_assertions(case)}
    isolated = isolated if evidence.out_of_process == len(isolated) else set()
    found: dict[str, tuple[str, ...]] = {}
    unproven: dict[str, str] = {}
    for case in spec.cases:
        if case.id not in passed or not case.executed:
            continue
        is_suspicious = case.id in reversed_cases.suspicious
        kinds = {
            "reversal": case.id in reversed_cases.proven,
            # The assertions about a score are greenloop's own: they say nothing about how the scorer compares.
            "tamper check": case.id in evidence.canaried_cases
            and not is_suspicious
            and case.provenance is not Provenance.SCORE,
            "isolated re-run": case.id in isolated and case.id not in reversed_cases.unasserted,
        }
        found[case.id] = tuple(kind for kind, holds in kinds.items() if holds)
        if not found[case.id] and case.provenance in USER_PROVENANCES:
            unproven[case.id] = reversed_cases.unproven.get(case.id, NO_PROOF)
    return replace(evidence, proofs={case: kinds for case, kinds in found.items() if kinds}, unproven=unproven)


def count_cases(spec: Spec, verdict: Verdict) -> dict[str, tuple[int, int]]:
    """Counts the cases of each provenance as (passed, total); outvoted cases count as not passed."""
    counts: dict[str, tuple[int, int]] = {}
    passed = {case.id for case in verdict.cases if case.passed}
    for case in spec.cases:
        good, total = counts.get(case.provenance, (0, 0))
        counts[case.provenance] = (good + (case.id in passed), total + 1)
    for case in spec.outvoted:
        good, total = counts.get(case.provenance, (0, 0))
        counts[case.provenance] = (good, total + 1)
    return counts
