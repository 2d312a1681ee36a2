"""Looks at what the tests leave open of a pass: the checks of plugins, and one-token changes that tests would notice.

An entry point of the group `greenloop.beyond_tests` names a module with `async look(passed) -> Findings`. It must not
know any of them, nor where candidates come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from greenloop.core import entry_points
from greenloop.core.records.outcome import Difference, Noticed
from greenloop.core.records.verdict import Verdict
from greenloop.core.test_selection import fit_selectors, selectors_of_files
from greenloop.core.text.diff import with_plain_ends
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.verdict.beyond_tests import mutation_testing
from greenloop.verdict.beyond_tests.changed_functions import changed_lines, find_changed_parts
from greenloop_sandbox import Session

MUTANT_SECONDS = 4.0  # of wall time for all one-token changes
MOST_MUTANTS = 24


@dataclass(frozen=True, kw_only=True)
class BeyondTests:
    """Scope of the checks beyond the tests.

    `noticed` is the share of one-token changes that tests should notice (0: it is not measured). `after` are the texts
    of changed files where the workspace itself has the change.
    """

    noticed: float = 0.0
    after: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Pass:
    """A pass, and a session to run it in with `files`. `own` are the texts of the changed files before, `new` after."""

    inputs: VerificationInputs
    session: Session
    verdict: Verdict
    files: Mapping[str, str]
    own: Mapping[str, str]
    new: Mapping[str, str]

    @property
    def new_cases(self) -> list[str]:
        """The target cases that did not pass before."""
        return [case for case in self.inputs.expected if self.inputs.outcomes.get(case) != "passed"]

    @property
    def selectors(self) -> tuple[str, ...]:
        """Those of the new cases; without any, of all target cases."""
        return fit_selectors(self.new_cases) if self.new_cases else self.inputs.problem.spec.selectors


@dataclass(frozen=True, kw_only=True)
class Findings:
    """A verdict against a pass (None: nothing speaks against it), else what is left open."""

    failure: Verdict | None = None
    differences: tuple[Difference, ...] = ()
    unfinished: tuple[str, ...] = ()


async def look_beyond(passed: Pass) -> Findings:
    """The findings of all checks; the first failure ends them. Raises `SandboxBrokenError`."""
    findings = Findings()
    for module in entry_points.load_all(entry_points.BEYOND_TESTS):
        found: Findings = await module.look(passed)
        if found.failure is not None:
            return found
        findings = Findings(
            differences=(*findings.differences, *found.differences),
            unfinished=(*findings.unfinished, *found.unfinished),
        )
    return findings


async def measure_noticed(passed: Pass, least: float) -> Noticed | None:
    """Tries one-token changes of the changed lines with the test files that newly pass; None where that takes too long.

    `least` is the share that the tests should notice (0: nothing is measured). Raises `SandboxBrokenError`.
    """
    own, inputs = passed.own, passed.inputs
    changed = {path: text for path, text in passed.new.items() if path.endswith(".py") and own.get(path, text) != text}
    parts = find_changed_parts(own, changed)
    if not least or not parts or passed.verdict.seconds > MUTANT_SECONDS:
        return None
    run = replace(inputs.test_run(passed.files), selectors=selectors_of_files(passed.selectors))
    lines = {path: changed_lines(with_plain_ends(own[path]), with_plain_ends(text)) for path, text in changed.items()}
    found = await mutation_testing.measure(
        inputs, passed.session, run, changed, parts, lines=lines, seconds=MUTANT_SECONDS, most=MOST_MUTANTS
    )
    return replace(found, least=least)
