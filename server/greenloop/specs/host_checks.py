"""Runs the checks that need no sandbox: limits on the text before a run, the user's approval after it.

In addition to `collect`, each such part has `async judge(problem, files, tools) -> Sequence[CaseResult]`.
This module must not know how the sandbox reaches its own verdict.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from greenloop.core import registry
from greenloop.core.ports import Tools
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.specs.limits import parse
from greenloop_sandbox import CaseResult

PARTS = ("trace", "constraints", "score", "human")  # each enabled by the setting of the same name
SHOWN = 8  # recorded calls that are shown to a model before it starts
LONGEST = 200  # characters of one of them
_SCORE = re.compile(r"(?:AssertionError: )?score (\d(?:\.\d+)?(?:e-\d+)?)\b")


async def collect(problem: Problem, tools: Tools) -> Spec:
    """Collects what the settings add to tests and docstring. Raises `UsageError` or `CannotVerifyError`."""
    spec = Spec()
    for name in PARTS:
        if tools.options.get(name):
            spec += await registry.load_part("specs", name).collect(problem, tools)
    return spec


def instruction(cases: Sequence[Case]) -> str:
    """Tells a model what to know before it starts: the limits and the recorded calls."""
    constraints = [case.source for case in cases if case.provenance is Provenance.CONSTRAINT]
    limits = "; ".join(dict.fromkeys(each.prompt_text for each in parse(constraints)))
    calls = [case.source for case in cases if case.provenance is Provenance.TRACE and len(case.source) <= LONGEST]
    recorded = "\n".join(["This was recorded and must hold:", *calls[:SHOWN]]) if calls else ""
    return "\n".join(text for text in (f"Limits: {limits}." if limits else "", recorded) if text)


async def judge(
    problem: Problem,
    files: Mapping[str, str],
    tools: Tools,
    run_tests: Callable[[], Awaitable[Verdict]],
    *,
    final: bool = False,
) -> Verdict:
    """The verdict of `run_tests` plus the results of host checks; `final`: the user is asked when all else passed.

    A candidate that breaks a limit still runs: feedback reports both results, and both decide which attempt is best.
    """
    limits = await _results("constraints", Provenance.CONSTRAINT, problem, files, tools)
    verdict = with_scores(await run_tests(), problem.spec.cases)
    verdict = with_results(verdict, limits)
    if final and verdict.status is Status.PASSED:
        verdict = with_results(verdict, await _results("human", Provenance.HUMAN, problem, files, tools))
    return verdict


def with_results(verdict: Verdict, results: Sequence[CaseResult]) -> Verdict:
    """Adds these cases to the verdict, which fails if one of them did; skipped cases are ignored."""
    failed = any(result.outcome not in ("passed", "skipped") for result in results)
    status = Status.FAILED if failed and verdict.status is Status.PASSED else verdict.status
    return replace(verdict, status=status, cases=(*verdict.cases, *results))


def with_scores(verdict: Verdict, cases: Sequence[Case]) -> Verdict:
    """Adds to a scorer's own cases the share that it reported."""
    score_ids = {case.id for case in cases if case.provenance is Provenance.SCORE}
    return replace(verdict, cases=tuple(_with_share(each) if each.id in score_ids else each for each in verdict.cases))


def _with_share(result: CaseResult) -> CaseResult:
    failure = None if result.passed else result.failure
    match = _SCORE.match(failure.message) if failure and failure.type == "AssertionError" else None
    return replace(result, share=min(float(match[1]), 1.0)) if match else result


async def _results(
    name: str, kind: Provenance, problem: Problem, files: Mapping[str, str], tools: Tools
) -> Sequence[CaseResult]:
    """The results of a part for the cases that count in this run."""
    expected_ids = {case.id for case in problem.spec.cases if case.provenance is kind}
    if not expected_ids:
        return ()
    results: Sequence[CaseResult] = await registry.load_part("specs", name).judge(problem, files, tools)
    return [result for result in results if result.id in expected_ids]
