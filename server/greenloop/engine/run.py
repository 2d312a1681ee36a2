"""Runs a request after its baseline: specify, gather context, loop, prove, and record it in the history.

It must not know how the target was found or who is shown the events.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from greenloop.core import registry
from greenloop.core.budget import EMBEDDED, BudgetExceededError, count_prompt_tokens, estimate_run
from greenloop.core.compose import compose, region_text
from greenloop.core.election import WITHOUT_MODEL, elect_nearest
from greenloop.core.errors import CannotVerifyError, ModelError, SandboxBrokenError
from greenloop.core.events import Event, Offered, Specified, Started, Tested
from greenloop.core.generated_tests import find_generator
from greenloop.core.ports import Model, Tools, User, slots
from greenloop.core.records.attempt import Attempt, Candidate, Draft, Move
from greenloop.core.records.model import ChatRequest, Estimate, InfillRequest, ModelKind, PastRun, Reply, Role, Room
from greenloop.core.records.outcome import Evidence, Outcome, StopReason
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.requirements import Trial
from greenloop.core.run_state import Baseline, RunState
from greenloop.drafting.candidates.answers.changed_regions import with_file
from greenloop.drafting.candidates.checks.gate import check
from greenloop.drafting.search import conversation as conversation_search
from greenloop.engine.baseline.related_trace import RelatedTrace, with_related
from greenloop.engine.conversation.conversation import Conversation
from greenloop.engine.feedback import Feedback
from greenloop.engine.history import provenance
from greenloop.engine.history.rows import store_problem
from greenloop.engine.history.store import History
from greenloop.engine.history.unsolved_run import UnsolvedRun
from greenloop.engine.loop import loop
from greenloop.engine.loop.candidate_runs import read_answer
from greenloop.engine.loop.parts import Elect, Parts, keep_order, load_rank
from greenloop.engine.model_calls import ModelCalls
from greenloop.engine.outcome import OutcomeBuilder, build_stopped, stop_reason, with_withdrawn
from greenloop.engine.presets import Preset
from greenloop.engine.requirements import Requirements
from greenloop.engine.run_workspace import RunWorkspace
from greenloop.engine.specify import specify
from greenloop.engine.timing import heartbeat
from greenloop.localize.context import BaselineContext
from greenloop.localize.findings import findings_of
from greenloop.models.providers import none
from greenloop.project import sandbox_selection
from greenloop.project.settings import values as setting_values
from greenloop.project.workspace import importing_tests
from greenloop.verdict.beyond_tests.checks import BeyondTests
from greenloop.verdict.case_runs import Change, Files, changed_texts
from greenloop.verdict.verifier import Verifier

SHORT_ANSWER = 60  # lower bound for the tokens of an answer, as a stub is shorter than its implementation
FIRST_DRAFT = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)
ROOM = 6000  # tokens of a prompt that has room for several suspects and the outline of their files


@dataclass(kw_only=True)
class RefineRun:
    """A request after its baseline. Owns the run's state.

    `calls` are those of its models, whose ledger is the run's; `conversation`, with a capable one, may have begun.
    `failed` are verdicts of changes that were tried before. `offered` is a result whose proof goes on.
    """

    context: BaselineContext
    baseline: Baseline
    workspace: RunWorkspace
    preset: Preset
    calls: ModelCalls
    conversation: Conversation
    user: User
    history: Path | None = None
    earlier: UnsolvedRun | None = None
    failed: Mapping[Change, Verdict] = field(default_factory=dict)
    state: RunState = field(init=False)
    tools: Tools = field(init=False)
    feedback: Feedback = field(init=False)
    verifier: Verifier = field(init=False)
    voting: Any = None
    offered: Outcome | None = None
    related_trace: RelatedTrace = field(init=False)

    def __post_init__(self) -> None:
        """Raises `SettingsError` where a setting names a feedback part that does not exist."""
        settings = self.context.settings
        deadline = self.context.deadline
        deadline.proof_seconds = self.baseline.proof_seconds
        self.state = RunState(problem=self.baseline.problem, ledger=self.calls.ledger, deadline=deadline)
        self.state.start_from(self.baseline)
        self.tools = Tools(
            ask=self._ask_for_part,
            run=lambda *given, **options: self.verifier.run(*given, **options),  # noqa: PLW0108 - it comes later
            session=self.context.session,
            user=self.user,
            rng=random.Random(0),  # noqa: S311
            place=self.context.place,
            options=setting_values(settings),
        )
        self.verifier = Verifier(
            state=self.state,
            session=self.context.session,
            open_session=self.workspace.open_session,
            encode=self.workspace.encode,
            suite_seconds=settings.suite.seconds,
            may_take_all=settings.apply != "partial",
            network=self.context.place.network,
            ensure_unchanged=self.workspace.ensure_unchanged,
            own_code=lambda: self.workspace.own_code(self.state.problem),
            failed=self.failed,
            proved=() if self.context.prepared else None,
            beyond=BeyondTests(options=self.tools.options),
            durations=self._durations,
        )
        self.feedback = Feedback(settings=settings, preset=self.preset, tools=self.tools, secrets=self.calls.secrets)
        self.conversation.run = self.verifier.run
        self.conversation.findings = lambda: findings_of(self.context, self.baseline, self.state.problem)

    async def outcome(self, emit: Callable[[Event], None]) -> Outcome:
        """Runs the request; emits every event except `Finished`."""
        try:
            async with self.state.deadline.limit() as limit:
                drafter = await self._prepare(emit)
        except TimeoutError:
            if not limit.expired():
                raise
            stopped = build_stopped(self.state.attempts, StopReason.SECONDS, "")
            return await self._before_search(self._builder().complete(stopped, self.state))
        if drafter is None:
            return await self._before_search(self._builder().without_model(self.baseline, self.context.target.selector))
        with History.open(
            self.history, keep=self.context.settings.history.runs, warn=self.context.report_status
        ) as history:
            return await self._refine(drafter, history, emit)

    async def _before_search(self, outcome: Outcome) -> Outcome:
        """Adds what models used to the outcome of a request that ended before the search."""
        withdrawn = await asyncio.shield(self.conversation.withdraw())
        return with_withdrawn(replace(outcome, usage=outcome.usage + self.state.ledger.used), withdrawn)

    async def _prepare(self, emit: Callable[[Event], None]) -> Model | None:
        """Completes specification and context; returns the model that drafts, or None where none is needed."""
        if not self.baseline.has_result:
            self.baseline = await specify(
                self.context,
                self.baseline,
                self._requirements(),
                self.preset.specs,
                lambda spec: emit(Specified(spec=spec)),
                self._first_answer,
            )
            self.state.start_from(self.baseline)
        if (aim := self.context.aim) is not None and not self.baseline.has_result:
            self.baseline = await self._requirements().begin(aim.requirement, self.baseline, aim.options)
            self.state.start_from(self.baseline)
        if self.baseline.has_result:
            return None
        drafter = await self.calls.drafter()
        if self._converses(self.state.attempts):
            self.state.problem = replace(self.state.problem, exact=self.context.settings.regions == 1)
            return drafter
        self.state.problem = self._with_scope(self.state.problem)
        await self.calls.models.model_for(Role.REFINER)
        await self.calls.gather_context(self.state.problem.opened(()), self.tools)
        (baseline,) = self.state.attempts
        described = await self.feedback.describe_baseline(self.state.problem, baseline)
        self.state.start_from(replace(self.baseline, problem=self.state.problem, attempt=described))
        self._plan(self.state.problem, self.state.attempts)  # raises what would end the run before its first attempt
        return drafter

    def _requirements(self) -> Requirements:
        return Requirements(
            inputs=lambda: self.verifier.inputs,
            tools=self.tools,
            deadline=self.state.deadline,
            report_status=self.context.report_status,
        )

    def _with_scope(self, problem: Problem) -> Problem:
        """The problem with the places that a prompt may show, by the settings and by the model's room."""
        has_room = self.calls.prompt_tokens >= ROOM
        places = self.context.settings.prompt.places or (self.preset.places if has_room else 0)
        return replace(problem, exact=self.context.settings.regions == 1, places=places)

    async def _first_answer(self, problem: Problem) -> Trial | None:
        """The drafter's first answer, which becomes the first attempt of the loop; None where it cannot run."""
        await self.calls.drafter()
        problem = self._with_scope(problem)
        await self.calls.gather_context(problem.opened(()), self.tools)
        try:
            reply = await self.calls.ask_early(replace(self._first_request(problem), seed=1))
        except BudgetExceededError:
            return None
        attempt = read_answer(problem, 1, FIRST_DRAFT, self.state.attempts, reply).attempt
        texts = compose(problem, attempt.candidate) if attempt.candidate else {}
        if attempt.candidate is None or check(problem, attempt.candidate, texts, parent=None):
            return None
        return Trial(inputs=replace(self.verifier.inputs, problem=problem), files=texts)

    def _first_request(self, problem: Problem) -> ChatRequest | InfillRequest:
        """The first full prompt of the run, whether or not it is ever sent."""
        return self.calls.request(problem.opened(()), FIRST_DRAFT, self.state.attempts)

    def _estimate(self, past: Sequence[PastRun], prompt: int, drafter: Model) -> Estimate:
        """Estimates the run by similar ones and the tokens of its first prompt."""
        problem = self.state.problem
        code_tokens = sum(drafter.count_tokens(region_text(problem, region)) for region in problem.regions)
        return estimate_run(
            past,
            prompt_tokens=prompt,
            answer_tokens=min(max(code_tokens, SHORT_ANSWER), self.context.settings.answer.tokens),
            limit=self.state.ledger.budget.tokens,
            speeds=EMBEDDED if drafter.name == "local" else None,
        )

    async def _refine(self, drafter: Model, history: History, forward: Callable[[Event], None]) -> Outcome:
        """Runs the loop and completes its outcome; the history always gets the run's start and end.

        An event is passed on only after its attempt was stored.
        """
        state, number = self.state, None

        def emit(event: Event) -> None:
            if isinstance(event, Tested):
                history.save_attempt(number, event.attempt)
            forward(event)

        def offer(files: Files, evidence: Evidence) -> None:
            self.offered = replace(self._offer(files, evidence), run=number)
            history.finish_run(number, self.offered)
            forward(Offered(outcome=self.offered))

        parts = self.parts(emit, offer)
        (baseline,) = state.attempts
        await self._know_files_of_earlier()
        basis = await self.workspace.basis(state.problem, state.outcomes)
        number = history.start_run(
            state.problem.root,
            self.context.prepared.name if self.context.prepared else self.context.target.selector,
            preset=self.preset.name,
            model=drafter.name,
            sandbox=self.context.session.name,
            basis=basis,
            kind=self.calls.kind(state.attempts),
        )
        history.save_problem(number, store_problem(state.problem, "".join(each.goal for each in state.requirements)))
        history.save_attempt(number, baseline)
        foundation = _foundation(state.problem)
        self.related_trace = RelatedTrace(
            measurement=self.baseline.measurement,
            open_session=self.workspace.open_session,
            seconds=self.context.settings.suite.seconds,
        )
        move, prompt = await self._first_move()
        past = await asyncio.to_thread(history.similar_runs, drafter.name, self.preset.name, move)
        history.save_start(number, move=move, prompt=prompt)
        self._go_on(basis)
        started = Started(
            problem=state.problem,
            baseline=baseline,
            model=drafter.name,
            preset=self.preset.name,
            sandbox=self.context.session.name,
            attempts=state.ledger.budget.attempts,
            kind=self.calls.kind(state.attempts),
            estimate=self._estimate(past, prompt, drafter) if slots(drafter) else None,
            run=number,
        )
        try:
            self.related_trace.start(state.unmeasured)
            outcome = await self._loop(started, parts, emit)
        except asyncio.CancelledError:
            if self.offered is None:
                cancelled = build_stopped(state.attempts, StopReason.CANCELLED, "Cancelled.")
                history.finish_run(number, self._builder().complete(cancelled, state))
            if _foundation(state.problem) != foundation:
                history.set_basis(number, await asyncio.shield(self.workspace.basis(state.problem, state.outcomes)))
            raise
        finally:
            await asyncio.shield(self._stop_related_trace())
            await asyncio.shield(asyncio.to_thread(self._keep_known_tests))
            withdrawn = await asyncio.shield(self.conversation.withdraw())
        outcome = with_withdrawn(self._builder().complete(outcome, state), withdrawn)
        usage = replace(outcome.usage, test_seconds=self.workspace.watch.seconds)
        outcome = await self.workspace.with_tests(replace(outcome, run=number, usage=usage), state.problem)
        if _foundation(state.problem) != foundation:
            history.set_basis(number, await self.workspace.basis(state.problem, state.outcomes))
        history.finish_run(number, outcome)
        return outcome

    async def _know_files_of_earlier(self) -> None:
        """Makes the problem know every file that attempts of an earlier run change."""
        state, snapshot = self.state, self.context.snapshot
        candidates = [each.candidate for each in self.earlier.attempts if each.candidate] if self.earlier else []
        known = state.problem.files
        for path in dict.fromkeys(region.path for candidate in candidates for region in candidate.texts):
            state.problem = with_file(state.problem, path, snapshot.readable_text(path))
        await self._add_related([path for path in state.problem.files if path not in known])

    def _go_on(self, basis: provenance.Basis) -> None:
        """Takes over the attempts of an earlier run, unless the project has changed since."""
        if self.earlier is None:
            return
        if why := self.earlier.why_unfit(basis):
            self.context.report_status(f"{why}: its attempts do not count, and the run starts anew")
            return
        last = self.earlier.attempts[-1].number
        self.context.report_status(f"continuing after attempt {last} of run {self.earlier.number}")
        self.state.go_on_from(self.earlier.attempts)

    async def _loop(self, started: Started, parts: Parts, emit: Callable[[Event], None]) -> Outcome:
        """Runs the loop; a model or sandbox error midway ends the run with its message."""
        try:
            return await loop.refine(self.state, started, parts, emit)
        except (ModelError, CannotVerifyError) as error:
            if isinstance(error, SandboxBrokenError):
                await sandbox_selection.suggest_other(error, self.context.settings, self.context.session.name)
            return build_stopped(self.state.attempts, stop_reason(error), error.advice)

    def parts(
        self,
        emit: Callable[[Event], None],
        offer: Callable[[Files, Evidence], None] = lambda _files, _evidence: None,
    ) -> Parts:
        """Builds the functions of the loop; `emit` gets changes of the spec, `offer` as `Verifier.accept`."""
        blind = self.preset.blind
        return Parts(
            plan=self._plan,
            assemble=self.calls.request,
            ask=self.calls.ask,
            verify=_hide_verdict if blind else self.verifier.verify,
            glance=_hide_verdict if blind else self.verifier.glance,
            accept=partial(self._accept, offer),
            describe=self.feedback.describe,
            model_of=self.calls.model_name,
            count=self.calls.count_tokens,
            again=self.calls.reask,
            elect=elect_nearest if blind else self._elect(emit),
            prepare=partial(self.calls.gather_context, tools=self.tools),
            stops_copies=not self.preset.corrects_drafts,
            sent=self.calls.sent,
            rank=keep_order if blind or self.context.aim else load_rank(self.calls),
            converse=self._converse,
            has_question=lambda: self.conversation.has_question,
            has_answer=lambda: self.conversation.has_answer,
        )

    def _elect(self, emit: Callable[[Event], None]) -> Elect:
        """The election of the run; where a plugin generates tests, these vote."""
        patience = 1 + len(self.context.settings.ladder.temperatures) if self.preset.tries_changes else 0
        if (generator := find_generator()) is None:
            return partial(elect_nearest, patience=patience)

        def keep_spec(spec: Spec, sentence: str) -> None:
            self.state.keep_spec(spec)
            emit(Specified(spec=spec, reason=sentence))

        self.voting = generator.Voting(
            rule=registry.load_part("trust", self.preset.trust).rule,
            user=self.user,
            questions=self.context.settings.ask,
            verify=self.verifier.verify,
            keep_spec=keep_spec,
            report_status=self.context.report_status,
            patience=patience,
        )
        elect: Elect = self.voting.elect
        return elect

    def _converses(self, attempts: Sequence[Attempt]) -> bool:
        """Does the next answer come from a capable model, with which there is a conversation?"""
        is_plain = self.preset.turns and self.context.aim is None and not self.state.problem.spec.open
        return bool(is_plain) and self.calls.kind(attempts) is ModelKind.CAPABLE

    async def _first_move(self) -> tuple[Move, int]:
        """The first move of the run, and the tokens of its first whole prompt; a conversation begins with it."""
        state = self.state
        if not self._converses(state.attempts):
            planned = self._plan(state.problem, state.attempts)
            prompt = count_prompt_tokens(self._first_request(state.problem), self.calls.count_tokens)
            return (planned[0].move if planned else Move.DRAFT), prompt
        self.conversation.ask_ahead(state.attempts[0])
        return Move.TURN, await self.conversation.prompt_tokens()

    async def _converse(
        self,
        number: int,
        draft: Draft,
        problem: Problem,
        attempts: Sequence[Attempt],
        emit: Callable[[Event], None],
    ) -> Attempt:
        """Asks for the next turn; the run's problem gets every file that it changes, and tests of these are related."""
        attempt, extended = await self.conversation.turn(number, draft, problem, attempts, emit)
        await self._add_related([path for path in extended.files if path not in problem.files])
        self.state.problem = extended
        return attempt

    async def _add_related(self, paths: Sequence[str]) -> None:
        """Adds the test files that import these modules to those whose outcome is not known yet."""
        state, snapshot = self.state, self.context.snapshot
        known = {case.partition("::")[0] for case in (*state.problem.neighbours, *state.unmeasured)}
        known |= {case.path for case in state.problem.spec.cases}
        for module in (path for path in paths if path.endswith(".py")):
            found = await asyncio.to_thread(importing_tests, snapshot.root, module, buffers=snapshot.buffers)
            state.unmeasured += tuple(path for path in found if path not in known)
            known |= {*found}

    async def _accept(self, offer: Callable[[Files, Evidence], None], files: Files) -> Verdict:
        """Accepts with all that is known of the related tests by now; goes on with the others if it comes to more."""
        await self._stop_related_trace()
        async with heartbeat(self.context.report_status) as beating:
            beating.report("proving the result")
            verdict = await self.verifier.accept(files, offer, beating.report)
        if verdict.status is not Status.PASSED:
            self.offered = None
            self.related_trace.start(self.state.unmeasured)
        return verdict

    async def _stop_related_trace(self) -> None:
        """Ends the background run of related tests, and takes over its record. Known outcomes count before its own."""
        state = self.state
        if (related := await self.related_trace.take_record({case.id for case in state.problem.spec.cases})) is None:
            return
        state.unmeasured = related.unmeasured
        outcomes = state.learn_outcomes({**related.outcomes, **state.outcomes})
        state.problem = with_related(state.problem, related, outcomes)

    def _durations(self) -> dict[str, float]:
        """Seconds of the tests with the user's own code, as far as they are known by now."""
        measurement, known = self.baseline.measurement, self.context.known_tests
        measured = {case: each.seconds for case, each in measurement.results.items()} if measurement else {}
        return {case: each for case, each in {**(known.seconds if known else {}), **measured}.items() if each}

    def _keep_known_tests(self) -> None:
        """Keeps what this run has shown of the tests for the next one."""
        known, measurement = self.context.known_tests, self.baseline.measurement
        if known is not None and measurement is not None and not measurement.stubs and not measurement.uncollected:
            known.keep(measurement.results, measurement.unknown, measurement.reach, self.verifier.late_seconds)

    def _offer(self, files: Files, evidence: Evidence) -> Outcome:
        """Builds the outcome of a result that is proven except for the related tests that go on."""
        state = self.state
        attempts = [
            replace(each, accepted=True) if each.candidate and self._changes(each.candidate) == files else each
            for each in state.attempts
        ]
        shown = replace(state, attempts=attempts, evidence=evidence)
        return self._builder().complete(loop.build_outcome(shown, StopReason.SOLVED), shown)

    def _changes(self, candidate: Candidate) -> dict[str, str]:
        return changed_texts(self.state.problem, compose(self.state.problem, candidate))

    async def _ask_for_part(self, request: ChatRequest) -> Reply:
        """Asks for a part; says so where a planner is asked, since no attempt is under way by then."""
        if request.role is Role.PLANNER:
            self.context.report_status("asking the planner")
        return await self.calls.ask_for_part(request)

    def _plan(self, problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
        """Plans the next turn of a conversation, or by the preset's search within the settings and the run's limits.

        Raises `ModelError` if there is no model and only one could go on.
        """
        drafts = self._search(problem, attempts)
        drafter = self.calls.models.opened_model(Role.DRAFTER)
        if drafter is not None and not slots(drafter) and all(draft.move not in WITHOUT_MODEL for draft in drafts):
            raise none.needed()
        return drafts

    def _search(self, problem: Problem, attempts: Sequence[Attempt]) -> Sequence[Draft]:
        if self._converses(attempts):
            return conversation_search.plan(problem, attempts, has_answer=self.conversation.has_answer)
        plan: Callable[..., Sequence[Draft]] = registry.load_part("search", self.preset.search).plan
        if not self.preset.tries_changes:
            return plan(problem, attempts)
        drafter, ledger = self.calls.models.opened_model(Role.DRAFTER), self.state.ledger
        room = Room(
            slots=slots(drafter) if drafter else 1,
            tokens=ledger.budget.tokens - ledger.used.tokens,
            seconds=self.state.deadline.left_to_search,
        )
        return plan(problem, attempts, steps=self.context.settings.ladder, room=room)

    def _builder(self) -> OutcomeBuilder:
        sandbox = Evidence(sandbox=self.context.session.name, network=self.context.place.network)
        why, doubt = (self.voting.why, self.voting.doubt) if self.voting else ("", "")
        doubts = filter(None, (doubt, *(each.doubt for each in self.state.requirements)))
        return OutcomeBuilder(sandbox=sandbox, why=why, doubt=next(doubts, ""), blind=self.preset.blind)


def _foundation(problem: Problem) -> Hashable:
    """Returns the parts of the problem that a result depends on; they may grow during a run."""
    return problem.spec, problem.neighbours, tuple(problem.originals)


async def _hide_verdict(_files: Files) -> Verdict:
    """Returns the same verdict for every candidate: a blind preset never sees test results."""
    return Verdict(status=Status.FAILED)
