"""Replays a past result with the same code, tests, environment and seeds, and reports what has changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.records.outcome import Evidence, Outcome, Verified
from greenloop.core.records.spec import Provenance
from greenloop.core.records.verdict import Status
from greenloop.core.summary import verification_level
from greenloop.engine.after_run import past_run_verifier, run_own_code
from greenloop.engine.history import provenance
from greenloop.engine.history.provenance import Basis
from greenloop.engine.history.rows import StoredRun
from greenloop.engine.history.store import History
from greenloop.engine.sandbox_spec import choose_sandbox, ignore_status
from greenloop.engine.verify.report import Verification, failed_cases, find_tampering
from greenloop.engine.verify.setup import Require, unmet
from greenloop.plugins.replay.changes import describe_changes, refuse_changed_tests
from greenloop.plugins.replay.export import Use, require_result
from greenloop.project.settings import Settings
from greenloop.project.snapshot import Snapshot
from greenloop.wording.outcome import summarize_solved

REPLAY = Use(
    verb="verified",
    instead_of_notebook="Refine its cell again: greenloop says so if it already passes.",
    instead_of_old="Check the code against a commit's tests: `greenloop verify`.",
)


async def replay(
    number: int,
    *,
    settings: Callable[[Path], Settings],
    seconds: float = 0.0,
    require: Require = "",
    report_status: Callable[[str], None] = ignore_status,
    warn: Callable[[str], None] = ignore_status,
) -> Verification:
    """Verifies a stored run's result again. `seconds` of wall time limit each run of the tests (0: as in the settings).

    `require` says what a pass needs beyond that.

    Raises `UsageError` for a run that does not exist or has no result, `CannotVerifyError` when its tests have changed.
    """
    began = time.monotonic()
    record, outcome, stored_basis = await asyncio.to_thread(_read_run, number, warn)
    root = Path(record.root)
    run_settings = settings(root)
    sandbox, place = await choose_sandbox(root, run_settings, report_status)
    current = await asyncio.to_thread(provenance.current_basis, place)
    refuse_changed_tests(
        stored_basis,
        current,
        f"The tests have changed since run {number}",
        "Restore them, or check the code against a commit's tests: `greenloop verify`.",
    )
    changes = [
        *describe_changes(stored_basis, current, except_files=outcome.after),
        *_changed_texts(root, outcome),
    ]
    if record.sandbox != sandbox.name:
        changes.append(f"The sandbox was {record.sandbox} and is {sandbox.name}.")

    report_status(f"running the tests of run {number} once more")
    problem = provenance.stored_problem(root, stored_basis, outcome)
    verifier = past_run_verifier(
        problem,
        stored_basis.outcomes,
        sandbox=sandbox,
        place=place,
        settings=run_settings,
        seconds=seconds,
        attempts=outcome.attempts[:1],  # the user's own code
    )
    own = verifier.encode({path: text for path, text in outcome.before.items() if text is not None})
    await run_own_code(problem, own, sandbox, place, verifier.inputs.limits.seconds)
    verdict = await verifier.accept(outcome.after)
    evidence = _with_stored(verifier.state.evidence, outcome)
    passed = tuple(case.id for case in verdict.cases if case.passed)
    tampered = find_tampering(verdict)
    failed = (
        () if tampered else failed_cases(verdict, stored_basis.outcomes) + tuple(case.id for case in verdict.collateral)
    )
    reason = "" if verdict.status is Status.PASSED else verdict.reason or f"{', '.join(failed[:3])} does not pass."
    reason = (
        reason or _why_partial(evidence) or unmet(require, {**evidence.together, **evidence.unproven}, evidence.data)
    )
    return Verification(
        verified=not reason,
        reason=reason,
        revision=f"run {number}",
        cases=(*verdict.cases, *verdict.collateral),
        before=stored_basis.outcomes,
        tampered=tampered,
        failed=failed,
        fixed=tuple(case for case in passed if stored_basis.outcomes.get(case) != "passed"),
        apart=tuple(evidence.proofs),
        together=evidence.together,
        unearned=evidence.unproven,
        sandbox=sandbox.name,
        network=place.network,
        require=require,
        notes=outcome.evidence.warnings,
        data=evidence.data,
        changes=tuple(changes),
        seconds=round(time.monotonic() - began, 3),
    )


def _with_stored(evidence: Evidence, outcome: Outcome) -> Evidence:
    """Adds what no run of these tests can show again: tests that were left out, the approval of this very text."""
    left_out = max(evidence.neighbours_left_out, outcome.evidence.neighbours_left_out)
    evidence = replace(evidence, neighbours_left_out=left_out)
    approval = outcome.evidence.cases.get(Provenance.HUMAN)
    return replace(evidence, cases={**evidence.cases, Provenance.HUMAN: approval}) if approval else evidence


def _why_partial(evidence: Evidence) -> str:
    """Returns why the evidence of this run does not verify the result fully; "" if it does."""
    level = verification_level(evidence)
    if level is Verified.VERIFIED:
        return ""
    if level is Verified.UNVERIFIED:
        return "All passed, but without a sandbox that proves nothing."
    return f"All passed, but the evidence is partial: {summarize_solved(evidence, level)}."


def _read_run(number: int, warn: Callable[[str], None]) -> tuple[StoredRun, Outcome, Basis]:
    with History.open(warn=warn) as history:
        record, stored_basis = history.run(number), history.basis(number)
    if record is None:
        raise UsageError(f"There is no run {number} in the history.", remedy="`greenloop history` lists them.")
    if not Path(record.root).is_dir():
        raise CannotVerifyError(f"The workspace of run {number}, {record.root}, no longer exists.")
    return record, *require_result(record, stored_basis, REPLAY)


def _changed_texts(root: Path, outcome: Outcome) -> list[str]:
    """Describes files that match neither the run's input nor its result; the result's text is what is verified."""
    snapshot = Snapshot(root=root, buffers={})
    return [
        f"{path} has been changed since; the text that was verified then was used."
        for path, text in outcome.after.items()
        if snapshot.text(path) not in (text, outcome.before.get(path))
    ]
