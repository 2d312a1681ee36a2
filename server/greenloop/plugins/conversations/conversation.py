"""Holds the conversation of one run with a capable model: its report, its turns, and the question sent ahead.

It must not know whether a candidate passes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from greenloop.core.budget import count_prompt_tokens
from greenloop.core.compose import compose
from greenloop.core.errors import ContextTooLongError
from greenloop.core.events import Event, Looked, Planned, Proposed, Token
from greenloop.core.ports import Model, RunTests, calls_tools, context
from greenloop.core.records.attempt import Attempt, Draft, Look
from greenloop.core.records.model import ChatRequest, Message, Reply, Usage
from greenloop.core.records.problem import Findings, Problem
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.text.redact import redact
from greenloop.engine.conversations import Withdrawn
from greenloop.engine.model_calls import ModelCalls
from greenloop.localize.context import BaselineContext
from greenloop.plugins.conversations import turn_calls
from greenloop.plugins.conversations.bug_report import write_report
from greenloop.plugins.conversations.exchange import Answered, Exchange, Looking
from greenloop.plugins.conversations.file_edits import EditedFiles
from greenloop.plugins.conversations.looks._project import ProjectView
from greenloop.plugins.conversations.messages import build_messages, describe_tools, describe_tried
from greenloop.plugins.conversations.reading import read_turn
from greenloop.plugins.conversations.search import conversation as search
from greenloop.project import templates
from greenloop.project.editable import why_not_editable
from greenloop.project.revisions.judging import find_role
from greenloop.project.snapshot import Snapshot
from greenloop_sandbox import Execution, Inspection, WatchedLines

FOLDER = "conversation"  # of the templates
ROOM, SMALL_ROOM = 24_000, 8_000  # tokens of a report, where the context is large, and where it is not known
LARGE_CONTEXT = 100_000
SHARE = 0.25  # of a smaller context

Emit = Callable[[Event], None]
Tell = Callable[[Look | str], None]  # takes a look, or a piece of the answer


def begin(context: BaselineContext, calls: ModelCalls, *, goes_on: bool = False) -> Conversation:
    """Makes the conversation of a run whose baseline is still to be measured."""

    async def run(
        attempt: Attempt,  # noqa: ARG001 - there is only the user's code so far
        selectors: Sequence[str],
        watch: Sequence[WatchedLines] = (),
        *,
        inspect: Inspection | None = None,
    ) -> Execution:
        return await context.run(selectors, {}, watch=tuple(watch), inspect=inspect, baseline=False)

    return Conversation(
        calls=calls,
        snapshot=context.snapshot,
        patterns=context.patterns,
        masked=context.place.masked,
        run=run,
        goes_on=goes_on,
    )


@dataclass(kw_only=True)
class Conversation:
    """The conversation of one run. `report` and everything after it stay the same from request to request.

    `findings` returns what is known of the failure, and is called once; `run` runs tests over the texts of an attempt.
    `patterns` are those of pytest's test files, `masked` those of hidden files. `goes_on`: an earlier run has turns of
    it, so that no question is sent ahead.
    """

    calls: ModelCalls
    snapshot: Snapshot
    patterns: Sequence[str]
    masked: Sequence[str]
    run: RunTests
    findings: Callable[[], Awaitable[Findings]] | None = None
    goes_on: bool = False
    report: str = ""
    looking: Looking = field(init=False)
    _known: Findings | None = None
    _tried: str = ""  # before the first turn, by other models
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _ahead: asyncio.Task[Answered] | None = None
    _early: list[Look | str] = field(default_factory=list)  # looks and pieces of the question ahead so far
    _tell: Tell | None = None  # receives them from now on
    _billed: Usage = Usage()  # of all replies so far
    _sent_tokens: int = 0  # of a prompt that has no reply yet
    _templates: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self._templates = templates.preset_templates(FOLDER)
        self.looking = Looking(mask=lambda text: redact(text, self.calls.secrets), tokens=SMALL_ROOM)

    def know_baseline(self, run: RunTests, findings: Callable[[], Awaitable[Findings]]) -> None:
        """Takes over the functions that run tests over an attempt, and gather the findings of the whole baseline."""
        self.run, self.findings = run, findings

    def ask_early(self, findings: Findings) -> None:
        """Sends the first question as soon as the failure is located, while the rest of the baseline is measured."""
        self._known = findings
        self.ask_ahead(Attempt(number=0, verdict=Verdict(status=Status.FAILED, cases=tuple(findings.cases))))

    def ask_ahead(self, baseline: Attempt) -> None:
        """Sends the first question now; `turn` takes its answer. Does nothing where there was one before."""
        if self._ahead is None and not self.report and not self.goes_on:
            self._ahead = asyncio.create_task(self._answer(None, baseline, [baseline], self._tell_later))

    @property
    def has_question(self) -> bool:
        """Was a question sent ahead whose answer no turn has taken yet?"""
        return self._ahead is not None

    @property
    def has_answer(self) -> bool:
        """Has the question that was sent ahead its answer, so that nothing else need be tried meanwhile?"""
        ahead = self._ahead
        return ahead is not None and ahead.done() and not ahead.cancelled() and ahead.exception() is None

    async def prompt_tokens(self) -> int:
        """Tokens of the first request, as far as the report has them; waits until that is written."""
        return self.calls.count_tokens(await self._written_report())

    async def withdraw(self) -> Withdrawn:
        """Ends the question that was sent ahead, if no turn took its answer; returns what it used."""
        ahead, self._ahead = self._ahead, None
        if ahead is None:
            return Withdrawn()
        tokens = self._sent_tokens
        ahead.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await ahead
        price = self.calls.ledger.price
        return Withdrawn(
            billed=self._billed, pending=Usage(prompt_tokens=tokens, cost=price(tokens, 0) if tokens and price else 0.0)
        )

    def plan(self, problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
        """Plans the next turn, or changes that are tried while its question is under way."""
        return search.plan(problem, attempts, has_answer=self.has_answer)

    async def turn(
        self, number: int, draft: Draft, problem: Problem, attempts: Sequence[Attempt], emit: Emit
    ) -> tuple[Attempt, Problem]:
        """Asks for the next answer; returns its attempt, and the problem that knows every file that it changes.

        Raises `ModelError` and `BudgetExceededError`.
        """
        ahead, self._ahead = self._ahead, None
        tokens = self.calls.count_tokens(self.report)
        emit(Planned(attempt=number, draft=draft, model=self.calls.model_name(draft), prompt_tokens=tokens))
        tell = _teller(number, emit)
        if ahead is None:
            self._tried = self._tried or describe_tried(problem, attempts)
            answered = await self._answer(problem, attempts[draft.parent], attempts, tell)
        else:
            self._tell = tell
            for piece in self._early:
                tell(piece)
            try:
                answered = await ahead
            finally:
                ahead.cancel()
        emit(Proposed(attempt=number, answer=answered.text, usage=answered.usage))
        blank = Attempt(
            number=number,
            parent=draft.parent,
            draft=draft,
            model=answered.model or self.calls.model_name(draft),
            answer=answered.text,
            usage=answered.usage,
            looks=answered.looks,
            verdict=Verdict(status=Status.REFUSED),
            sent=turn_calls.record(self.calls, answered.messages, self._templates),
        )
        return read_turn(blank, problem, attempts, self._files(problem), truncated=answered.is_cut)

    def _tell_later(self, piece: Look | str) -> None:
        """Tells of the question ahead as soon as its turn has come."""
        (self._tell or self._early.append)(piece)

    async def _answer(
        self, problem: Problem | None, base: Attempt, attempts: Sequence[Attempt], tell: Tell
    ) -> Answered:
        """The next answer; the `problem` knows every file that the `base` changes (None: that is the user's code)."""
        model = await self.calls.drafter()
        while True:
            report = await self._written_report()
            exchange = Exchange(
                messages=partial(self._messages, model, report, attempts),
                build=partial(turn_calls.build_request, self.calls, attempts=attempts),
                ask=lambda request: self._ask(request, tell),
                takes_tools=lambda: calls_tools(model),
                looking=self.looking,
                project=self._project(problem, base),
                on_look=tell,
            )
            try:
                return await exchange.answer()
            except ContextTooLongError as error:
                if not self._shorten_report():
                    raise ContextTooLongError(
                        f"The report of the failure and what came after it are too long for {model.name}.",
                        remedy="Name a model with a larger context, or set `model.kind` to `small`.",
                    ) from error

    def _shorten_report(self) -> bool:
        """Makes the report half as long, or as short as it can be; returns whether it is shorter now."""
        assert self._known is not None
        before = self.calls.count_tokens(self.report)
        self._write_report(self._known, before // 2)
        return self.calls.count_tokens(self.report) < before

    async def _ask(self, request: ChatRequest, tell: Tell) -> Reply:
        """Sends a request, and keeps in mind what it costs."""
        self._sent_tokens = count_prompt_tokens(request, self.calls.count_tokens)
        try:
            reply = await turn_calls.ask(self.calls, request, tell)
        finally:
            self._sent_tokens = 0
        self._billed += reply.usage
        return reply

    async def _written_report(self) -> str:
        """The report, which is written once, for the context of the model."""
        async with self._writing:
            if not self.report:
                if self._known is None:
                    assert self.findings is not None
                    self._known = await self.findings()
                size = context(await self.calls.drafter())
                room = ROOM if size >= LARGE_CONTEXT else int(size * SHARE) or SMALL_ROOM
                self._write_report(self._known, room)
        return self.report

    def _write_report(self, findings: Findings, room: int) -> None:
        self.looking.tokens = max(SMALL_ROOM, room)
        self.report = write_report(findings, room, self.calls.count_tokens)

    def _messages(
        self, model: Model, report: str, attempts: Sequence[Attempt], looks: Sequence[Look]
    ) -> tuple[Message, ...]:
        system, is_plain = self._templates["system"].strip(), not calls_tools(model)
        if is_plain:
            system += "\n\n" + describe_tools(self._templates["looks"], self.looking.tools)
        first = "\n\n".join(part for part in (report, self._tried) if part)
        return build_messages(system, first, attempts, looks, plain=is_plain)

    def _project(self, problem: Problem | None, base: Attempt) -> ProjectView:
        assert self._known is not None
        problem = problem or self._known.problem
        return ProjectView(
            snapshot=self.snapshot,
            problem=problem,
            changed=compose(problem, base.candidate) if base.candidate else {},
            masked=self.masked,
            run=lambda selectors, inspect: self.run(base, selectors, inspect=inspect),
            failing=[case.id for case in self._known.failing],
        )

    def _files(self, problem: Problem) -> EditedFiles:
        root, text_of = self.snapshot.root, self.snapshot.readable_text
        roles = {each.path: each.role for each in problem.data}

        def why_not(path: str) -> str:
            why = why_not_editable(path, root, patterns=self.patterns, masked=self.masked)
            if not why and not path.endswith(".py") and text_of(path) is not None:
                role = roles[path] if path in roles else find_role(path, root, text_of, self.patterns)
                why = f"belongs to the tests, which stay as they are ({role})" if role else ""
            return why or ("is not a text file" if (root / path).is_file() and text_of(path) is None else "")

        known = [path for path in problem.files if not why_not(path)]
        return EditedFiles(text_of=text_of, known=known, why_not=why_not)


def _teller(number: int, emit: Emit) -> Tell:
    """Makes events of an attempt from what its turn tells."""
    pieces = 0

    def tell(piece: Look | str) -> None:
        nonlocal pieces
        if isinstance(piece, Look):
            emit(Looked(attempt=number, look=piece))
            return
        pieces += 1
        emit(Token(attempt=number, text=piece, count=pieces))

    return tell
