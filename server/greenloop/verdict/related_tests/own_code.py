"""Asks what the user's own code does, where a verdict depends on it and the baseline does not know.

It must not know where candidates come from.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.test_selection import MOST_SELECTORS, fit_selectors, selector_of, selectors_of_files
from greenloop.core.verification_inputs import VerificationInputs, check_sandbox
from greenloop_sandbox import CaseResult, Session, TestRun, case_results, collected_cases, forged
from greenloop_sandbox.report.cases import collect_errors

# Outcomes that count only where the user's own code has the same.
EXCUSES = frozenset({"skipped", "xfailed", "xpassed"})
CUT_SHORT = frozenset({"Timeout", "Crash", "MemoryLimit", "ProcessLimit"})
MOST_ALONE = 20  # cases that are run alone for one verdict


def unexpected(verdict: Verdict, outcomes: Mapping[str, str]) -> list[str]:
    """Returns the cases that a candidate's run skipped or excused, and that the baseline did not see so."""
    if verdict.status not in {Status.TAMPERED, Status.FAILED}:
        return []
    return [case.id for case in verdict.cases if case.outcome in EXCUSES and outcomes.get(case.id) != case.outcome]


async def vanished(inputs: VerificationInputs, session: Session, cases: Sequence[str]) -> frozenset[str]:
    """Returns those of these cases that the user's own code does not have either, when it is collected once more.

    Their ids hold the time of a run, an address or the like. None if that cannot be decided.
    """
    run = TestRun(selectors=selectors_of_files(cases), collect=True, seconds=inputs.suite_seconds)
    execution = await session.run(own_run(inputs, run))
    check_sandbox(execution)
    collected = {case.id for case in collected_cases(execution)}
    is_known = not execution.killed and not forged(execution) and not collect_errors(execution)
    return frozenset(case for case in cases if case not in collected) if is_known and collected else frozenset()


async def outcomes_alone(
    inputs: VerificationInputs, session: Session, cases: Sequence[str], hash_seed: int
) -> dict[str, str]:
    """Returns the outcomes of these cases, each alone with the user's own code; `missing` where it did not end."""
    return {case: result.outcome for case, result in (await run_alone(inputs, session, cases, hash_seed)).items()}


async def run_alone(
    inputs: VerificationInputs, session: Session, cases: Sequence[str], hash_seed: int
) -> dict[str, CaseResult]:
    """Runs at most `MOST_ALONE` of these cases, each alone with the user's own code; `missing` where it did not end."""
    found = {}
    for case in cases[:MOST_ALONE]:
        run = TestRun(selectors=(selector_of(case),), seconds=inputs.limits.seconds, hash_seed=hash_seed)
        execution = await session.run(own_run(inputs, run))
        check_sandbox(execution)
        results = {} if forged(execution) else {result.id: result for result in case_results(execution)}
        result = results.get(case, CaseResult(id=case, outcome="missing"))
        has_ended = result.failure is None or result.failure.type not in CUT_SHORT
        found[case] = result if has_ended else replace(result, outcome="missing")
    return found


def own_run(inputs: VerificationInputs, run: TestRun) -> TestRun:
    """Returns the run over the user's own code, also where the result is in the user's files already."""
    assert inputs.own is not None
    before = {path: inputs.problem.originals[path] for path in run.files if path in inputs.problem.originals}
    texts = inputs.encode({path: text for path, text in before.items() if text is not None})
    new = tuple(path for path, text in before.items() if text is None and path not in inputs.own)
    return replace(run, files={**texts, **inputs.own, **inputs.generated_files}, without=new)


def select_tolerantly(run: TestRun, cases: Collection[str]) -> TestRun:
    """As `select`, but where one of these cases or files is not there, pytest runs the others."""
    return replace(run, selectors=selectors_of_files(cases), only=tuple(cases))


def select(run: TestRun, cases: Collection[str]) -> TestRun:
    """Returns the run with these cases alone, in this order."""
    ids = tuple(cases)
    return replace(run, selectors=fit_selectors(ids), only=ids if len(ids) > MOST_SELECTORS else ())
