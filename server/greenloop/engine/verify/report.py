"""Result of a verification, and the reasons against it; no side effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from greenloop.core.records.outcome import Difference, Evidence, Noticed
from greenloop.core.records.spec import Provenance, Spec
from greenloop.core.records.verdict import CaseResult, Status, Verdict
from greenloop.engine.verify.baseline import RevisionBaseline
from greenloop.engine.verify.setup import VerificationContext
from greenloop.project.revisions.revision import Revision

HARMLESS = frozenset({"passed", "skipped", "xfailed"})
_FAILING = {"failed", "error", "missing"}
_BAD = {"failed", "error", "missing", "xpassed"}


class State(StrEnum):
    """What a verification came to. `STILL_FAILING`: nothing fails that did not fail with the commit's own code."""

    VERIFIED = "verified"
    KNOWN_FAILING = "known_failing"
    STILL_FAILING = "still_failing"
    FAILING = "failing"
    TAMPERED = "tampered"
    READS_TESTS = "reads_tests"
    NOTHING_STAGED = "nothing_staged"
    NOT_VERIFIED = "not_verified"


@dataclass(frozen=True, kw_only=True)
class Tampering:
    """A sign of tampering; `case` is empty where it concerns the whole run."""

    case: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Result of a verification. `verified` means an untampered pass in a sandbox; else `reason` says why not.

    `base` is the commit, `before` the outcomes with its own code by id. `failed` are cases that had to pass and did
    not; `still_failing` cases and test files that fail now and did before, and that nobody excused; `known_failing`
    those that are excused; `already_failing` those of both that no target named. `fixed` pass now and did not before;
    `flaky` failed and do not always pass with the commit's own code either.
    `changed`, `removed`, `added` and `kept` are files (`project.revision.Revision` says which); `new_cases` are
    cases of added files, run on request. `not_canaried` cases passed, but the tamper check could not cover them.
    `reads_tests` are sentences about code that newly sees its tests.
    `unearned` has, for each test that failed before and passes now without a proof that the code earned it, the reason.
    `differences` are examples of what the new code does on other inputs than those of the tests; `noticed` is what
    these would notice of the change.
    `changes` are sentences about changes since a replayed past result. `nothing_staged`: there was nothing to do.
    """

    verified: bool = False
    reason: str = ""
    base: str = ""
    revision: str = ""
    cases: tuple[CaseResult, ...] = ()
    before: Mapping[str, str] = field(default_factory=dict)
    tampered: tuple[Tampering, ...] = ()
    failed: tuple[str, ...] = ()
    already_failing: tuple[str, ...] = ()
    still_failing: tuple[str, ...] = ()
    known_failing: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    new_cases: tuple[CaseResult, ...] = ()
    canaried: tuple[str, ...] = ()
    not_canaried: tuple[str, ...] = ()
    reads_tests: tuple[str, ...] = ()
    unearned: Mapping[str, str] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    noticed: Noticed | None = None
    sandbox: str = ""
    network: bool = False
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    seconds: float = 0.0
    nothing_staged: bool = False

    @property
    def new_failing(self) -> tuple[str, ...]:
        return tuple(case.id for case in self.new_cases if case.outcome not in HARMLESS)

    @property
    def state(self) -> State:
        """The result in a word; only the first two are verified."""
        if self.verified:
            return State.KNOWN_FAILING if self.known_failing else State.VERIFIED
        if self.nothing_staged:
            return State.NOTHING_STAGED
        if self.tampered:
            return State.TAMPERED
        if self.new_failing or {*self.failed} - {*self.still_failing}:
            return State.FAILING
        if self.still_failing:
            return State.STILL_FAILING
        return State.READS_TESTS if self.reads_tests else State.NOT_VERIFIED


def build_verification(
    context: VerificationContext,
    before: RevisionBaseline,
    spec: Spec,
    verdict: Verdict,
    first_results: Sequence[CaseResult],
    *,
    evidence: Evidence | None = None,
    new: tuple[CaseResult, ...] = (),
    flaky: tuple[str, ...] = (),
    still_broken: tuple[str, ...] = (),
    reads_tests: tuple[str, ...] = (),
) -> Verification:
    """Builds the result from a verdict over the cases of `spec`; `first_results` are of all cases in the first run.

    `evidence` is that of a pass (None: the proofs were not run). `still_broken` are test files that cannot be imported
    with either code.
    """
    revision, known = context.revision, context.known
    cases = {result.id: result for result in (*first_results, *verdict.cases)}
    required = {case.id for case in spec.cases}
    passed = tuple(case.id for case in verdict.cases if case.passed)
    tampered = find_tampering(verdict)
    failing = [
        case
        for case in dict.fromkeys((*before.cases, *cases))
        if case in flaky or (cases[case].outcome if case in cases else "missing") in _FAILING
    ]
    still_failing = [
        case for case in failing if case in flaky or failed_before(case, case.partition("::")[0], before)
    ] + [*still_broken]
    excused = tuple(case for case in still_failing if known.covers(case))
    newly_failing = [
        case for case in failing if case in cases and case not in required and case not in {*still_failing}
    ]
    return Verification(
        base=revision.commit,
        revision=context.request.revision,
        cases=tuple(cases.values()),
        before=before.outcomes,
        tampered=tampered,
        failed=() if tampered else (*failed_cases(verdict, before.outcomes), *newly_failing),
        already_failing=tuple(case for case in still_failing if case not in required and case not in flaky),
        still_failing=tuple(case for case in still_failing if case not in excused),
        known_failing=excused,
        fixed=tuple(case for case in passed if before.outcomes.get(case) != "passed"),
        changed=revision.changed,
        removed=revision.removed,
        added=revision.added,
        kept=revision.kept,
        new_cases=new,
        flaky=flaky,
        canaried=evidence.canaried_cases if evidence else (),
        not_canaried=tuple(case for case in passed if case not in evidence.canaried_cases) if evidence else (),
        reads_tests=reads_tests,
        unearned=_find_unearned(evidence, before, spec) if evidence else {},
        differences=evidence.differences if evidence else (),
        noticed=evidence.noticed if evidence else None,
        sandbox=context.sandbox.name,
        network=context.place.network,
        notes=(
            *_notes(context, before, spec),
            *known.notes,
            *known.describe_unused(excused, (*before.cases, *cases, *still_broken), context.request.revision),
        ),
    )


def _find_unearned(evidence: Evidence, before: RevisionBaseline, spec: Spec) -> Mapping[str, str]:
    """Why nothing proves the passes of the revision's tests that did not pass before; the others say nothing new."""
    return {
        case.id: evidence.unproven[case.id]
        for case in spec.cases
        if case.provenance is Provenance.USER
        and case.id in evidence.unproven
        and before.outcomes.get(case.id) != "passed"
    }


def failed_before(case: str, path: str, before: RevisionBaseline) -> bool:
    """Did it fail with the revision's own code, or could its file not be imported there?"""
    if case in before.cases:
        return before.outcomes.get(case, "missing") in _FAILING
    return path in before.broken


def failure_reason(verdict: Verdict, result: Verification, base: Revision, spec: Spec, *, targets: bool) -> str:
    """Says in one sentence why this is not a verified pass; empty when it is one."""
    if result.tampered:
        return verdict.reason or "The result was tampered with."
    newly_failed = [case for case in result.failed if case not in result.still_failing]
    if verdict.status is not Status.PASSED and verdict.reason and (newly_failed or spec.cases):
        return verdict.reason
    if newly_failed:
        one = len(newly_failed) == 1
        subject = "1 test that must pass does not" if one else f"{len(newly_failed)} tests that must pass do not"
        also = f"; {_describe_still_failing(result)}" if result.still_failing else ""
        return f"{subject}: {_list_some(newly_failed)}{also}."
    still_failing = f"{_describe_still_failing(result)}." if result.still_failing else ""
    return f"{still_failing} {_other_reason(verdict, result, base, spec, targets=targets)}".strip()


def _other_reason(verdict: Verdict, result: Verification, base: Revision, spec: Spec, *, targets: bool) -> str:
    """Why this is no verified pass although nothing fails newly; "" if it is one, or if what fails says it all."""
    if verdict.status is not Status.PASSED:
        if result.still_failing:
            return ""
        everything = "All tests are known to fail, so" if result.known_failing else "No test passes:"
        return f"{everything} nothing is verified."
    passed = {case.id for case in verdict.cases if case.passed}
    if not any(case.id in passed for case in spec.cases if case.provenance is Provenance.USER):
        return f"No test of {result.revision} passes; only the working tree's own doctests do."
    if not targets and not base.code_changed and (base.changed or base.removed or base.added):
        return f"Only tests or their configuration differ from {result.revision}; no code was changed."
    if new_failing := result.new_failing:
        return f"{len(new_failing)} new test(s) do not pass: {', '.join(new_failing[:3])}."
    if result.reads_tests:
        return sight_reason(result.reads_tests)
    if result.sandbox == "none":
        return "All passed, but without a sandbox that proves nothing."
    if result.unearned:
        case, why = next(iter(result.unearned.items()))
        one = len(result.unearned) == 1
        subject = "1 test passes" if one else f"{len(result.unearned)} tests pass"
        return f"{subject} now, and nothing shows that the code earned it: {case} ({why})."
    return ""


def sight_reason(sentences: Sequence[str]) -> str:
    """Why code that newly sees its tests is refused."""
    return f"The code may answer from the tests that judge it. {' '.join(sentences[:3])}"


def _describe_still_failing(result: Verification) -> str:
    """`2 of 3 tests still fail, as they did in HEAD: a, b`."""
    files = [name for name in result.still_failing if "::" not in name]
    cases = [name + " (flaky)" * (name in result.flaky) for name in result.still_failing if name not in files]
    clauses = []
    if cases:
        total = len({*result.before, *(case.id for case in result.cases)})
        fail = "still fails, as it did" if len(cases) == 1 else "still fail, as they did"
        clauses.append(f"{len(cases)} of {total} tests {fail} in {result.revision}: {_list_some(cases)}")
    if files:
        clauses.append(f"as in {result.revision}, pytest still cannot import {_list_some(files)}")
    return "; ".join(clauses)


def _list_some(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def find_tampering(verdict: Verdict) -> tuple[Tampering, ...]:
    """Returns the case that the verdict's reason names, else the failed ones."""
    if verdict.status is not Status.TAMPERED:
        return ()
    named = [case.id for case in verdict.cases if f"{case.id} " in verdict.reason]
    # The longest, because the id of one case may be part of another's.
    named = sorted(named, key=len, reverse=True)[:1]
    named = named or [case.id for case in verdict.cases if case.outcome == "failed"]
    return tuple(Tampering(case=case, reason=verdict.reason) for case in named or [""])


def failed_cases(verdict: Verdict, outcomes: Mapping[str, str]) -> tuple[str, ...]:
    """Lists the cases that had to pass and did not; one that was already skipped before is not among them."""
    if verdict.status is Status.PASSED:
        return ()
    return tuple(
        case.id
        for case in verdict.cases
        if case.outcome in _BAD or (not case.passed and outcomes.get(case.id) != case.outcome)
    )


def _notes(context: VerificationContext, before: RevisionBaseline, spec: Spec) -> tuple[str, ...]:
    notes = list(context.revision.notes)
    if doctests := sum(case.provenance is not Provenance.USER for case in spec.cases):
        notes.append(f"{doctests} doctest(s) are part of the code, so they come from {context.request.code}.")
    revision = context.request.revision
    notes += [
        f"{path} could not be imported with the code of {revision} ({why})." for path, why in before.broken.items()
    ]
    return tuple(notes)
