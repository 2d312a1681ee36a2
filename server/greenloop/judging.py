"""What is judged without a sandbox: limits on the text before its run, a person's word after everything else.

Each such part of `specs/` has, beside `collect`, `async judge(problem, files, tools) -> Sequence[CaseResult]`.
It must not know how the sandbox's own verdict came to be.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from greenloop import registry
from greenloop.core.constraints import parse
from greenloop.core.nouns import Case, CaseResult, Problem, Provenance, Spec, Status, Verdict
from greenloop.core.ports import Tools
from greenloop.settings import SpecSettings

PARTS = ("trace", "constraints", "score", "human")  # that a setting of the same name asks for
SHOWN = 8  # recorded calls that a model is told of beforehand
LONGEST = 200  # characters of one of them
_SCORE = re.compile(r"(?:AssertionError: )?score (\d(?:\.\d+)?(?:e-\d+)?)\b")


def options(settings: SpecSettings) -> dict[str, Any]:
    """What `Tools.options` holds."""
    return asdict(settings)


async def collected(problem: Problem, tools: Tools) -> Spec:
    """What the settings ask for beside tests and docstring. Raises `UsageProblem` or `CannotVerify`."""
    spec = Spec()
    for name in PARTS:
        if tools.options.get(name):
            spec += await registry.load("specs", name).collect(problem, tools)
    return spec


def instruction(cases: Sequence[Case]) -> str:
    """What a model should know of these cases before it begins: the limits, and calls that were recorded."""
    words = [case.source for case in cases if case.provenance is Provenance.CONSTRAINT]
    limits = "; ".join(dict.fromkeys(each.wish for each in parse(words)))
    calls = [case.source for case in cases if case.provenance is Provenance.TRACE and len(case.source) <= LONGEST]
    recorded = "\n".join(["This was recorded and must hold:", *calls[:SHOWN]]) if calls else ""
    return "\n".join(text for text in (f"Limits: {limits}." if limits else "", recorded) if text)


async def judged(
    problem: Problem,
    files: Mapping[str, str],
    tools: Tools,
    run: Callable[[], Awaitable[Verdict]],
    *,
    final: bool = False,
) -> Verdict:
    """`run`'s verdict with the results of what needs no sandbox; `final`: the user has a word, where all else passed.

    A candidate that breaks a limit runs all the same: the next attempt is told both, and the best is known by both.
    """
    limits = await _results("constraints", Provenance.CONSTRAINT, problem, files, tools)
    verdict = scored(await run(), problem.spec.cases)
    verdict = with_results(verdict, limits)
    if final and verdict.status is Status.PASSED:
        verdict = with_results(verdict, await _results("human", Provenance.HUMAN, problem, files, tools))
    return verdict


def with_results(verdict: Verdict, results: Sequence[CaseResult]) -> Verdict:
    """The verdict with these cases, and failed where one of them did; a skipped one says nothing."""
    failed = any(result.outcome not in ("passed", "skipped") for result in results)
    status = Status.FAILED if failed and verdict.status is Status.PASSED else verdict.status
    return replace(verdict, status=status, cases=(*verdict.cases, *results))


def scored(verdict: Verdict, cases: Sequence[Case]) -> Verdict:
    """The verdict with what a scorer saw hold of the cases that are its own."""
    mine = {case.id for case in cases if case.provenance is Provenance.SCORE}
    if not mine:
        return verdict
    return replace(verdict, cases=tuple(_shared(each) if each.id in mine else each for each in verdict.cases))


def _shared(result: CaseResult) -> CaseResult:
    failure = None if result.passed else result.failure
    found = _SCORE.match(failure.message) if failure and failure.type == "AssertionError" else None
    return replace(result, share=min(float(found[1]), 1.0)) if found else result


async def _results(
    name: str, kind: Provenance, problem: Problem, files: Mapping[str, str], tools: Tools
) -> Sequence[CaseResult]:
    """The results of a part's cases that count in this run."""
    mine = {case.id for case in problem.spec.cases if case.provenance is kind}
    if not mine:
        return ()
    results: Sequence[CaseResult] = await registry.load("specs", name).judge(problem, files, tools)
    return [result for result in results if result.id in mine]
