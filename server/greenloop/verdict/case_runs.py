"""Runs the cases of a problem over changed texts: the target's alone, or with the related tests that may be affected.

It must not know when a candidate is accepted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf

from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.core.test_selection import fit_selectors
from greenloop.core.verification_inputs import ACCEPTING, VerificationInputs
from greenloop.verdict.apart_runs import UNKNOWN, OwnCode
from greenloop.verdict.related_tests import own_code, related
from greenloop_sandbox import Session, forged

Files = Mapping[str, str]
Change = frozenset[tuple[str, str]]  # changed texts by path, as a key

SLOWER = 10  # times the duration with the user's own code: allows for a loaded machine or a slower algorithm
GLANCE = 1.0  # lower bound in seconds for one of many candidates


def changed_texts(problem: Problem, files: Files) -> dict[str, str]:
    """Returns the texts that differ from the user's own; only those overlay the workspace."""
    return {path: text for path, text in files.items() if problem.originals.get(path) != text}


def quick_limit(usual: float) -> float:
    """Returns the seconds that one of many candidates may take, where the user's own code takes `usual` seconds."""
    return max(GLANCE, SLOWER * usual)


async def run_cases(
    inputs: VerificationInputs, session: Session, files: Files, *, hash_seed: int = 0, most: float = inf
) -> Verdict:
    """Runs the target cases first, for at most `most` seconds, and the related tests only if those pass."""
    test_run = inputs.test_run(files, hash_seed=hash_seed)
    verdict = inputs.judge(await session.run(replace(test_run, seconds=min(most, inputs.limits.seconds))))
    if verdict.status is not Status.PASSED or not inputs.problem.neighbours:
        return verdict
    return await related.run_related(inputs, session, verdict, test_run, files)


async def run_everything(inputs: VerificationInputs, session: Session, files: Files) -> Verdict:
    """Runs target and related tests together; they share a process as in the user's own suite."""
    affected = inputs.related(files)
    run = inputs.test_run(files)
    if not affected:
        return related.count_unaffected(inputs, inputs.judge(await session.run(run)), ())
    together = own_code.select(run, [*inputs.expected, *affected])
    selectors = tuple(dict.fromkeys((*run.selectors, *fit_selectors(affected))))
    seconds = run.seconds + inputs.suite_seconds / 2  # the rest is for running them separately
    execution = await session.run(replace(together, selectors=selectors, seconds=seconds))
    verdict = inputs.judge(execution)
    if forged(execution):
        return verdict
    if verdict.status is Status.PASSED and not related.newly_failing(inputs, execution, affected)[0]:
        return related.compare_failures(inputs, related.count_unaffected(inputs, verdict, affected), execution)
    # A related test may have spoilt the common run (ended it, used up its time), so run both groups separately.
    return await run_cases(inputs, session, files, hash_seed=ACCEPTING)


def code_before(state: RunState, own_texts: Mapping[str, str | None] | None, files: Files) -> OwnCode:
    """The user's own code before these changed texts: `own_texts`, or what the problem has, and how it failed."""
    problem = state.problem
    cases = state.attempts[0].verdict.cases if state.attempts else ()
    failures = {result.id: result.failure.type for result in cases if result.failure and not result.passed}
    if any(problem.files.get(path) != text for path, text in problem.originals.items()):
        # They ran over stubs of what does not exist yet, whose failures say nothing of the user's own code.
        stubbed = [case for case, failure in failures.items() if failure == "NotImplementedError"]
        failures.update(dict.fromkeys(stubbed, UNKNOWN))
    texts = own_texts if own_texts is not None else {path: problem.originals.get(path) for path in files}
    return OwnCode(texts=texts, failures=failures)
