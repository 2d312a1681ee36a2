"""Which proofs a pass has, and the reason where it has none."""

from __future__ import annotations

import pytest
from greenloop.verdict.reversal import ReversalResult

from greenloop.core.records.outcome import Evidence
from greenloop.core.records.spec import Case, Provenance, Spec
from greenloop.core.records.verdict import CaseResult, Status, Verdict
from greenloop.verdict import evidence

A, B = "test_m.py::test_a", "test_m.py::test_b"


def case(name: str, provenance: Provenance = Provenance.USER) -> Case:
    return Case(id=name, path="test_m.py", line=1, provenance=provenance, source="assert True")


SPEC = Spec(cases=(case(A), case(B)))


def add(found: Evidence, result: ReversalResult, spec: Spec = SPEC) -> Evidence:
    return evidence.add_proofs(found, spec, [each.id for each in spec.cases], result)


def test_each_case_has_the_proofs_that_hold_for_it():
    found = add(Evidence(canaried_cases=(B,), out_of_process=2), ReversalResult(proven=frozenset({A})))
    assert found.proofs == {A: ("reversal", "isolated re-run"), B: ("tamper check", "isolated re-run")}
    assert found.unproven == {}


@pytest.mark.parametrize(
    ("result", "proofs", "reason"),
    [
        (ReversalResult(unproven={A: "it also passes"}), {}, "it also passes"),
        (ReversalResult(), {}, evidence.NO_PROOF),
        (ReversalResult(suspicious={A: "a Liar"}, unproven={A: "a Liar"}), {}, "a Liar"),
    ],
)
def test_a_case_without_any_proof_has_a_reason(result, proofs, reason):
    found = add(Evidence(), result, Spec(cases=(case(A),)))
    assert (found.proofs, found.unproven) == (proofs, {A: reason})


def test_values_that_may_lie_are_proven_in_another_process_alone():
    result = ReversalResult(suspicious={A: "a Liar"}, unproven={A: "a Liar"})
    spec = Spec(cases=(case(A),))
    assert add(Evidence(canaried_cases=(A,), out_of_process=1), result, spec).proofs == {A: ("isolated re-run",)}
    unasserted = ReversalResult(unasserted={A: "never ran"}, unproven={A: "never ran"})
    assert add(Evidence(out_of_process=1), unasserted, spec).unproven == {A: "never ran"}


def test_generated_cases_need_no_proof_and_scores_have_no_tamper_check():
    spec = Spec(cases=(case(A, Provenance.PROPERTY), case(B, Provenance.SCORE)))
    found = add(Evidence(canaried_cases=(B,)), ReversalResult(), spec)
    assert A not in found.unproven
    assert B not in found.proofs


def test_outvoted_cases_count_as_not_passed():
    verdict = Verdict(status=Status.PASSED, cases=(CaseResult(id=A, outcome="passed"),))
    spec = Spec(cases=(case(A),), outvoted=(case(B),))
    assert evidence.count_cases(spec, verdict) == {Provenance.USER: (1, 2)}
