"""Looks at what the tests leave open of a pass.

An entry point of the group `greenloop.beyond_tests` names a module with `async look(passed) -> Findings`, with
`show(data) -> Shown` (`core/feature_data.py`) where it finds something, and with `IS_LATE = True` where a result need
not wait for it. It must not know any of them, nor where candidates come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from greenloop.core import entry_points
from greenloop.core.records.verdict import Verdict
from greenloop.core.test_selection import fit_selectors
from greenloop.core.verification_inputs import VerificationInputs
from greenloop_sandbox import Session


@dataclass(frozen=True, kw_only=True)
class BeyondTests:
    """Scope of the checks: the values of the settings, and `after`, new texts where the workspace has the change."""

    options: Mapping[str, Any]
    after: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Pass:
    """A pass, and a session to run it in with `files`. `own` are the texts of the changed files before, `new` after.

    `options` has the values of the settings by their dotted keys.
    """

    inputs: VerificationInputs
    session: Session
    verdict: Verdict
    files: Mapping[str, str]
    own: Mapping[str, str]
    new: Mapping[str, str]
    options: Mapping[str, Any] = field(default_factory=dict)

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
    """A verdict against a pass (None: nothing speaks against it), else plain data of what is left open."""

    failure: Verdict | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


async def look_beyond(passed: Pass, *, is_late: bool) -> Findings:
    """The data of all checks that are late, or are not, by name; the first failure ends them.

    Raises `SandboxBrokenError`.
    """
    data: dict[str, Any] = {}
    for entry in entry_points.find_entry_points(entry_points.BEYOND_TESTS):
        module = entry_points.load(entry)
        if getattr(module, "IS_LATE", False) is is_late:
            found: Findings = await module.look(passed)
            if found.failure is not None:
                return found
            data |= {entry.name: found.data} if found.data else {}
    return Findings(data=data)
