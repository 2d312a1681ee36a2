"""Which model is asked in which role, how hot, and which one when attempts keep failing; opened when first asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from greenloop import registry
from greenloop.core.classify import mark
from greenloop.core.errors import ModelProblem
from greenloop.core.nouns import Attempt, Completion, Move, Role
from greenloop.core.ports import Keys, Model
from greenloop.embedded.choice import choose
from greenloop.settings import EDITOR, Settings, get

STEP = 0.4  # by which `rising` rises
HOTTEST = 1.0
FIRST = 0.8  # where `decay` begins
WRITERS = (Role.DRAFTER, Role.REFINER)
WHOLE = (Move.DRAFT, Move.REFINE, Move.RESTART, Move.MERGE)  # answers to whole questions: a hole is a small thing


def sampled(settings: Settings, request: Completion, attempts: Sequence[Attempt]) -> Completion:
    """The request with its role's own limit, and the temperature that its schedule makes of the planned one."""
    tokens = int(get(settings, f"{request.role}.tokens"))
    schedule = get(settings, f"{request.role}.temperature")
    heat = request.temperature
    if schedule == "rising":
        heat = min(HOTTEST, heat + STEP * _repetitions(attempts))
    if schedule == "decay":
        answers = sum(attempt.draft is not None and attempt.draft.role is request.role for attempt in attempts)
        heat = max(heat, FIRST * 0.5**answers)
    return replace(request, temperature=round(heat, 2), max_tokens=tokens or request.max_tokens)


def _repetitions(attempts: Sequence[Attempt]) -> int:
    """How many attempts failed as one before them did; the user's own code counts as one before."""
    marks = [mark(attempt) for attempt in attempts]
    return sum(each in marks[:number] for number, each in enumerate(marks))


def failures(attempts: Sequence[Attempt]) -> int:
    """How many whole answers of a model did not solve the problem."""
    return sum(
        attempt.draft is not None and attempt.draft.move in WHOLE and not attempt.accepted for attempt in attempts
    )


def opened(name: str, settings: Settings, keys: Keys | None = None) -> Model:
    """The model of a name: a part's, or else one of litellm's; `keys` are those of whom asks, if there is one.

    Raises `ModelProblem` for the editor's, which is not ours to open.
    """
    if name == EDITOR:
        raise ModelProblem(
            "The model `editor` is an editor's own, and no editor asks here.", remedy="Name another, such as local."
        )
    kind = name.split(":", 1)[0]
    part = kind if kind in registry.names("models") else "litellm"
    module = registry.load("models", part)
    asking = part == "litellm" and keys is not None
    model: Model = module.keyed(name, settings, keys) if asking else module.create(name, settings)
    return model


@dataclass(kw_only=True)
class Models:
    """The models of a run, opened when first asked, one for each name.

    `failures` is how many attempts failed so far, which decides how far down `escalation.models` the run is; `opener`
    makes the model of a name.
    """

    settings: Settings
    override: Model | None = None
    opened: dict[str, Model] = field(default_factory=dict)
    chosen: str = ""
    failures: int = 0
    opener: Callable[[str, Settings], Model] | None = None

    async def of(self, role: Role) -> Model:
        """Raises `ModelProblem` when none is configured and none is there."""
        if self.override:
            return self.override
        name = self.name_of(role)
        if not name:
            name = self.chosen = await choose(self.settings)
        if not name:
            raise ModelProblem(
                "No model is configured and none was found.",
                remedy="Run `greenloop model pull` for the embedded one (1.1 GB), or name one with `--model`.",
            )
        if name not in self.opened:
            self.opened[name] = (self.opener or opened)(name, self.settings)
        return self.opened[name]

    def known(self, role: Role) -> Model | None:
        """The model of a role that was asked before, or that is the drafter's; None before the first choice."""
        return self.override or self.opened.get(self.name_of(role))

    def name_of(self, role: Role) -> str:
        """The name that `of` answers for; empty before the first choice was made."""
        if self.override:
            return self.override.name
        escalation = self.settings.escalation
        step = self.failures // escalation.after
        if step and escalation.models and role in WRITERS:
            return escalation.models[min(step, len(escalation.models)) - 1]
        return str(get(self.settings, f"{role}.model") or self.settings.model or self.chosen)

    async def close(self) -> None:
        for model in self.opened.values():
            await model.close()
