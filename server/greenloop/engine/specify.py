"""What must hold for a function whose docstring is the specification, before any candidate exists.

First what the user said himself (`>>>` examples are known by then), then, where the settings want it and no word of his
speaks, tests that a model or a library made up. It must not know who is believed where these disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from greenloop.core import registry
from greenloop.core.docstrings.ambiguity import REMEDY, find_doubts, is_testable, why_unusable
from greenloop.core.docstrings.documentation import read_documentation
from greenloop.core.errors import CannotVerifyError
from greenloop.core.ports import Tools
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import USER_PROVENANCES, Provenance, Spec, TargetKind
from greenloop.core.report import case_results
from greenloop.core.run_state import Baseline
from greenloop.localize.context import BaselineContext, build_baseline, fault_baseline, passing_baseline
from greenloop.localize.regions import is_unwritten
from greenloop.project.sources import import_name_in_tests
from greenloop.specs import host_checks, stored_tests

# What the parts' cases are; kept ones of an earlier run stand in for asking again.
PROVENANCE = {"designer": Provenance.DESIGNED, "properties": Provenance.PROPERTY, "hints": Provenance.HINT}


async def specify(
    context: BaselineContext,
    baseline: Baseline,
    tools: Tools,
    parts: Sequence[str],
    report_spec: Callable[[Spec], None],
) -> Baseline:
    """The baseline with everything that must hold, all of it run with the user's own code.

    `parts` write tests where the setting `spec.design` allows it; `told` gets what is frozen, before any candidate.
    Raises `CannotVerifyError` where nothing says what the function should do.
    """
    problem = baseline.problem
    if not problem.regions:
        return baseline
    # What settings name holds for whatever the target is.
    asked = await host_checks.collect(problem, tools)
    wishes = "\n".join(text for text in (problem.instruction, host_checks.instruction(asked.cases)) if text)
    problem = replace(problem, spec=problem.spec + asked, instruction=wishes)
    if context.target.kind is not TargetKind.FUNCTION:
        return replace(baseline, problem=problem)
    problem = await _with_generated_tests(context, problem, tools, parts)
    if problem.spec == baseline.problem.spec:
        return baseline
    if problem.spec.open:
        report_spec(problem.spec)
    return await _run_cases(context, baseline, problem)


async def _with_generated_tests(
    context: BaselineContext, problem: Problem, tools: Tools, parts: Sequence[str]
) -> Problem:
    """With the tests of an earlier run that the user may have edited, else with new ones."""
    region = problem.regions[0]
    module = import_name_in_tests(region.path, problem.root)
    known = stored_tests.load(problem.root, region, problem.files[region.path])
    for sentence in known.messages:
        context.report_status(sentence)
    spec = problem.spec + known.spec(module)
    if parts and _may_generate(context, problem, spec):
        about = read_documentation(problem.files[region.path], region.start, region.end)
        silent = why_unusable(region.qualname, about.docstring)
        spec += Spec(doubts=find_doubts(about.header, about.docstring or ""))
        for name in parts if not silent and is_testable(about.header, about.docstring or "") else ():
            if not known.has(PROVENANCE[name]):
                context.report_status("writing tests from the docstring")
                spec += known.without_struck(
                    await registry.load_part("specs", name).collect(replace(problem, spec=spec), tools)
                )
        if silent and not spec.cases:
            raise CannotVerifyError(silent, remedy=REMEDY)
    if not any(case.executed for case in spec.cases):
        raise CannotVerifyError(
            f"Nothing says what {region.qualname} should do: no test reaches it and its docstring has no examples.",
            remedy=_remedy(spec.doubts, parts),
        )
    if spec.open or known.user_tests:
        for sentence in stored_tests.save(known, spec, module).messages:
            context.report_status(sentence)
    return replace(problem, spec=spec)


def _may_generate(context: BaselineContext, problem: Problem, spec: Spec) -> bool:
    """Examples are few: of functions written from them alone four in ten are wrong elsewhere (docs/evidence.md).

    They are enough to repair what is written already.
    """
    blank = all(is_unwritten(region, problem.files.get) for region in problem.regions)
    own = USER_PROVENANCES - {Provenance.DOCTEST, Provenance.EXAMPLE} if blank else USER_PROVENANCES
    wanted = context.settings.spec.design
    return wanted == "always" or (wanted == "auto" and not any(case.provenance in own for case in spec.cases))


def _remedy(doubts: Sequence[str], parts: Sequence[str]) -> str:
    own = "Write a test that calls it, or a `>>>` example with its result in the docstring."
    return " ".join([*doubts, own]) if parts else f"{own} The preset `default` also lets a model write tests."


async def _run_cases(context: BaselineContext, baseline: Baseline, problem: Problem) -> Baseline:
    """All cases over the user's own code; what is new may be green already."""
    spec = problem.spec
    execution = await context.run(
        spec.selectors, spec.files, seconds=context.settings.suite.seconds or context.place.limits.seconds
    )
    results = case_results(execution)
    if fault := context.find_fault([result.failure for result in results if result.failure]):
        return fault_baseline(context, execution, fault.sentence, fault.remedy, spec)
    outcomes = {result.id: result.outcome for result in results}
    ran = [case for case in spec.cases if case.executed]
    if ran and all(outcomes.get(case.id) == "passed" for case in ran) and not execution.killed:
        return passing_baseline(context, spec, execution, outcomes)
    around = {case: outcome for case, outcome in baseline.outcomes.items() if case in problem.neighbours}
    known = build_baseline(context, spec, problem.regions, execution, around, {}, left_out=baseline.left_out)
    return replace(
        known,
        problem=replace(
            known.problem, approaches=problem.approaches, suspicion=problem.suspicion, instruction=problem.instruction
        ),
        attempt=replace(known.attempt, verdict=host_checks.with_scores(known.attempt.verdict, spec.cases)),
    )
