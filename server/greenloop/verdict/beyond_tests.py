"""Looks at what the tests leave open of a pass: what the new code does on other inputs.

It must not know where candidates come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from greenloop.core.ports import Session
from greenloop.core.records.outcome import Difference
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.test_selection import fit_selectors
from greenloop.verdict import other_inputs
from greenloop.verdict.changed_functions import find_changed_functions
from greenloop.verdict.inputs import VerificationInputs
from greenloop.verdict.special_casing import choose_differences, find_special_cases

LONGEST_TESTS = 10.0  # seconds; slower tests are not run once more to see what they call


@dataclass(frozen=True, kw_only=True)
class BeyondTests:
    """What is looked at. `after` are the texts of changed files where the workspace itself has the change."""

    after: Mapping[str, str] | None = None


async def try_other_inputs(
    inputs: VerificationInputs,
    session: Session,
    verdict: Verdict,
    files: Mapping[str, str],
    *,
    own: Mapping[str, str],
    wanted: BeyondTests,
) -> tuple[Verdict | None, tuple[Difference, ...]]:
    """Returns a verdict against a pass that answers its tests' inputs alone (None: it does not), and differences.

    `own` are the texts of the changed files before.
    """
    new = files if wanted.after is None else wanted.after
    functions = find_changed_functions(own, new)
    if not functions or verdict.seconds > LONGEST_TESTS:
        return None, ()
    observations = await other_inputs.observe(
        inputs, session, files, own=own, new=new, functions=functions, selectors=_newly_passing(inputs)
    )
    if sentence := find_special_cases(observations, own, new):
        return replace(verdict, status=Status.TAMPERED, reason=sentence), ()
    return None, choose_differences(observations)


def _newly_passing(inputs: VerificationInputs) -> tuple[str, ...]:
    """The target cases that did not pass before, or all of them."""
    new = [case for case in inputs.expected if inputs.outcomes.get(case) != "passed"]
    return fit_selectors(new) if new else inputs.problem.spec.selectors
