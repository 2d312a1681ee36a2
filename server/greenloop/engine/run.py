"""Runs a request after its baseline: prepare, loop, prove, and record it in the history.

It must not know how the target was found or who is shown the events.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from greenloop.core.budget import EMBEDDED, estimate_run
from greenloop.core.compose import compose, region_text
from greenloop.core.errors import CannotVerifyError, ModelError, SandboxBrokenError
from greenloop.core.events import Event, Offered, Started, Tested
from greenloop.core.ports import Model, slots
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.model import Estimate, PastRun
from greenloop.core.records.outcome import Evidence, Outcome, StopReason
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates.answers.changed_regions import with_file
from greenloop.engine.history import provenance
from greenloop.engine.history.rows import store_problem
from greenloop.engine.history.store import History
from greenloop.engine.history.unsolved_run import UnsolvedRun
from greenloop.engine.loop import loop
from greenloop.engine.loop.parts import Parts
from greenloop.engine.outcome import OutcomeBuilder, build_stopped, stop_reason, with_withdrawn
from greenloop.engine.prepare import prepare
from greenloop.engine.run_parts import RunParts
from greenloop.engine.steps import Steps
from greenloop.engine.timing import heartbeat
from greenloop.project import sandbox_selection
from greenloop.verdict.case_runs import Files, changed_texts

SHORT_ANSWER = 60  # lower bound for the tokens of an answer, as a stub is shorter than its implementation


@dataclass(kw_only=True)
class RefineRun:
    """A request after its baseline. `offered` is a result whose proof goes on."""

    parts: RunParts
    steps: Steps
    history: Path | None = None
    earlier: UnsolvedRun | None = None
    offered: Outcome | None = None

    async def outcome(self, emit: Callable[[Event], None]) -> Outcome:
        """Runs the request; emits every event except `Finished`."""
        state, context = self.parts.state, self.parts.context
        try:
            async with state.deadline.limit() as limit:
                drafter = await prepare(self.parts, emit)
                if drafter is not None and self.parts.conversation_after(state.attempts) is None:
                    self.steps.plan(state.problem, state.attempts)  # raises what would end the run before any attempt
        except TimeoutError:
            if not limit.expired():
                raise
            stopped = build_stopped(state.attempts, StopReason.SECONDS, "")
            return await self._before_search(self._builder().complete(stopped, state))
        if drafter is None:
            built = self._builder().without_model(self.parts.baseline, context.target.selector)
            return await self._before_search(built)
        with History.open(self.history, keep=context.settings.history.runs, warn=context.report_status) as history:
            return await self._refine(drafter, history, emit)

    async def _before_search(self, outcome: Outcome) -> Outcome:
        """Adds what models used to the outcome of a request that ended before the search."""
        withdrawn = await self.parts.withdraw()
        return with_withdrawn(replace(outcome, usage=outcome.usage + self.parts.state.ledger.used), withdrawn)

    async def _refine(self, drafter: Model, history: History, forward: Callable[[Event], None]) -> Outcome:
        """Runs the loop and completes its outcome; the history always gets the run's start and end.

        An event is passed on only after its attempt was stored.
        """
        run, state, context, number = self.parts, self.parts.state, self.parts.context, None

        def emit(event: Event) -> None:
            if isinstance(event, Tested):
                history.save_attempt(number, event.attempt)
            forward(event)

        def offer(files: Files, evidence: Evidence) -> None:
            self.offered = replace(self._offer(files, evidence), run=number)
            history.finish_run(number, self.offered)
            forward(Offered(outcome=self.offered))

        parts = self.steps.for_loop(emit, partial(self._accept, offer))
        (baseline,) = state.attempts
        await self._know_files_of_earlier()
        basis = await run.workspace.basis(state.problem, state.outcomes)
        kind = run.calls.kind(state.attempts)
        number = history.start_run(
            state.problem.root,
            context.prepared.name if context.prepared else context.target.selector,
            preset=run.preset.name,
            model=drafter.name,
            sandbox=context.session.name,
            basis=basis,
            kind=kind,
        )
        history.save_problem(number, store_problem(state.problem, "".join(each.goal for each in state.requirements)))
        history.save_attempt(number, baseline)
        foundation = _foundation(state.problem)
        move, prompt = await self.steps.first_move()
        past = await asyncio.to_thread(history.similar_runs, drafter.name, run.preset.name, move)
        history.save_start(number, move=move, prompt=prompt)
        self._go_on(basis)
        started = Started(
            problem=state.problem,
            baseline=baseline,
            model=drafter.name,
            preset=run.preset.name,
            sandbox=context.session.name,
            attempts=state.ledger.budget.attempts,
            kind=kind,
            estimate=self._estimate(past, prompt, drafter) if slots(drafter) else None,
            run=number,
        )
        try:
            run.related.start()
            outcome = await self._loop(started, parts, emit)
        except asyncio.CancelledError:
            if self.offered is None:
                cancelled = build_stopped(state.attempts, StopReason.CANCELLED, "Cancelled.")
                history.finish_run(number, self._builder().complete(cancelled, state))
            if _foundation(state.problem) != foundation:
                history.set_basis(number, await asyncio.shield(run.workspace.basis(state.problem, state.outcomes)))
            raise
        finally:
            await asyncio.shield(run.related.stop())
            await asyncio.shield(asyncio.to_thread(run.related.keep))
            withdrawn = await run.withdraw()
        outcome = with_withdrawn(self._builder().complete(outcome, state), withdrawn)
        usage = replace(outcome.usage, test_seconds=run.workspace.watch.seconds)
        outcome = await run.workspace.with_tests(replace(outcome, run=number, usage=usage), state.problem)
        if _foundation(state.problem) != foundation:
            history.set_basis(number, await run.workspace.basis(state.problem, state.outcomes))
        history.finish_run(number, outcome)
        return outcome

    async def _know_files_of_earlier(self) -> None:
        """Makes the problem know every file that attempts of an earlier run change."""
        problem, snapshot = self.parts.state.problem, self.parts.context.snapshot
        candidates = [each.candidate for each in self.earlier.attempts if each.candidate] if self.earlier else []
        for path in dict.fromkeys(region.path for candidate in candidates for region in candidate.texts):
            problem = with_file(problem, path, snapshot.readable_text(path))
        await self.parts.related.extend(problem)

    def _go_on(self, basis: provenance.Basis) -> None:
        """Takes over the attempts of an earlier run, unless the project has changed since."""
        if self.earlier is None:
            return
        report_status = self.parts.context.report_status
        if why := self.earlier.why_unfit(basis):
            report_status(f"{why}: its attempts do not count, and the run starts anew")
            return
        report_status(f"continuing after attempt {self.earlier.attempts[-1].number} of run {self.earlier.number}")
        self.parts.state.go_on_from(self.earlier.attempts)

    def _estimate(self, past: Sequence[PastRun], prompt: int, drafter: Model) -> Estimate:
        """Estimates the run by similar ones and the tokens of its first prompt."""
        state = self.parts.state
        code_tokens = sum(drafter.count_tokens(region_text(state.problem, each)) for each in state.problem.regions)
        return estimate_run(
            past,
            prompt_tokens=prompt,
            answer_tokens=min(max(code_tokens, SHORT_ANSWER), self.parts.context.settings.answer.tokens),
            limit=state.ledger.budget.tokens,
            speeds=EMBEDDED if drafter.name == "local" else None,
        )

    async def _loop(self, started: Started, parts: Parts, emit: Callable[[Event], None]) -> Outcome:
        """Runs the loop; a model or sandbox error midway ends the run with its message."""
        context, state = self.parts.context, self.parts.state
        try:
            return await loop.refine(state, started, parts, emit)
        except (ModelError, CannotVerifyError) as error:
            if isinstance(error, SandboxBrokenError):
                await sandbox_selection.suggest_other(error, context.settings, context.session.name)
            return build_stopped(state.attempts, stop_reason(error), error.advice)

    async def _accept(self, offer: Callable[[Files, Evidence], None], files: Files) -> Verdict:
        """Accepts with all that is known of the related tests by now; goes on with the others if it comes to more."""
        await self.parts.related.stop()
        async with heartbeat(self.parts.context.report_status) as beating:
            beating.report("proving the result")
            verdict = await self.parts.verifier.accept(files, offer, beating.report)
        if verdict.status is not Status.PASSED:
            self.offered = None
            self.parts.related.start()
        return verdict

    def _offer(self, files: Files, evidence: Evidence) -> Outcome:
        """Builds the outcome of a result that is proven except for the related tests that go on."""
        state = self.parts.state

        def is_offered(attempt: Attempt) -> bool:
            candidate = attempt.candidate
            return candidate is not None and changed_texts(state.problem, compose(state.problem, candidate)) == files

        attempts = [replace(each, accepted=True) if is_offered(each) else each for each in state.attempts]
        shown = replace(state, attempts=attempts, evidence=evidence)
        return self._builder().complete(loop.build_outcome(shown, StopReason.SOLVED), shown)

    def _builder(self) -> OutcomeBuilder:
        context, voting = self.parts.context, self.steps.voting
        sandbox = Evidence(sandbox=context.session.name, network=context.place.network)
        why, doubt = (voting.why, voting.doubt) if voting else ("", "")
        doubts = filter(None, (doubt, *(each.doubt for each in self.parts.state.requirements)))
        return OutcomeBuilder(sandbox=sandbox, why=why, doubt=next(doubts, ""), blind=self.parts.preset.blind)


def _foundation(problem: Problem) -> Hashable:
    """Returns the parts of the problem that a result depends on; they may grow during a run."""
    return problem.spec, problem.neighbours, tuple(problem.originals)
