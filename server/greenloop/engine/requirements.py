"""Begins the requirements of a run, and adds them to its baseline. It must not know any of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from greenloop.core.classify import classify
from greenloop.core.deadline import Deadline
from greenloop.core.ports import Tools
from greenloop.core.requirements import (
    Requirement,
    Start,
    Trial,
    has_requirement,
    judge,
    load_requirement,
    with_results,
)
from greenloop.core.run_state import Baseline
from greenloop.core.verification_inputs import VerificationInputs

SECTION = "spec."  # a requirement begins where the setting `spec.NAME` is set


@dataclass(frozen=True, kw_only=True)
class Requirements:
    """Begins requirements: `inputs` are those of a run of the user's own code for its current problem."""

    inputs: Callable[[], VerificationInputs]
    tools: Tools
    deadline: Deadline
    report_status: Callable[[str], None]

    async def begin_configured(self, baseline: Baseline) -> Baseline:
        """Adds the requirements of the settings. Raises `SettingsError` or `CannotVerifyError`."""
        for key, value in self.tools.options.items():
            if value and key.startswith(SECTION) and has_requirement(name := key.removeprefix(SECTION)):
                baseline = await self.begin(name, baseline, {})
        return baseline

    async def begin(self, name: str, baseline: Baseline, options: Mapping[str, Any]) -> Baseline:
        """Adds the requirement `name` to the baseline, with its results for the user's own code."""
        start = Start(
            trial=self._trial(baseline),
            tools=self.tools,
            options=options,
            report_status=self.report_status,
            others=baseline.requirements,
        )
        begun = await load_requirement(name).begin(start)
        return with_requirement(baseline, begun) if begun is not None else baseline

    async def with_shares(self, baseline: Baseline) -> Baseline:
        """Returns the baseline with what requirements say of their cases that ran with the user's own code."""
        executed = [each for each in baseline.requirements if any(case.executed for case in each.spec.cases)]
        verdict = await judge(executed, self._trial(baseline), baseline.attempt.verdict)
        return replace(baseline, attempt=replace(baseline.attempt, verdict=verdict))

    def _trial(self, baseline: Baseline) -> Trial:
        return Trial(
            inputs=replace(self.inputs(), problem=baseline.problem),
            files=baseline.problem.files,
            session=self.tools.session,
            deadline=self.deadline,
        )


def with_requirement(baseline: Baseline, requirement: Requirement) -> Baseline:
    """Returns the baseline with a requirement's cases, instruction, and results for the user's own code."""
    problem, attempt = baseline.problem, baseline.attempt
    instruction = "\n".join(filter(None, (problem.instruction, requirement.instruction)))
    if requirement.results:
        verdict = with_results(attempt.verdict, requirement.results)
        error_class, group = classify(verdict)
        attempt = replace(attempt, verdict=verdict, error_class=error_class, group=group)
    return replace(
        baseline,
        problem=replace(problem, spec=problem.spec + requirement.spec, instruction=instruction),
        attempt=attempt,
        requirements=(*baseline.requirements, requirement),
        passing=requirement.is_met,
    )
