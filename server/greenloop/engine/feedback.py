"""Describes attempts with the feedback parts of a preset, by the group of their error.

It must not know which attempt is tried next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import ModuleType

from greenloop.core import registry
from greenloop.core.budget import BudgetExceededError
from greenloop.core.ports import Tools
from greenloop.core.records.attempt import Attempt, FeedbackNote, Move
from greenloop.core.records.model import ChatRequest, Reply
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import ErrorGroup, Status
from greenloop.core.text.redact import redact
from greenloop.engine.presets import Preset
from greenloop.localize.regions import is_unwritten
from greenloop.models.roles import apply_sampling
from greenloop.project.settings import Settings


@dataclass(kw_only=True)
class Feedback:
    """The feedback parts of one run. Raises `SettingsError` where a setting names a part that does not exist."""

    settings: Settings
    preset: Preset
    tools: Tools
    secrets: tuple[str, ...] = ()
    parts: Mapping[ErrorGroup | None, Sequence[ModuleType]] = field(init=False)

    def __post_init__(self) -> None:
        chosen, preset = self.settings.feedback, self.preset
        # Those of the settings, else the preset's for the group, else its default.
        names = {group: getattr(chosen, group, ()) or preset.treat.get(group, preset.feedback) for group in ErrorGroup}
        groups = [(None, preset.feedback), *names.items()]
        self.parts = {group: [registry.load_part("feedback", name) for name in each] for group, each in groups}

    async def describe(self, problem: Problem, attempts: Sequence[Attempt]) -> tuple[FeedbackNote, ...]:
        """Returns the notes on the newest attempt; if it passed, only of parts that describe passes, too."""

        async def ask(request: ChatRequest) -> Reply:
            return await self.tools.ask(apply_sampling(self.settings, request, attempts))

        tools = replace(self.tools, ask=ask)
        draft = attempts[-1].draft
        is_turn = draft is not None and draft.move is Move.TURN
        own = self.parts.get(attempts[-1].group, self.parts[None])
        parts = [registry.load_part("feedback", "turn")] if is_turn else own
        if attempts[-1].verdict.status is Status.PASSED:
            parts = [part for part in parts if getattr(part, "DESCRIBES_PASSES", False)]
        notes = [await part.describe(problem, attempts, tools) for part in parts]
        return tuple(replace(note, text=redact(note.text, self.secrets)) for note in notes)

    async def describe_baseline(self, problem: Problem, baseline: Attempt) -> Attempt:
        """Returns attempt 0 with its notes; for unwritten code only their fields, which search reads, without text."""
        with suppress(BudgetExceededError):  # the loop will reach and report the same limit
            baseline = replace(baseline, notes=await self.describe(problem, [baseline]))
        if all(region.created or is_unwritten(region, problem.files.get) for region in problem.regions):
            baseline = replace(baseline, notes=tuple(replace(note, text="") for note in baseline.notes))
        return baseline
