"""One request after calibration: the loop with the preset's parts, the history beside it, the outcome behind it.

It must not know how the target was found or who is shown the events.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

from greenloop import (
    acceptance,
    basis,
    docket,
    interpreters,
    judging,
    polling,
    proofs,
    registry,
    walls,
    workspace,
    written,
)
from greenloop.asking import Asking
from greenloop.bed import SLOWER, Bed, Calibration
from greenloop.core import loop
from greenloop.core.compose import compose, region_text
from greenloop.core.election import nearest
from greenloop.core.errors import BaselineChanged, CannotVerify, ModelProblem, SandboxBroke
from greenloop.core.estimate import EMBEDDED, foreseen
from greenloop.core.events import Event, Specified, Started
from greenloop.core.ledger import Ledger, Request, Spent, size
from greenloop.core.nouns import (
    Attempt,
    Budget,
    Completion,
    Draft,
    Estimate,
    Evidence,
    Execution,
    Group,
    Lines,
    Move,
    Note,
    Outcome,
    Past,
    Problem,
    Reply,
    Role,
    Status,
    StopReason,
    Verdict,
)
from greenloop.core.ports import Model, Sandbox, Session, Tools, User
from greenloop.core.redact import redact
from greenloop.ending import Ending, Keeping, ended, reason_of
from greenloop.history import History
from greenloop.polling import Polling
from greenloop.regions import unwritten
from greenloop.roles import Models, sampled
from greenloop.settings import Settings
from greenloop.sources import imported_as
from greenloop.specifying import specified
from greenloop.stopwatch import Stopwatch, Timed

GLANCE = 1.0  # seconds, at least, for one of many candidates
SHORT_ANSWER = 60  # tokens of what is still to be written


@dataclass(kw_only=True)
class Course:
    """One request after calibration: owns the pieces that the loop's parts close over."""

    bed: Bed
    calibration: Calibration
    sandbox: Sandbox
    preset: registry.Preset
    models: Models
    user: User
    secrets: tuple[str, ...]
    trusted: str
    watch: Stopwatch = field(default_factory=Stopwatch)
    history: Path | None = None
    evidence: Evidence = field(default_factory=Evidence)
    ledger: Ledger = field(init=False)
    asking: Asking = field(init=False)
    polling: Polling | None = None
    feedback: Mapping[Group | None, Sequence[ModuleType]] = field(init=False)

    def __post_init__(self) -> None:
        """Raises `SettingsProblem` where a setting names a feedback part that is none."""
        settings = self.settings
        self.feedback = {
            group: [registry.load("feedback", name) for name in self._treatment(group)] for group in (None, *Group)
        }
        self.ledger = Ledger(
            Budget(
                attempts=settings.attempts or self.preset.attempts,
                seconds=settings.seconds,
                tokens=settings.tokens,
                cost=settings.cost or None,
            )
        )
        self.asking = Asking(
            settings=settings,
            preset=self.preset,
            models=self.models,
            problem=self.calibration.problem,
            secrets=self.secrets,
            ledger=self.ledger,
        )

    @property
    def settings(self) -> Settings:
        return self.bed.settings

    def _treatment(self, group: Group | None) -> Sequence[str]:
        """Feedback parts for a group of errors: those of the setting, else the preset's for it, else the preset's."""
        preset = self.preset.treat.get(group, self.preset.feedback) if group else self.preset.feedback
        return (getattr(self.settings.feedback, group, ()) if group else ()) or preset

    async def outcome(self, emit: Callable[[Event], None]) -> Outcome:
        if self.calibration.green or self.calibration.fault:
            return self._ending().without_model(self.calibration, self.bed.target.selector)
        tools = Tools(
            ask=self._ask,
            run=self._run,
            session=self.bed.session,
            user=self.user,
            rng=random.Random(0),  # noqa: S311
            place=self.bed.place,
            options=judging.options(self.settings.spec),
        )
        self.calibration = calibration = await specified(
            self.bed, self.calibration, tools, self.preset.specs, lambda spec: emit(Specified(spec=spec))
        )
        if calibration.green or calibration.fault:
            return self._ending().without_model(self.calibration, self.bed.target.selector)
        drafter = await self._drafter()
        await self.models.of(Role.REFINER)
        self.asking.problem = problem = calibration.problem
        for name in self.preset.context:
            self.asking.excerpts += await registry.load("context", name).gather(problem, tools)
        baseline = calibration.baseline
        with suppress(Spent):  # the loop will find the same, and say so
            baseline = replace(baseline, notes=await self._describe(tools, problem, [baseline]))
        if all(region.created or unwritten(region, problem.files.get) for region in problem.regions):
            # That nothing is there yet helps nobody; what a search reads in the fields does.
            baseline = replace(baseline, notes=tuple(replace(note, text="") for note in baseline.notes))
        keep = Keeping(emit=emit)
        parts = self._parts(drafter, tools, keep)
        history = History.open(self.history, keep=self.settings.history.runs, warn=self.bed.say)
        try:
            number = history.begin(
                problem.root,
                self.bed.target.selector,
                preset=self.preset.name,
                model=drafter.name,
                sandbox=self.bed.session.name,
                basis=await self._basis(),
            )
            history.attempt(number, baseline)
            move, prompt = self._beginning(parts, baseline, drafter)
            past = await asyncio.to_thread(history.like, drafter.name, self.preset.name, move)
            history.begun(number, move=move, prompt=prompt)
            started = Started(
                problem=problem,
                baseline=baseline,
                model=drafter.name,
                preset=self.preset.name,
                sandbox=self.bed.session.name,
                attempts=self.ledger.budget.attempts,
                estimate=self._estimate(past, prompt, drafter),
            )
            keep.history, keep.run = history, number
            began = problem.spec
            try:
                outcome = await self._looped(problem, started, parts, keep)
            except asyncio.CancelledError:
                history.finish(number, self._judged(ended(keep.attempts, StopReason.CANCELLED, "Cancelled.")))
                raise
            usage = replace(outcome.usage, test_seconds=self.watch.seconds)
            outcome = await self._with_tests(replace(self._judged(outcome), run=number, usage=usage))
            if self.calibration.problem.spec != began:
                history.rests(number, await self._basis())
            history.finish(number, outcome)
        finally:
            history.close()
        return outcome

    async def _drafter(self) -> Model:
        model = await self.models.of(Role.DRAFTER)
        self.ledger.price = getattr(model, "price", None)
        return model

    async def _ask(self, completion: Completion) -> Reply:
        """What parts ask, also before the loop: by then somebody must have said which model there is."""
        await self._drafter()
        return await self.asking.quietly(completion)

    async def _basis(self) -> basis.Basis:
        calibration = self.calibration
        return await asyncio.to_thread(basis.of, self.bed.place, calibration.problem, calibration.outcomes)

    def _beginning(self, parts: loop.Parts, baseline: Attempt, drafter: Model) -> tuple[Move, int]:
        """The run's first move, and how many tokens a first whole question has, whether or not it is ever asked."""
        problem = self.calibration.problem
        planned = parts.plan(problem, [baseline])
        draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)
        asked = parts.assemble(problem, draft, [baseline])
        return (planned[0].move if planned else Move.DRAFT), size(asked, drafter.count_tokens)

    def _estimate(self, past: Sequence[Past], prompt: int, drafter: Model) -> Estimate:
        problem = self.calibration.problem
        own = sum(drafter.count_tokens(region_text(problem, region)) for region in problem.regions)
        return foreseen(
            past,
            prompt=prompt,
            answer=min(max(own, SHORT_ANSWER), self.settings.answer.tokens),
            limit=self.ledger.budget.tokens,
            speeds=EMBEDDED if drafter.name.startswith("local") else None,
        )

    async def _looped(self, problem: Problem, started: Started, parts: loop.Parts, keep: Keeping) -> Outcome:
        """The loop; a model or a sandbox that gives up in the middle ends the run with its sentence."""
        try:
            return await loop.refine(problem, started, parts, self.ledger, keep)
        except (ModelProblem, CannotVerify) as error:
            if isinstance(error, SandboxBroke):
                await walls.with_another(error, self.settings, self.bed.session.name)
            return ended(keep.attempts, reason_of(error), f"{error} {error.remedy}".strip())

    def _parts(self, drafter: Model, tools: Tools, emit: Callable[[Event], None]) -> loop.Parts:
        def prompt(_problem: Problem, draft: Draft, attempts: Sequence[Attempt]) -> Request:
            return self.asking.request(drafter, draft, attempts)

        async def describe(problem: Problem, attempts: Sequence[Attempt]) -> tuple[Note, ...]:
            return await self._describe(tools, problem, attempts)

        region = self.calibration.problem.regions[0]
        module = imported_as(region.path, self.bed.snapshot.root)

        def ruled(problem: Problem, said: str) -> None:
            self.calibration = replace(self.calibration, problem=problem)
            for sentence in docket.update(problem.root, region, problem.files[region.path], problem.spec, module):
                self.bed.say(sentence)
            emit(Specified(spec=problem.spec, said=said))

        async def over(problem: Problem, files: Mapping[str, str]) -> Verdict:
            return await verify(files, replace(self._bench(), problem=problem))

        async def verify(files: Mapping[str, str], bench: proofs.Bench | None = None) -> Verdict:
            tested = bench or self._bench()
            return await judging.judged(tested.problem, files, tools, lambda: self._verify(files, tested))

        async def glance(files: Mapping[str, str]) -> Verdict:
            return await verify(files, self._hurried())

        async def accept(files: Mapping[str, str]) -> Verdict:
            problem = self.calibration.problem
            verdict = await judging.judged(problem, files, tools, lambda: self._accept(files), final=True)
            self.evidence = replace(self.evidence, cases=acceptance.counts(problem.spec, verdict))
            return verdict

        self.polling = polls = Polling(
            rule=registry.load("trust", self.preset.trust).rule,
            user=self.user,
            questions=min(self.settings.ask, polling.MOST),
            module=module,
            verify=over,
            ruled=ruled,
        )
        return loop.Parts(
            plan=registry.load("search", self.preset.search).plan,
            assemble=prompt,
            ask=self.asking.ask,
            verify=_unseen if self.preset.blind else verify,
            glance=_unseen if self.preset.blind else glance,
            accept=accept,
            describe=describe,
            model_of=lambda draft: self.models.name_of(draft.role),
            count=drafter.count_tokens,
            again=self.asking.again,
            elect=nearest if self.preset.blind else polls.elect,
        )

    async def _describe(self, tools: Tools, problem: Problem, attempts: Sequence[Attempt]) -> tuple[Note, ...]:
        if attempts[-1].verdict.status is Status.PASSED:
            return ()

        async def ask(completion: Completion) -> Reply:
            return await tools.ask(sampled(self.settings, completion, attempts))

        asking = replace(tools, ask=ask)
        parts = self.feedback.get(attempts[-1].group, self.feedback[None])
        notes = [await part.describe(problem, attempts, asking) for part in parts]
        return tuple(replace(note, text=redact(note.text, self.secrets)) for note in notes)

    def _bench(self) -> proofs.Bench:
        calibration = self.calibration
        return proofs.Bench(
            problem=calibration.problem,
            outcomes=calibration.outcomes,
            limits=calibration.limits,
            suite_seconds=self.settings.suite.seconds,
            encode=lambda files: {path: self.bed.snapshot.encoded(path, text) for path, text in files.items()},
            left_out=calibration.left_out,
            network=self.bed.place.network,
        )

    async def _verify(self, files: Mapping[str, str], bench: proofs.Bench) -> Verdict:
        return await acceptance.verify(bench, self.bed.session, self._changed(files))

    def _hurried(self) -> proofs.Bench:
        """For candidates that come by the hundred: one that takes much longer than the user's own code has failed."""
        bench = self._bench()
        seconds = max(GLANCE, SLOWER * self.calibration.baseline.verdict.seconds)
        return replace(bench, limits=replace(bench.limits, seconds=min(seconds, bench.limits.seconds)))

    async def _run(self, attempt: Attempt, selectors: Sequence[str], watch: Sequence[Lines]) -> Execution:
        """These selectors over an attempt's texts, lines watched."""
        problem = self.calibration.problem
        files = compose(problem, attempt.candidate) if attempt.candidate else problem.files
        run = self._bench().run(self._changed(files))
        return await self.bed.session.run(replace(run, selectors=tuple(selectors), watch=tuple(watch)))

    async def _accept(self, files: Mapping[str, str]) -> Verdict:
        root = self.bed.snapshot.root
        now = await asyncio.to_thread(workspace.fingerprint, root, self.bed.snapshot.buffers)
        if now != self.trusted:
            raise BaselineChanged(
                "The tests or their configuration changed while the run was under way.", remedy="Start it again."
            )
        problem = self.calibration.problem
        tests = {case.path: problem.files[case.path] for case in problem.spec.cases if case.path in problem.files}
        tests.update(problem.spec.files)

        verdict, self.evidence = await acceptance.accept(self._bench(), self._opened, self._changed(files), tests)
        return verdict

    async def _opened(self) -> Session:
        with self.watch:
            return Timed(await self.sandbox.open(self.bed.place), self.watch)

    async def _with_tests(self, outcome: Outcome) -> Outcome:
        """The result with the tests that greenloop wrote down in the project's test file, where that is wanted."""
        if not (outcome.solved and outcome.after and self.settings.spec.write):
            return outcome
        problem, snapshot = self.calibration.problem, self.bed.snapshot
        encoded = {path: snapshot.encoded(path, text) for path, text in outcome.after.items()}
        return await written.into(
            outcome,
            problem,
            snapshot.text,
            self._opened,
            {**problem.buffers, **encoded},
            snapshot.encoded,
            hypothesis=interpreters.has_package(self.bed.place.environment, "hypothesis"),
        )

    def _changed(self, files: Mapping[str, str]) -> dict[str, str]:
        """Only what differs from the user's own text is laid over the workspace."""
        originals = self.calibration.problem.originals
        return {path: text for path, text in files.items() if originals.get(path) != text}

    def _ending(self) -> Ending:
        wall = Evidence(sandbox=self.bed.session.name, network=self.bed.place.network)
        why, doubt = (self.polling.why, self.polling.doubt) if self.polling else ("", "")
        return Ending(wall=wall, why=why, doubt=doubt, blind=self.preset.blind)

    def _judged(self, outcome: Outcome) -> Outcome:
        return self._ending().judged(outcome, self.calibration.problem, self.evidence)


async def _unseen(_files: Mapping[str, str]) -> Verdict:
    """The same of every candidate: what the tests would say stays unknown."""
    return Verdict(status=Status.FAILED)
