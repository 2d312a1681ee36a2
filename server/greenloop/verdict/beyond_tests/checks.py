"""Looks at what the tests leave open of a pass: what the new code does on other inputs, and what they would notice.

It must not know where candidates come from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from greenloop.core.records.outcome import Difference, Noticed
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.test_selection import fit_selectors
from greenloop.core.text.diff import with_plain_ends
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.project import sources
from greenloop.verdict.beyond_tests import mutation_testing, other_inputs
from greenloop.verdict.beyond_tests.changed_functions import changed_lines, find_changed_functions, find_changed_parts
from greenloop.verdict.beyond_tests.conditions import find_conditions
from greenloop.verdict.beyond_tests.differences import choose_differences
from greenloop.verdict.beyond_tests.other_inputs import Observation
from greenloop.verdict.beyond_tests.special_casing import find_awareness, find_mocked_target, find_special_cases
from greenloop.verdict.beyond_tests.unfinished import find_unfinished
from greenloop_sandbox import Session

MUTANT_SECONDS = 4.0  # of wall time for all one-token changes
MOST_MUTANTS = 24
LONGEST_TESTS = 10.0  # seconds; slower tests are not run once more to see what they call


@dataclass(frozen=True, kw_only=True)
class BeyondTests:
    """Scope of the checks beyond the tests.

    `noticed` is the share of one-token changes that tests should notice (0: it is not measured). `after` are the texts
    of changed files where the workspace itself has the change.
    """

    noticed: float = 0.0
    after: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class OtherInputs:
    """A verdict against a pass that answers its tests' inputs alone (None: it does not), else what is left open."""

    failure: Verdict | None = None
    differences: tuple[Difference, ...] = ()
    unfinished: tuple[str, ...] = ()


async def try_other_inputs(
    inputs: VerificationInputs,
    session: Session,
    verdict: Verdict,
    files: Mapping[str, str],
    *,
    own: Mapping[str, str],
    wanted: BeyondTests,
) -> OtherInputs:
    """Runs the changed functions on other inputs, and looks for signs that the change is unfinished.

    `own` are the texts of the changed files before. Raises `SandboxBrokenError`.
    """
    new = files if wanted.after is None else wanted.after
    functions = find_changed_functions(own, new)
    if sentence := find_mocked_target(functions, new):
        return OtherInputs(failure=replace(verdict, status=Status.TAMPERED, reason=sentence))
    observations: Sequence[Observation] = ()
    conditions: tuple[str, ...] = ()
    if verdict.seconds <= LONGEST_TESTS and any(own.get(path, text) != text for path, text in new.items()):
        cases = [case for case in inputs.expected if inputs.outcomes.get(case) != "passed"]
        conditions = await find_conditions(inputs, session, files, cases, own=own, new=new)
    if functions and verdict.seconds <= LONGEST_TESTS:
        observations = await other_inputs.observe(
            inputs, session, files, own=own, new=new, functions=functions, selectors=_newly_passing(inputs)
        )
    if sentence := find_special_cases(observations, own, new) or find_awareness(observations):
        return OtherInputs(failure=replace(verdict, status=Status.TAMPERED, reason=sentence))
    root = inputs.problem.root

    def elsewhere() -> Iterator[str]:
        return (sources.read_text(root, path) or "" for path in sources.python_files(root) if path not in new)

    unfinished = await asyncio.to_thread(find_unfinished, own, new, observations, elsewhere)
    return OtherInputs(differences=choose_differences(observations), unfinished=(*unfinished, *conditions))


async def measure_noticed(
    inputs: VerificationInputs,
    session: Session,
    verdict: Verdict,
    files: Mapping[str, str],
    *,
    own: Mapping[str, str],
    wanted: BeyondTests,
) -> Noticed | None:
    """Tries one-token changes of the changed lines with the test files that newly pass; None where that takes too long.

    Raises `SandboxBrokenError`.
    """
    new = files if wanted.after is None else wanted.after
    changed = {path: text for path, text in new.items() if path.endswith(".py") and own.get(path, text) != text}
    parts = find_changed_parts(own, changed)
    if not wanted.noticed or not parts or verdict.seconds > MUTANT_SECONDS:
        return None
    run = replace(inputs.test_run(files), selectors=_with_siblings(_newly_passing(inputs)))
    lines = {path: changed_lines(with_plain_ends(own[path]), with_plain_ends(text)) for path, text in changed.items()}
    found = await mutation_testing.measure(
        inputs, session, run, changed, parts, lines=lines, seconds=MUTANT_SECONDS, most=MOST_MUTANTS
    )
    return replace(found, least=wanted.noticed)


def _newly_passing(inputs: VerificationInputs) -> tuple[str, ...]:
    """The target cases that did not pass before, or all of them."""
    new = [case for case in inputs.expected if inputs.outcomes.get(case) != "passed"]
    return fit_selectors(new) if new else inputs.problem.spec.selectors


def _with_siblings(selectors: Sequence[str]) -> tuple[str, ...]:
    """The whole files of tests, whose other tests may notice a change as well."""
    files = (each if each.startswith("doctest:") else each.partition("::")[0] for each in selectors)
    return tuple(dict.fromkeys(files))
