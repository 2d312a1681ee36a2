"""Measures designed tests before they are frozen: would they notice a small mistake in code that passes them?

Tests are tested by right and by wrong programs (CodeContests-O, arXiv 2601.13682). The right one is the drafter's first
answer where it passes the user's examples and most of the tests, the wrong ones are its one-token mutants.
It must not know how an answer is asked for, nor what is done about weak tests.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from greenloop.core.ports import Tools
from greenloop.core.records.outcome import Noticed
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.requirements import Trial
from greenloop.core.verification_inputs import check_sandbox
from greenloop.verdict.beyond_tests import mutation_testing
from greenloop.verdict.beyond_tests.changed_parts import find_changed_parts
from greenloop.verdict.beyond_tests.noticed import MOST_MUTANTS, MUTANT_SECONDS
from greenloop_sandbox import Session, case_results

PASSING = 0.6  # share of the tests that an answer passes which is taken for right, as for the trust rules
LEAST_MUTANTS = 5  # fewer say nothing


def noticed_share(strength: Noticed, mutants: Sequence[mutation_testing.Mutant]) -> float | None:
    """The share of these mutants that the tests notice, by those that were tried; None where there are too few to say.

    Nobody notices a mutant of a line that no test reaches.
    """
    if len(mutants) < LEAST_MUTANTS:
        return None
    unreached = sum((each.path, each.line) in strength.unreached for each in mutants)
    return (strength.share or 0.0) * (len(mutants) - unreached) / len(mutants)


async def are_weak(
    problem: Problem,
    designed: Spec,
    tools: Tools,
    report_status: Callable[[str], None],
    first_answer: Callable[[Problem], Awaitable[Trial | None]],
) -> bool:
    """Do designed tests miss most one-token mutants of the run's first answer, if that passes them?"""
    least: float = tools.options["spec.noticed"]
    if not least or not designed.cases:
        return False
    report_status("trying whether the generated tests would notice a small mistake")
    answer = await first_answer(replace(problem, spec=problem.spec + designed))
    share = await measure(answer, tools.session, designed) if answer else None
    return share is not None and share < least


async def measure(answer: Trial, session: Session, designed: Spec) -> float | None:
    """The share of one-token mutants of an answer that the designed tests notice.

    None where the answer does not pass them, or has too few mutants to say.

    Raises `SandboxBrokenError`.
    """
    problem, inputs, texts = answer.problem, answer.inputs, answer.files
    binding = [case.id for case in problem.spec.cases if case.executed and case.binding]
    run = replace(
        inputs.test_run(texts),
        selectors=(*binding, *designed.selectors),
        files={**inputs.test_run(texts).files, **{path: text.encode() for path, text in designed.files.items()}},
    )
    execution = await session.run(run)
    check_sandbox(execution)
    passed = {result.id for result in case_results(execution) if result.passed}
    if not passed >= {*binding} or len(passed & {*designed.selectors}) < PASSING * len(designed.selectors):
        return None
    own = {path: problem.files.get(path, "") for path in texts}
    parts = find_changed_parts(own, texts)
    strength = await mutation_testing.measure(
        inputs,
        session,
        replace(run, selectors=designed.selectors),
        texts,
        parts,
        seconds=MUTANT_SECONDS,
        most=MOST_MUTANTS,
        least=LEAST_MUTANTS,
    )
    return noticed_share(strength, mutation_testing.make_mutants(texts, parts))
