"""Result of a verification, and the reasons against it; no side effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from greenloop.core.records.spec import Provenance, Spec
from greenloop.core.records.verdict import CaseResult, Status, Verdict
from greenloop.engine.verify.baseline import RevisionBaseline
from greenloop.engine.verify.setup import VerificationContext
from greenloop.project.revision import Revision

HARMLESS = frozenset({"passed", "skipped", "xfailed"})
_BAD = {"failed", "error", "missing", "xpassed"}


@dataclass(frozen=True, kw_only=True)
class Tampering:
    """A sign of tampering; `case` is empty where it concerns the whole run."""

    case: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Verification:
    """Result of a verification. `verified` means an untampered pass in a sandbox; else `reason` says why not.

    `base` is the commit, `before` the outcomes with its own code by id. `failed` are cases that had to pass and did
    not, `already_failing` those that fail now and did before, `fixed` those that pass now and did not before,
    `flaky` those that failed and do not always pass with the commit's own code either.
    `changed`, `removed`, `added` and `kept` are files (`project.revision.Revision` says which); `new_cases` are
    cases of added files, run on request. `not_canaried` cases passed, but the tamper check could not cover them.
    `changes` are sentences about changes since a replayed past result.
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
    fixed: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    new_cases: tuple[CaseResult, ...] = ()
    canaried: tuple[str, ...] = ()
    not_canaried: tuple[str, ...] = ()
    sandbox: str = ""
    network: bool = False
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def new_failing(self) -> tuple[str, ...]:
        return tuple(case.id for case in self.new_cases if case.outcome not in HARMLESS)


def build_verification(
    context: VerificationContext,
    before: RevisionBaseline,
    spec: Spec,
    verdict: Verdict,
    first_results: Sequence[CaseResult],
    *,
    canaried: Sequence[str] | None = None,
    new: tuple[CaseResult, ...] = (),
    flaky: tuple[str, ...] = (),
) -> Verification:
    """Builds the result from a verdict over the cases of `spec`; `first_results` are of all cases in the first run.

    `canaried` None: the tamper check did not run.
    """
    revision = context.revision
    cases = {result.id: result for result in (*first_results, *verdict.cases)}
    required = {case.id for case in spec.cases}
    passed = tuple(case.id for case in verdict.cases if case.passed)
    tampered = find_tampering(verdict)
    return Verification(
        base=revision.commit,
        revision=context.request.revision,
        cases=tuple(cases.values()),
        before=before.outcomes,
        tampered=tampered,
        failed=() if tampered else failed_cases(verdict, before.outcomes),
        already_failing=tuple(
            case.id
            for case in cases.values()
            if case.id not in required and case.id not in flaky and case.outcome in {"failed", "error"}
        ),
        fixed=tuple(case for case in passed if before.outcomes.get(case) != "passed"),
        changed=revision.changed,
        removed=revision.removed,
        added=revision.added,
        kept=revision.kept,
        new_cases=new,
        flaky=flaky,
        canaried=tuple(canaried or ()),
        not_canaried=() if canaried is None else tuple(case for case in passed if case not in set(canaried)),
        sandbox=context.sandbox.name,
        network=context.place.network,
        notes=_notes(context, before, spec),
    )


def failure_reason(verdict: Verdict, result: Verification, base: Revision, spec: Spec, *, targets: bool) -> str:
    """Says in one sentence why this is not a verified pass; empty when it is one."""
    if result.tampered:
        return verdict.reason or "The result was tampered with."
    if verdict.status is not Status.PASSED:
        names = ", ".join(result.failed[:3]) + (" and others" if len(result.failed) > 3 else "")
        failed_sentence = f"{len(result.failed)} test(s) that must pass do not: {names}." if names else ""
        return verdict.reason or failed_sentence or "No test passes."
    passed = {case.id for case in verdict.cases if case.passed}
    if not any(case.id in passed for case in spec.cases if case.provenance is Provenance.USER):
        return f"No test of {result.revision} passes; only the working tree's own doctests do."
    if not targets and not base.code_changed and (base.changed or base.removed or base.added):
        return f"Only tests or their configuration differ from {result.revision}; no code was changed."
    if new_failing := result.new_failing:
        return f"{len(new_failing)} new test(s) do not pass: {', '.join(new_failing[:3])}."
    if result.sandbox == "none":
        return "All passed, but without a sandbox that proves nothing."
    return ""


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
        notes.append(f"{doctests} doctest(s) are part of the code, so they come from the working tree.")
    revision = context.request.revision
    notes += [
        f"{path} could not be imported with the code of {revision} ({why})." for path, why in before.broken.items()
    ]
    return tuple(notes)
