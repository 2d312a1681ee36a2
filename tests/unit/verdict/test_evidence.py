"""Which proofs a pass has, and the reason where it has none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.verdict import evidence
from greenloop.verdict.apart import Proofs
from greenloop_sandbox import CaseResult, Limits

A, B, NEAR, FAR = (f"test_m.py::test_{name}" for name in ("a", "b", "near", "far"))


def case(name: str, provenance: Provenance = Provenance.USER) -> Case:
    return Case(id=name, path="test_m.py", line=1, provenance=provenance, source="assert True")


def inputs(spec: Spec, outcomes: Mapping[str, str] | None = None) -> VerificationInputs:
    problem = Problem(root=Path("/nowhere"), spec=spec, regions=(), originals={}, files={}, neighbours=(NEAR, FAR))
    return VerificationInputs(
        problem=problem, outcomes=outcomes or {}, limits=Limits(), suite_seconds=1.0, encode=lambda _: {}
    )


PASS = Verdict(status=Status.PASSED, cases=(CaseResult(id=A, outcome="passed"), CaseResult(id=B, outcome="passed")))


def test_a_proof_says_whether_the_pass_rested_on_more_than_values():
    proofs = Proofs(proven={A: (), B: ("C.__eq__",)})
    found = evidence.gather(inputs(Spec(cases=(case(A), case(B)))), PASS, "docker", proofs)
    assert found.proofs == {A: ("apart",), B: ("apart", "fails with wrong results")}
    assert (found.sandbox, found.cases) == ("docker", {Provenance.USER: (2, 2)})


def test_the_users_cases_without_a_proof_have_a_reason_and_generated_ones_need_none():
    spec = Spec(cases=(case(A), case(B, Provenance.PROPERTY)))
    proofs = Proofs(unproven={A: "a Liar", B: "a Liar"}, together={NEAR: "a socket"})
    found = evidence.gather(inputs(spec), PASS, "docker", proofs)
    assert (found.proofs, found.unproven, found.together) == ({}, {A: "a Liar"}, {NEAR: "a socket"})


def test_related_tests_are_counted_by_what_they_did_before():
    before = {NEAR: "passed", FAR: "failed"}
    found = evidence.gather(inputs(Spec(cases=(case(A),)), before), PASS, "docker", Proofs())
    assert (found.neighbours_unchanged, found.neighbours_already_failing) == (1, 1)


def test_outvoted_cases_count_as_not_passed():
    verdict = Verdict(status=Status.PASSED, cases=(CaseResult(id=A, outcome="passed"),))
    spec = Spec(cases=(case(A),), outvoted=(case(B),))
    assert evidence.count_cases(spec, verdict) == {Provenance.USER: (1, 2)}
