"""A past result once more: the same code, tests, surroundings and seeds, or what is not the same."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.records.outcome import Outcome
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status
from greenloop.engine.history import provenance
from greenloop.engine.history.provenance import Basis
from greenloop.engine.history.store import History, Record
from greenloop.engine.refine import choose_sandbox, ignore_status, past_run_verifier
from greenloop.engine.verify.report import Verification, failed_cases, find_tampering
from greenloop.notebook import adapter
from greenloop.project.settings import Settings
from greenloop.project.snapshot import Snapshot


async def replay(
    number: int,
    *,
    settings: Callable[[Path], Settings],
    seconds: float = 0.0,
    report_status: Callable[[str], None] = ignore_status,
    warn: Callable[[str], None] = ignore_status,
) -> Verification:
    """Proves the result of a run of the history again. `seconds` of wall time bound each run of the tests (0: as set).

    Raises `UsageError` for a run that does not exist or has no result, `CannotVerifyError` when its tests are not the
    same any more.
    """
    began = time.monotonic()
    record, outcome, then = await asyncio.to_thread(_read_run, number, warn)
    root = Path(record.root)
    chosen = settings(root)
    sandbox, place = await choose_sandbox(root, chosen, report_status)
    now = await asyncio.to_thread(provenance.current_basis, place)
    if differing := provenance.changed_tests(then, now):
        more = f" and {len(differing) - 5} more" if len(differing) > 5 else ""
        raise CannotVerifyError(
            f"The tests have changed since run {number}: {', '.join(differing[:5])}{more}.",
            remedy="Restore them, or check the code against a commit's tests: `greenloop verify`.",
        )
    changes = [*provenance.describe_changes(then, now, except_files=outcome.after), *_changed_texts(root, outcome)]
    if record.sandbox != sandbox.name:
        changes.append(f"The sandbox was {record.sandbox} and is {sandbox.name}.")

    report_status(f"running the tests of run {number} once more")
    snapshot = Snapshot(root=root, buffers={})
    tests = {case.path: text for case in then.spec.cases if (text := snapshot.text(case.path)) is not None}
    problem = Problem(root=root, spec=then.spec, regions=(), originals={}, files=tests, neighbours=then.neighbours)
    verifier = past_run_verifier(problem, then.outcomes, sandbox=sandbox, place=place, settings=chosen, seconds=seconds)
    verdict = await verifier.accept(outcome.after)
    evidence = verifier.state.evidence
    passed = tuple(case.id for case in verdict.cases if case.passed)
    canaried = evidence.canaried_cases
    tampered = find_tampering(verdict)
    failed = () if tampered else failed_cases(verdict, then.outcomes) + tuple(case.id for case in verdict.collateral)
    reason = "" if verdict.status is Status.PASSED else verdict.reason or f"{', '.join(failed[:3])} does not pass."
    if not reason and sandbox.name == "none":
        reason = "All passed, but without a sandbox that proves nothing."
    return Verification(
        verified=not reason,
        reason=reason,
        revision=f"run {number}",
        cases=(*verdict.cases, *verdict.collateral),
        before=then.outcomes,
        tampered=tampered,
        failed=failed,
        fixed=tuple(case for case in passed if then.outcomes.get(case) != "passed"),
        canaried=canaried,
        not_canaried=() if reason else tuple(case for case in passed if case not in canaried),
        sandbox=sandbox.name,
        network=place.network,
        changes=tuple(changes),
        seconds=round(time.monotonic() - began, 3),
    )


def _read_run(number: int, warn: Callable[[str], None]) -> tuple[Record, Outcome, Basis]:
    history = History.open(warn=warn)
    try:
        record, then = history.run(number), history.basis(number)
    finally:
        history.close()
    if record is None:
        raise UsageError(f"There is no run {number} in the history.", remedy="`greenloop history` lists them.")
    if not Path(record.root).is_dir():
        raise CannotVerifyError(f"The workspace of run {number}, {record.root}, no longer exists.")
    outcome = record.outcome
    if outcome is None or not outcome.solved or not outcome.after:
        raise UsageError(
            f"Run {number} has no result that could be verified.", remedy=f"See `greenloop history show {number}`."
        )
    if adapter.target_title(Path(record.root), record.target) != record.target:
        raise CannotVerifyError(
            f"Run {number} was made in a notebook, whose tests exist during a run only.",
            remedy="Refine its cell again: greenloop says so if it already passes.",
        )
    if then is None or not then.spec.cases:
        raise CannotVerifyError(
            f"Run {number} was recorded by an older greenloop, which did not store what its result depends on.",
            remedy="Check the code against a commit's tests: `greenloop verify`.",
        )
    return record, outcome, then


def _changed_texts(root: Path, outcome: Outcome) -> list[str]:
    """Files that are neither as the run found them nor as it left them; the result's own text is what is verified."""
    snapshot = Snapshot(root=root, buffers={})
    return [
        f"{path} has been changed since; the text that was verified then was used."
        for path, text in outcome.after.items()
        if snapshot.text(path) not in (text, outcome.before.get(path))
    ]
