"""Counts what a run showed for a pass, and names the proof of each case.

It must not know where candidates come from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from greenloop.core.records.outcome import Evidence
from greenloop.core.records.spec import USER_PROVENANCES, Spec
from greenloop.core.records.verdict import Verdict
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.verdict.apart import Proofs
from greenloop.verdict.related_tests.unmeasured import UnmeasuredTests

APART, WITH_WRONG_RESULTS = "apart", "fails with wrong results"
NO_TIME = "the run's time was over before it could be proven (`seconds`)"


@dataclass(kw_only=True)
class Progress:
    """State of a proof in progress: the verdict so far, and the results of the proofs that are done.

    `data` are those of the checks beyond the tests. `rest` are the related tests that a result does not wait for, as
    long as they run; `offer` gets the evidence of one then, and `report_status` how many have run.
    """

    inputs: VerificationInputs
    verdict: Verdict
    sandbox: str
    offer: Callable[[Evidence], None]
    report_status: Callable[[str], None]
    proofs: Proofs | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    rest: UnmeasuredTests | None = None

    def evidence(self) -> Evidence:
        """The evidence for a pass, as far as the time sufficed to prove it."""
        verdict, inputs = self.verdict, self.inputs
        if self.rest is not None:
            verdict = self.rest.count_in(verdict)
        passed = [result.id for result in verdict.cases if result.passed]
        proofs = self.proofs or Proofs(unproven=dict.fromkeys(passed, NO_TIME))
        return replace(gather(inputs, verdict, self.sandbox, proofs), data=self.data)


def gather(inputs: VerificationInputs, verdict: Verdict, sandbox: str, proofs: Proofs) -> Evidence:
    """Counts the evidence for a pass."""
    problem, related = inputs.problem, verdict.related
    outcomes = [inputs.outcomes.get(case) for case in problem.neighbours]
    users = {case.id for case in problem.spec.cases if case.provenance in USER_PROVENANCES}
    return Evidence(
        sandbox=sandbox,
        network=inputs.network,
        cases=count_cases(problem.spec, verdict),
        neighbours_unchanged=outcomes.count("passed")
        - related.unaffected
        - (related.left_out - related.late_left_out)
        + related.late_passes
        - len(verdict.flaky),
        neighbours_not_affected=related.unaffected,
        neighbours_already_failing=sum(outcome in {"failed", "error", "missing"} for outcome in outcomes)
        + related.late_failures,
        neighbours_left_out=related.left_out,
        neighbours_flaky=len(verdict.flaky),
        proofs={case: (APART, WITH_WRONG_RESULTS) if more else (APART,) for case, more in proofs.proven.items()},
        unproven={case: reason for case, reason in proofs.unproven.items() if case in users},
        vetoed=tuple(case for case in proofs.vetoed if case in users),
        together=proofs.together,
        also_fixed=verdict.turned_green,
        still_red=tuple(case for case in verdict.still_red if case in problem.siblings),
        flaky=verdict.flaky,
    )


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
