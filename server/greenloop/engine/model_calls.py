"""Builds the requests of a run, removes secrets from them, and sends them within the run's budget.

It must not know how the answers are used.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import Template

from greenloop.core import registry
from greenloop.core.budget import Ledger, Request, ask_within_budget
from greenloop.core.ports import Infiller, Model, Tools, context, slots
from greenloop.core.records.attempt import Attempt, Draft, Finding, Move, Sent
from greenloop.core.records.model import (
    Budget,
    ChatRequest,
    InfillRequest,
    Message,
    ModelKind,
    Reply,
    Role,
    Usage,
)
from greenloop.core.records.problem import Excerpt, Problem
from greenloop.core.text.redact import redact
from greenloop.core.text.tokens import estimate_tokens
from greenloop.drafting.infill import as_chat, infill_request
from greenloop.drafting.prompt import WHOLE, adapt_templates, assemble, choose_format, tail_name
from greenloop.engine.presets import Preset
from greenloop.models.kinds import kind_of
from greenloop.models.roles import Models, apply_sampling, count_failures
from greenloop.project import templates
from greenloop.project.settings import PromptSettings, Settings

UNREADABLE = {"EmptyAnswer", "NoCode", "TruncatedAnswer", "WrongFunction", "Repetition"}
REPETITION_PENALTY = 0.5
LARGE = 16_000  # tokens of context from which on prompts have room
PLACES = "places"  # the folder of the templates for a problem that is open
CONVERSATION_TOKENS = 150_000  # of a run with a capable model; most of them are read again from the provider's cache
HASH_DIGITS = 12  # of a template's hash
SHOWN_AGAIN = 300  # characters of an unreadable answer that are shown to its model


@dataclass(kw_only=True)
class ModelCalls:
    """Model calls of one run. `excerpts` are those of each question, gathered before the first call for it.

    `patience` returns the seconds that a request may wait for a provider that is overloaded.
    """

    settings: Settings
    preset: Preset
    models: Models
    secrets: tuple[str, ...]
    excerpts: dict[Hashable, Sequence[Excerpt]] = field(default_factory=dict)
    patience: Callable[[], float | None] = lambda: None
    first_drafter: Model | None = None
    gates: dict[tuple[str, int], asyncio.Semaphore] = field(default_factory=dict)
    early: dict[Hashable, Reply] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(init=False)
    ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self._budget(ModelKind.SMALL))
        self.prompts = {**templates.preset_templates(self.preset.prompt), **self.preset.templates}

    def templates_for(self, problem: Problem, *, whole: bool = False) -> Mapping[str, str]:
        """Returns the templates for a problem; `whole`: those that ask for whole functions whatever their size."""
        answer = self.settings.answer
        form = WHOLE if whole else choose_format(answer.format, problem, answer.tokens)
        open_templates = templates.preset_templates(PLACES) if problem.open else {}
        answer_templates = open_templates if form == WHOLE else templates.preset_templates(form.replace("-", "_"))
        adapted = adapt_templates(self.prompts, answer_templates) if answer_templates else self.prompts
        return {**adapted, "task": open_templates["task"]} if open_templates else adapted

    async def gather_context(self, problem: Problem, tools: Tools) -> None:
        """Gathers the excerpts of a question by the preset's context parts, unless they are there already."""
        if problem.question in self.excerpts:
            return
        parts = [registry.load_part("context", name) for name in self.preset.context]
        excerpts = [excerpt for part in parts for excerpt in await part.gather(problem, tools)]
        self.excerpts[problem.question] = excerpts

    async def drafter(self) -> Model:
        """Returns the model that drafts; its prices apply from now on. Raises `ModelError` when there is none."""
        model = await self.models.model_for(Role.DRAFTER)
        self.ledger.price = getattr(model, "price", None)
        if self.first_drafter is None:
            self.first_drafter = model
        return model

    def request(self, problem: Problem, draft: Draft, attempts: Sequence[Attempt]) -> Request:
        """Builds the chat or infill request of a draft."""
        self.models.failures = count_failures(attempts)
        if draft.masked is not None:
            return self._infill_request(problem, draft, attempts)
        messages = assemble(
            # A restart shows no code, so there is nothing to edit.
            self.templates_for(problem, whole=draft.move is Move.RESTART),
            problem,
            self.excerpts.get(problem.question, ()),
            attempts,
            draft,
            budget=self.prompt_tokens,
            count=self.count_tokens,
        )
        request = ChatRequest(
            messages=self.redact(messages),
            role=draft.role,
            temperature=draft.temperature,
            max_tokens=self.settings.answer.tokens,
        )
        return apply_sampling(self.settings, request, attempts)

    @property
    def prompt_tokens(self) -> int:
        """The most tokens of a prompt, by the settings and by the context of the run's first drafting model."""
        prompt = self.settings.prompt
        is_default = prompt.tokens == PromptSettings().tokens
        has_room = self.first_drafter is not None and context(self.first_drafter) >= LARGE
        return prompt.room if is_default and has_room else prompt.tokens

    def count_tokens(self, text: str) -> int:
        """Counts tokens as the run's first drafting model does, even after an escalation to another model."""
        return self.first_drafter.count_tokens(text) if self.first_drafter else estimate_tokens(text)

    def model_name(self, draft: Draft) -> str:
        """Returns the name of the model that would answer a draft now."""
        return self.models.name_of(draft.role)

    def reask(self, problem: Problem, request: Request, reply: Reply, finding: Finding) -> Request | None:
        """Builds a short second question after an answer without a candidate; None where the preset has none."""
        if isinstance(request, InfillRequest) or finding.error_class not in UNREADABLE or "reask" not in self.prompts:
            return None
        text = Template(self.prompts["reask"]).substitute(names=problem.names, feedback=finding.message)
        more = (Message(role="assistant", content=reply.text[:SHOWN_AGAIN]), Message(role="user", content=text))
        penalty = REPETITION_PENALTY if finding.error_class == "Repetition" else 0.0
        return replace(request, messages=(*request.messages, *self.redact(more)), frequency_penalty=penalty)

    def sent(self, problem: Problem, draft: Draft, request: Request, *, is_second: bool = False) -> Sent:
        """Returns what is recorded of a request; its messages only with the setting `history.messages`.

        `is_second`: it asks again after an unreadable answer.
        """
        keep = self.settings.history.messages
        if isinstance(request, InfillRequest):
            parts = (Message(role="prefix", content=request.prefix), Message(role="suffix", content=request.suffix))
            return Sent(messages=parts if keep else ())
        templates = self.templates_for(problem, whole=draft.move is Move.RESTART)
        names = ["infill"] if draft.masked else ["system", "task", tail_name(templates, draft)]
        hashes = {name: template_hash(templates[name]) for name in (*names, *(["reask"] if is_second else ()))}
        return Sent(templates=hashes, messages=request.messages if keep else ())

    async def ask(self, request: Request, on_token: Callable[[str], None]) -> Reply:
        """Sends a request; at most as many run at once as the model serves concurrently."""
        if isinstance(request, ChatRequest) and (
            early := self.early.pop((request.messages, request.temperature), None)
        ):
            on_token(early.text)
            return early
        model = await self.models.model_for(request.role)
        number = max(slots(model), 1)  # a server may say it only after the first request
        gate = self.gates.setdefault((model.name, number), asyncio.Semaphore(number))
        async with gate:
            if isinstance(request, ChatRequest):
                return await model.complete(request, on_token)
            assert isinstance(model, Infiller)
            return await model.infill(request, on_token)

    async def ask_early(self, request: Request) -> Reply:
        """Sends a request of the loop before it begins; the loop's own then gets this reply, which is paid for."""
        reply = await ask_within_budget(self.ledger, self.ask, request, _ignore_token, self.count_tokens)
        if isinstance(request, ChatRequest):
            self.early[request.messages, request.temperature] = replace(reply, usage=Usage())
        return reply

    async def ask_for_part(self, request: ChatRequest) -> Reply:
        """Sends a part's request within the run's budget; chooses the model first, as parts may ask before the loop."""
        await self.drafter()
        redacted = replace(request, messages=self.redact(request.messages))
        return await ask_within_budget(self.ledger, self.ask, redacted, _ignore_token, estimate_tokens)

    async def settle_kind(self) -> ModelKind:
        """Returns the kind of the run's first model, which decides how many answers and tokens the run may have."""
        await self.models.chosen_name(Role.DRAFTER)
        kind = self.kind()
        self.ledger.budget = self._budget(kind)
        return kind

    def _budget(self, kind: ModelKind) -> Budget:
        settings, preset = self.settings, self.preset
        is_large = kind is ModelKind.CAPABLE and bool(preset.turns)
        tokens = CONVERSATION_TOKENS if is_large and settings.tokens == Settings().tokens else settings.tokens
        attempts = settings.attempts or (preset.turns if is_large else preset.attempts)
        return Budget(attempts=attempts, tokens=tokens, cost=settings.cost or None)

    def kind(self, attempts: Sequence[Attempt] = ()) -> ModelKind:
        """The kind of the model that drafts after these attempts; of none that is known, small."""
        self.models.failures = count_failures(attempts)
        return kind_of(self.models.name_of(Role.DRAFTER), self.settings)

    def _infill_request(self, problem: Problem, draft: Draft, attempts: Sequence[Attempt]) -> Request:
        """Builds an infill request for a model that supports them, else the equivalent chat request."""
        infill = infill_request(problem, attempts[draft.parent], draft, self.excerpts.get(problem.question, ()))
        infill = replace(infill, prefix=redact(infill.prefix, self.secrets), suffix=redact(infill.suffix, self.secrets))
        return (
            infill
            if isinstance(self.models.opened_model(draft.role), Infiller)
            else as_chat(infill, self.prompts["infill"])
        )

    def redact(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The messages without secrets."""
        return tuple(replace(each, content=redact(each.content, self.secrets)) for each in messages)


def template_hash(template: str) -> str:
    """The first digits of the hash by which a template is recorded."""
    return hashlib.sha256(template.encode()).hexdigest()[:HASH_DIGITS]


def _ignore_token(_text: str) -> None:
    """Ignores a token: a part waits for the whole answer."""
