"""Which model is asked in which role, opened when first asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from greenloop import registry
from greenloop.core.errors import ModelProblem
from greenloop.core.nouns import Role
from greenloop.core.ports import Model
from greenloop.embedded.choice import choose
from greenloop.settings import Settings, get


@dataclass(kw_only=True)
class Models:
    """The models of a run, opened when first asked, one for each name."""

    settings: Settings
    override: Model | None = None
    opened: dict[str, Model] = field(default_factory=dict)
    chosen: str = ""

    async def of(self, role: Role) -> Model:
        """Raises `ModelProblem` when none is configured and none is there."""
        if self.override:
            return self.override
        name = get(self.settings, f"{role}.model") or self.settings.model or self.chosen
        if not name:
            name = self.chosen = await choose(self.settings)
        if not name:
            raise ModelProblem(
                "No model is configured and none was found.",
                remedy="Run `greenloop model pull` for the embedded one (1.1 GB), or name one with `--model`.",
            )
        if name not in self.opened:
            kind = name.split(":", 1)[0]
            part = kind if kind in registry.names("models") else "litellm"
            self.opened[name] = registry.load("models", part).create(name, self.settings)
        return self.opened[name]

    def known(self, role: Role) -> Model | None:
        """The model of a role that was asked before, or that is the drafter's; None before the first choice."""
        return self.override or self.opened.get(self.name_of(role))

    def name_of(self, role: Role) -> str:
        """The name that `of` answers for; empty before the first choice was made."""
        if self.override:
            return self.override.name
        return str(get(self.settings, f"{role}.model") or self.settings.model or self.chosen)

    async def close(self) -> None:
        for model in self.opened.values():
            await model.close()
