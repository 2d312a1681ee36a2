"""Measures designed tests before they are frozen: would they notice a small mistake in code that passes them?

Tests are tested by right and by wrong programs (CodeContests-O, arXiv 2601.13682). The right one is the drafter's first
answer where it passes the user's examples and most of the tests, the wrong ones are its one-token mutants.
It must not know how an answer is asked for, nor what is done about weak tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from greenloop.core.records.spec import Spec
from greenloop.verdict import mutation_testing
from greenloop.verdict.beyond_tests import MOST_MUTANTS, MUTANT_SECONDS
from greenloop.verdict.changed_functions import find_changed_parts
from greenloop.verdict.inputs import VerificationInputs, check_sandbox
from greenloop_sandbox import Session, case_results

PASSING = 0.6  # share of the tests that an answer passes which is taken for right, as for the trust rules
LEAST_MUTANTS = 5  # fewer say nothing


def is_weak(strength: mutation_testing.Strength, noticed: float) -> bool:
    """Do the tests notice less than this share of at least five mutants? A line that none reaches counts as one."""
    mutants = strength.tried + len(strength.unreached)
    return mutants >= LEAST_MUTANTS and strength.killed < noticed * mutants


async def measure(
    inputs: VerificationInputs, session: Session, designed: Spec, texts: Mapping[str, str]
) -> mutation_testing.Strength | None:
    """The strength of the designed tests by mutants of these texts; None where the texts do not pass.

    Raises `SandboxBrokenError`.
    """
    problem = inputs.problem
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
    return await mutation_testing.measure(
        inputs,
        session,
        replace(run, selectors=designed.selectors),
        texts,
        find_changed_parts(own, texts),
        seconds=MUTANT_SECONDS,
        most=MOST_MUTANTS,
        least=LEAST_MUTANTS,
    )
