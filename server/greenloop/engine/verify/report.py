"""Result of a verification, and the reasons against it; no side effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from greenloop.core.feature_data import doubts_of
from greenloop.core.records.outcome import Evidence
from greenloop.core.records.spec import Provenance, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.engine.verify.baseline import RevisionBaseline
from greenloop.engine.verify.setup import Require, VerificationContext, unmet
from greenloop.project.revisions.judging import JudgingChange
from greenloop.project.revisions.revision import Revision
from greenloop.wording.notes import list_some
from greenloop_sandbox import CaseResult

HARMLESS = frozenset({"passed", "skipped", "xfailed"})
_FAILING = {"failed", "error", "missing"}
_BAD = {"failed", "error", "missing", "xpassed"}


class State(StrEnum):
    """Outcome of a verification; the first four are passes.

    `PARTIALLY`: the pass of some test is not proven, for it could not be put apart from the code, or the change is
    perhaps unfinished. `ALREADY_FAILING`: what fails did so with the commit's own code, and nobody asked for it;
    `KNOWN_FAILING`: all of it is known to fail. `STILL_FAILING`: what was asked for fails as it did.
    """

    VERIFIED = "verified"
    PARTIALLY = "partially_verified"
    KNOWN_FAILING = "known_failing"
    ALREADY_FAILING = "already_failing"
    STILL_FAILING = "still_failing"
    FAILING = "failing"
    TAMPERED = "tampered"
    EDITS_TESTS = "edits_tests"
    NOTHING_STAGED = "nothing_staged"
    NOT_VERIFIED = "not_verified"


@dataclass(frozen=True, kw_only=True)
class Tampering:
    """A sign of tampering; `case` is empty where it concerns the whole run."""

    case: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class NewTests:
    """Results of the tests that only the change has, and `before` it; `passes` are the proven new passes."""

    cases: tuple[CaseResult, ...] = ()
    before: Mapping[str, str] = field(default_factory=dict)
    passes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


NO_NEW_TESTS = NewTests()


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Result of a verification. `verified` means an untampered pass in a sandbox; else `reason` says why not.

    `base` is the commit, `before` the outcomes with its own code by id. `failed` are cases that had to pass and did
    not. Of the cases and test files that fail now and did before, `already_failing` are those that no target named,
    which count against nothing, `still_failing` those that one named, and `known_failing` those of both that the user
    excused, which are not in `still_failing`. `fixed` pass now and did not before; `flaky` failed and do not always
    pass with the commit's own code either.
    `changed`, `removed`, `added` and `kept` are files (`project.revisions.revision.Revision` says which), and so are
    `judging_changes`; `because` is the user's reason for those that they allow. `new` are results of tests that only
    the change has. `apart` are cases that passed with the code in a process of its own, `together` those that passed
    before and cannot be put apart, with the reason; `unearned` has the reason for each other test whose pass is not
    proven, and `vetoed` are those of them that pass for another reason than the code. `require` is what the user
    required.
    `data` are those of the checks beyond the tests (`core/feature_data.py`).
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
    judging_changes: tuple[JudgingChange, ...] = ()
    because: str = ""
    new: NewTests = NO_NEW_TESTS
    apart: tuple[str, ...] = ()
    together: Mapping[str, str] = field(default_factory=dict)
    vetoed: tuple[str, ...] = ()
    unearned: Mapping[str, str] = field(default_factory=dict)
    require: Require = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    sandbox: str = ""
    network: bool = False
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    seconds: float = 0.0
    nothing_staged: bool = False

    @property
    def new_failing(self) -> tuple[str, ...]:
        return tuple(case.id for case in self.new.cases if case.outcome not in HARMLESS)

    @property
    def edits(self) -> tuple[JudgingChange, ...]:
        """The changes of what judges that the user did not allow."""
        return tuple(each for each in self.judging_changes if not each.allowed)

    @property
    def old_failures(self) -> tuple[str, ...]:
        """Tests that fail as before, and count against nothing."""
        return tuple(dict.fromkeys((*self.already_failing, *self.known_failing)))

    @property
    def doubts(self) -> tuple[str, ...]:
        """Reasons for which a pass is only partially verified."""
        return (*self.unearned.values(), *doubts_of(self.data))

    @property
    def is_proven(self) -> bool:
        """Verified, with a proof for each new pass and no sign that something is missing: what an agent may count."""
        return self.verified and not self.doubts

    @property
    def state(self) -> State:
        """The result in a word."""
        if self.verified and self.old_failures:
            return State.ALREADY_FAILING if {*self.old_failures} - {*self.known_failing} else State.KNOWN_FAILING
        if self.verified:
            return State.PARTIALLY if self.doubts else State.VERIFIED
        if self.nothing_staged:
            return State.NOTHING_STAGED
        if self.tampered:
            return State.TAMPERED
        if self.new_failing or {*self.failed} - {*self.still_failing}:
            return State.FAILING
        if self.still_failing:
            return State.STILL_FAILING
        return State.EDITS_TESTS if self.edits else State.NOT_VERIFIED


def build_verification(
    context: VerificationContext,
    before: RevisionBaseline,
    spec: Spec,
    verdict: Verdict,
    first_results: Sequence[CaseResult],
    *,
    evidence: Evidence | None = None,
    new: NewTests = NO_NEW_TESTS,
    flaky: tuple[str, ...] = (),
    still_broken: tuple[str, ...] = (),
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
    replaced = {
        case.id: "the change replaces its examples"
        for case in spec.cases
        if case.provenance is not Provenance.USER and before.outcomes.get(case.id) in _FAILING and case.id in passed
    }
    is_asked = bool(context.request.targets)
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
        already_failing=() if is_asked else tuple(still_failing),
        still_failing=tuple(case for case in still_failing if case not in excused) if is_asked else (),
        known_failing=excused,
        fixed=tuple(case for case in passed if before.outcomes.get(case) != "passed"),
        changed=revision.changed,
        removed=revision.removed,
        added=revision.added,
        kept=revision.kept,
        judging_changes=revision.judging_changes,
        because=context.request.because,
        new=new,
        flaky=flaky,
        apart=tuple(evidence.proofs) if evidence else (),
        together=evidence.together if evidence else {},
        unearned={**(evidence.unproven if evidence else {}), **replaced},
        vetoed=evidence.vetoed if evidence else (),
        require=context.request.require,
        data=evidence.data if evidence else {},
        sandbox=context.sandbox.name,
        network=context.place.network,
        notes=(
            *_notes(context, before, spec),
            *new.notes,
            *known.notes,
            *known.describe_unused(excused, (*before.cases, *cases, *still_broken), context.request.revision),
        ),
    )


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
        also = f"; {_describe_failing(result, result.still_failing)}" if result.still_failing else ""
        return f"{subject}: {list_some(newly_failed)}{also}."
    still_failing = f"{_describe_failing(result, result.still_failing)}." if result.still_failing else ""
    return f"{still_failing} {_other_reason(verdict, result, base, spec, targets=targets)}".strip()


def _other_reason(verdict: Verdict, result: Verification, base: Revision, spec: Spec, *, targets: bool) -> str:
    """Returns why this is not a verified pass although nothing newly fails; "" if it is, or if failures say it all."""
    if verdict.status is not Status.PASSED:
        if result.still_failing:
            return ""
        failing = f"{_describe_failing(result, result.old_failures)}. " if result.old_failures else ""
        return f"{failing}No test passes, so nothing is verified."
    passed = {case.id for case in verdict.cases if case.passed}
    if not any(case.id in passed for case in spec.cases if case.provenance is Provenance.USER):
        return f"No test of {result.revision} passes; only the working tree's own doctests do."
    if not targets and not base.code_changed and (base.changed or base.removed or base.added or result.edits):
        return f"Only tests or their configuration differ from {result.revision}; no code was changed."
    if new_failing := result.new_failing:
        return f"{len(new_failing)} new test(s) do not pass: {', '.join(new_failing[:3])}."
    if result.edits:
        return edits_reason(result.edits)
    if result.sandbox == "none":
        return "All passed, but without a sandbox that proves nothing."
    if result.vetoed:
        case = result.vetoed[0]
        one = len(result.vetoed) == 1
        subject = "1 test passes" if one else f"{len(result.vetoed)} tests pass"
        return f"{subject} now, and nothing shows that the code earned it: {case} ({result.unearned[case]})."
    return unmet(result.require, {**result.together, **result.unearned}, result.data)


def edits_reason(edits: Sequence[JudgingChange], most: int = 3) -> str:
    """Returns why a change of what judges is not verified, and how the user allows it."""
    more = f" {len(edits) - most} more files that judge it are changed." if len(edits) > most else ""
    allow = f"`--allow-test-change {edits[0].path} --because TEXT`"
    return f"{' '.join(map(str, edits[:most]))}{more} If that is right, let it judge: {allow}."


def _describe_failing(result: Verification, failing: Sequence[str]) -> str:
    """`2 of 3 tests still fail, as they did in HEAD: a, b`."""
    files = [name for name in failing if "::" not in name]
    cases = [name + " (flaky)" * (name in result.flaky) for name in failing if name not in files]
    clauses = []
    if cases:
        total = len({*result.before, *(case.id for case in result.cases)})
        fail = "still fails, as it did" if len(cases) == 1 else "still fail, as they did"
        clauses.append(f"{len(cases)} of {total} tests {fail} in {result.revision}: {list_some(cases)}")
    if files:
        clauses.append(f"as in {result.revision}, pytest still cannot import {list_some(files)}")
    return "; ".join(clauses)


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
