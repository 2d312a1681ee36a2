"""The goals for which a function may be improved, and whether its tests are known to pass.

It must not know how they are offered.
"""

from __future__ import annotations

from greenloop.core.python.stubs import remark_text
from greenloop.core.records.goal import Goal
from greenloop.core.records.outcome import StopReason
from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.client_settings import SettingsLoader
from greenloop.lsp.documents.locations import ProjectFile
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.results import TestResults


class GoalChoices:
    """Goals that the user can choose for functions that pass their tests."""

    def __init__(self, settings: SettingsLoader, runs: Runs, results: TestResults) -> None:
        self._settings, self._runs, self._results = settings, runs, results

    def sensible(self, file: ProjectFile, target: Target) -> list[Goal]:
        """The goals that make sense for a target, the likeliest first; none for tests and in notebooks."""
        if target.kind is not TargetKind.FUNCTION or target.path != file.path or file.notebook is not None:
            return []
        has_limits = bool(self._settings.current(file.root).spec.constraints)
        found = {Goal.COMMENT: bool(comment_in(file, target)), Goal.TIME: True, Goal.MEMORY: True}
        return [goal for goal, is_sensible in {**found, Goal.LIMITS: has_limits}.items() if is_sensible]

    def passes(self, file: ProjectFile, target: Target) -> bool:
        """Whether a function is known to pass: its last run ended so, or all tests that reach it passed last time."""
        run = self._runs.find(file.root, target.path, target.qualname)
        if run is not None:
            outcome = run.outcome
            is_green = outcome is not None and outcome.reason is StopReason.ALREADY_GREEN
            return is_green or (run.result.applied and outcome is not None and outcome.solved)
        return self._results.passes(file.root, target.path, target.qualname)


def comment_in(file: ProjectFile, target: Target) -> str:
    """Returns the requests of `# review:` and TODO comments in a function; "" without any."""
    rows = file.text.splitlines(keepends=True)[target.start - 1 : target.end]
    # Tokenizing takes longer than looking for the sign that every comment has.
    return remark_text("".join(rows)) if any("#" in row for row in rows) else ""
