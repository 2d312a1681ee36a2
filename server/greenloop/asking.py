"""What models are asked in one request: prompts and holes put together, secrets taken out, every call on the account.

It must not know what becomes of the answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import Template

from greenloop import registry, templates
from greenloop.core.form import WHOLE, asking, chosen
from greenloop.core.hole import as_chat, question
from greenloop.core.ledger import Ledger, Request, billed
from greenloop.core.nouns import (
    Attempt,
    Completion,
    Draft,
    Excerpt,
    Finding,
    Hole,
    Message,
    Move,
    Problem,
    Reply,
)
from greenloop.core.ports import Infiller, Model, slots
from greenloop.core.prompt import assemble
from greenloop.core.redact import redact
from greenloop.core.tokens import estimate
from greenloop.roles import Models, failures, sampled
from greenloop.settings import Settings

UNREADABLE = {"EmptyAnswer", "NoCode", "TruncatedAnswer", "WrongFunction", "Repetition"}
REPETITION_PENALTY = 0.5
SHOWN_AGAIN = 300  # characters of an unreadable answer that are shown to its model


@dataclass(kw_only=True)
class Asking:
    """The questions of one run. `excerpts` are gathered before the first of them."""

    settings: Settings
    preset: registry.Preset
    models: Models
    problem: Problem
    secrets: tuple[str, ...]
    ledger: Ledger
    excerpts: list[Excerpt] = field(default_factory=list)
    gates: dict[str, asyncio.Semaphore] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(init=False)
    whole: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        settings = self.settings
        self.prompts = self.whole = templates.preset(self.preset.prompt)
        form = chosen(settings.answer.format, self.problem, settings.answer.tokens)
        if form != WHOLE:
            self.prompts = asking(self.whole, templates.preset(form.replace("-", "_")))

    def request(self, drafter: Model, draft: Draft, attempts: Sequence[Attempt]) -> Request:
        """The prompt, or the hole, of a draft."""
        self.models.failures = failures(attempts)
        if draft.masked is not None:
            return self._hole(draft, attempts)
        messages = assemble(
            self.whole if draft.move is Move.RESTART else self.prompts,  # it shows no code that could be edited
            self.problem,
            self.excerpts,
            attempts,
            draft,
            budget=self.settings.prompt.tokens,
            count=drafter.count_tokens,
        )
        asked = Completion(
            messages=self._clean(messages),
            role=draft.role,
            temperature=draft.temperature,
            max_tokens=self.settings.answer.tokens,
        )
        return sampled(self.settings, asked, attempts)

    def again(self, request: Request, reply: Reply, finding: Finding) -> Request | None:
        """A short second question after an answer that holds no candidate, where the preset has one."""
        if isinstance(request, Hole) or finding.error_class not in UNREADABLE or "reask" not in self.prompts:
            return None
        names = ", ".join(region.qualname for region in self.problem.regions)
        told = Template(self.prompts["reask"]).substitute(names=names, feedback=finding.message)
        asked = (Message(role="assistant", content=reply.text[:SHOWN_AGAIN]), Message(role="user", content=told))
        penalty = REPETITION_PENALTY if finding.error_class == "Repetition" else 0.0
        return replace(request, messages=(*request.messages, *self._clean(asked)), frequency_penalty=penalty)

    async def ask(self, request: Request, on_token: Callable[[str], None]) -> Reply:
        """As many requests at once as the model answers side by side."""
        model = await self.models.of(request.role)
        gate = self.gates.setdefault(model.name, asyncio.Semaphore(slots(model)))
        async with gate:
            if isinstance(request, Completion):
                return await model.complete(request, on_token)
            assert isinstance(model, Infiller)
            return await model.infill(request, on_token)

    async def quietly(self, completion: Completion) -> Reply:
        """What parts ask, on the run's account."""
        clean = replace(completion, messages=self._clean(completion.messages))
        return await billed(self.ledger, self.ask, clean, _nobody, estimate)

    def _hole(self, draft: Draft, attempts: Sequence[Attempt]) -> Request:
        """A hole for a model that fills such, else the same as a question."""
        hole = question(self.problem, attempts[draft.parent], draft, self.excerpts)
        hole = replace(hole, prefix=redact(hole.prefix, self.secrets), suffix=redact(hole.suffix, self.secrets))
        return hole if isinstance(self.models.known(draft.role), Infiller) else as_chat(hole, self.prompts["infill"])

    def _clean(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        return tuple(replace(each, content=redact(each.content, self.secrets)) for each in messages)


def _nobody(_text: str) -> None:
    """Nobody watches these tokens arrive."""
