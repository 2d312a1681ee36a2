"""The steps that a run's loop calls: plans drafts, converses, elects. It must not know how a result is accepted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from greenloop.core import registry
from greenloop.core.budget import count_prompt_tokens
from greenloop.core.election import WITHOUT_MODEL, elect_nearest
from greenloop.core.events import Event, Specified
from greenloop.core.generated_tests import find_generator
from greenloop.core.ports import slots
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role, Room
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.engine.loop.parts import Elect, Parts, keep_order, load_rank
from greenloop.engine.run_parts import RunParts
from greenloop.models.providers import none
from greenloop.verdict.case_runs import Files


@dataclass(kw_only=True)
class Steps:
    """`voting`: the generated tests of the run vote."""

    parts: RunParts
    voting: Any = None

    def for_loop(self, emit: Callable[[Event], None], accept: Callable[[Files], Awaitable[Verdict]]) -> Parts:
        """Builds the functions of the loop; `emit` gets changes of the spec."""
        run = self.parts
        calls, talk, blind = run.calls, run.conversation, run.preset.blind
        return Parts(
            plan=self.plan,
            assemble=calls.request,
            ask=calls.ask,
            verify=_hide_verdict if blind else run.verifier.verify,
            glance=_hide_verdict if blind else run.verifier.glance,
            accept=accept,
            describe=run.feedback.describe,
            model_of=calls.model_name,
            count=calls.count_tokens,
            again=calls.reask,
            elect=elect_nearest if blind else self._elect(emit),
            prepare=partial(calls.gather_context, tools=run.tools),
            stops_copies=not run.preset.corrects_drafts,
            sent=calls.sent,
            rank=keep_order if blind or run.context.aim else load_rank(calls),
            converse=self._converse,
            has_question=lambda: talk is not None and talk.has_question,
            has_answer=lambda: talk is not None and talk.has_answer,
        )

    async def first_move(self) -> tuple[Move, int]:
        """The first move of the run, and the tokens of its first whole prompt; a conversation begins with it."""
        run = self.parts
        problem, attempts = run.state.problem, run.state.attempts
        if (conversation := run.conversation_after(attempts)) is None:
            planned = self.plan(problem, attempts)
            prompt = count_prompt_tokens(run.first_request(problem), run.calls.count_tokens)
            return (planned[0].move if planned else Move.DRAFT), prompt
        conversation.ask_ahead(attempts[0])
        return Move.TURN, await conversation.prompt_tokens()

    def plan(self, problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
        """Plans the next turn of a conversation, or by the preset's search within the settings and the run's limits.

        Raises `ModelError` if there is no model and only one could go on.
        """
        drafts = self._search(problem, attempts)
        drafter = self.parts.calls.models.opened_model(Role.DRAFTER)
        if drafter is not None and not slots(drafter) and all(draft.move not in WITHOUT_MODEL for draft in drafts):
            raise none.needed()
        return drafts

    def _search(self, problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
        run = self.parts
        if (conversation := run.conversation_after(attempts)) is not None:
            return conversation.plan(problem, attempts)
        plan: Callable[..., Sequence[Draft]] = registry.load_part("search", run.preset.search).plan
        if not run.preset.tries_changes:
            return plan(problem, attempts)
        drafter, ledger = run.calls.models.opened_model(Role.DRAFTER), run.state.ledger
        room = Room(
            slots=slots(drafter) if drafter else 1,
            tokens=ledger.budget.tokens - ledger.used.tokens,
            seconds=run.state.deadline.left_to_search,
        )
        return plan(problem, attempts, steps=run.context.settings.ladder, room=room)

    def _elect(self, emit: Callable[[Event], None]) -> Elect:
        """The election of the run; where a plugin generates tests, these vote."""
        run = self.parts
        settings = run.context.settings
        patience = 1 + len(settings.ladder.temperatures) if run.preset.tries_changes else 0
        if (generator := find_generator()) is None:
            return partial(elect_nearest, patience=patience)

        def keep_spec(spec: Spec, sentence: str) -> None:
            run.state.keep_spec(spec)
            emit(Specified(spec=spec, reason=sentence))

        self.voting = generator.Voting(
            rule=registry.load_part("trust", run.preset.trust).rule,
            user=run.tools.user,
            questions=settings.ask,
            verify=run.verifier.verify,
            keep_spec=keep_spec,
            report_status=run.context.report_status,
            patience=patience,
        )
        elect: Elect = self.voting.elect
        return elect

    async def _converse(
        self, number: int, draft: Draft, problem: Problem, attempts: Sequence[Attempt], emit: Callable[[Event], None]
    ) -> Attempt:
        """Asks for the next turn; the run's problem gets every file that it changes, and tests of these are related."""
        assert self.parts.conversation is not None
        attempt, extended = await self.parts.conversation.turn(number, draft, problem, attempts, emit)
        await self.parts.related.extend(extended)
        return attempt


async def _hide_verdict(_files: Files) -> Verdict:
    """Returns the same verdict for every candidate: a blind preset never sees test results."""
    return Verdict(status=Status.FAILED)
