"""One refine request from beginning to end: target, sandbox, baseline, regions, loop, acceptance, history.

The command line, the language server and the harness all call `refine` here; none of them knows more than its events.
It must not know who shows the events or who writes the result into the workspace.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files as resource
from pathlib import Path

from greenloop import acceptance, interpreters, registry, targets, workspace
from greenloop.calibration import Bed, Calibration, calibrate
from greenloop.core import loop
from greenloop.core.compose import before_after
from greenloop.core.errors import CannotVerify, ModelProblem
from greenloop.core.events import Event, Finished, Started, Tested
from greenloop.core.gate import warnings
from greenloop.core.nouns import (
    Attempt,
    Budget,
    Completion,
    Draft,
    Evidence,
    Excerpt,
    Limits,
    Note,
    Outcome,
    Place,
    Problem,
    Reply,
    Role,
    Run,
    Status,
    StopReason,
    Target,
    Usage,
    Verdict,
    Verified,
)
from greenloop.core.ports import Model, Nobody, Sandbox, Session, Tools, User
from greenloop.core.prompt import assemble
from greenloop.core.redact import redact
from greenloop.embedded.choice import choose
from greenloop.history import History
from greenloop.runners.pytest import parse
from greenloop.settings import Settings, get
from greenloop.snapshot import Snapshot

# Back ends by preference; on other systems than Linux only the second can work.
ORDER = ("bubblewrap", "docker")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a user asked for.

    `target` is a found target, or text as typed: a pytest node id, `file.py::function`, `file.py:LINE`.
    `buffers` are unsaved texts by workspace-relative path, encoded as they would be saved.
    `base` is the folder that a typed relative path counts from first.
    """

    root: Path
    target: Target | str
    buffers: Mapping[str, bytes] = field(default_factory=dict)
    base: Path | None = None


def quiet(_text: str) -> None:
    """Says nothing."""


async def refine(
    request: Request,
    *,
    settings: Settings,
    emit: Callable[[Event], None],
    say: Callable[[str], None] = quiet,
    user: User | None = None,
    model: Model | None = None,
) -> Outcome:
    """Runs the whole request; the last event is `Finished` whenever an outcome is returned.

    `say` gets one-line descriptions of what is going on now.
    `model` overrides the settings' model (the editor's own).
    Raises `UsageProblem` for a target that does not exist (with the nearest that do), `CannotVerify` when no sandbox
    or interpreter can be used, `ModelProblem` when no model is configured.
    """
    preset = registry.preset(settings.preset)
    root = workspace.checked_root(request.root)
    snapshot = Snapshot(root=root, buffers=request.buffers)
    target = request.target
    if isinstance(target, str):
        target = targets.parse_target(target, root, base=request.base, text_of=snapshot.text).target
    sandbox, place = await prepare(root, settings, say)
    say(f"opening the sandbox ({sandbox.name})")
    session = await sandbox.open(place)
    models = Models(settings=settings, override=model)
    try:
        bed = Bed(target=target, snapshot=snapshot, session=session, place=place, settings=settings, say=say)
        calibration = await calibrate(bed)
        run = _Run(
            bed=bed,
            calibration=calibration,
            sandbox=sandbox,
            preset=preset,
            models=models,
            user=user or Nobody(),
            secrets=tuple(workspace.secrets(root, os.environ)),
            trusted=workspace.fingerprint(root, request.buffers),
        )
        outcome = await run.outcome(emit)
    finally:
        await asyncio.shield(asyncio.gather(session.close(), models.close()))
    emit(Finished(outcome=outcome))
    return outcome


async def prepare(root: Path, settings: Settings, say: Callable[[str], None] = quiet) -> tuple[Sandbox, Place]:
    """The sandbox that passed its self-test and where it will run. Raises `CannotVerify` with each one's remedy."""
    environment = await asyncio.to_thread(interpreters.environment, root, settings)
    place = Place(
        root=root,
        environment=environment,
        masked=workspace.masked(settings),
        limits=Limits(
            seconds=settings.sandbox.seconds,
            memory=settings.sandbox.memory << 20,
            processes=settings.sandbox.processes,
        ),
        image=settings.sandbox.image,
        network=settings.sandbox.network,
        variables={name: os.environ[name] for name in settings.sandbox.env if name in os.environ},
    )
    kinds = ORDER if settings.sandbox.kind == "auto" else (settings.sandbox.kind,)
    refusals = []
    for kind in kinds:
        say(f"looking for a sandbox ({kind})")
        sandbox: Sandbox = registry.load("sandboxes", kind).create(settings)
        probe = await sandbox.probe()
        if probe.ok:
            return sandbox, place
        refusals.append((f"{kind}: {probe.detail}", probe.remedy))
    raise CannotVerify(
        "No sandbox can be used here (" + "; ".join(text for text, _ in refusals) + ").",
        remedy=" Or: ".join(remedy for _, remedy in refusals if remedy),
    )


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

    async def close(self) -> None:
        for model in self.opened.values():
            await model.close()


@dataclass(kw_only=True)
class _Run:
    """One request after calibration: owns the pieces that the loop's parts close over."""

    bed: Bed
    calibration: Calibration
    sandbox: Sandbox
    preset: registry.Preset
    models: Models
    user: User
    secrets: tuple[str, ...]
    trusted: str
    evidence: Evidence = field(default_factory=Evidence)

    @property
    def settings(self) -> Settings:
        return self.bed.settings

    async def outcome(self, emit: Callable[[Event], None]) -> Outcome:
        calibration = self.calibration
        if calibration.green or calibration.fault:
            return self._without_model()
        drafter = await self.models.of(Role.DRAFTER)
        await self.models.of(Role.REFINER)
        problem = calibration.problem
        tools = Tools(ask=self._ask_quietly, session=self.bed.session, user=self.user, rng=random.Random(0))  # noqa: S311
        excerpts: list[Excerpt] = []
        for name in self.preset.context:
            excerpts += await registry.load("context", name).gather(problem, tools)
        baseline = calibration.baseline
        if not all(region.created for region in problem.regions):
            baseline = replace(baseline, notes=await self._describe(tools, problem, [baseline]))
        started = Started(
            problem=problem,
            baseline=baseline,
            model=drafter.name,
            preset=self.preset.name,
            sandbox=self.bed.session.name,
            attempts=self.settings.attempts,
        )
        parts = self._parts(drafter, tools, excerpts)
        history = History.open(keep=self.settings.history.runs, warn=self.bed.say)
        try:
            number = history.begin(
                problem.root,
                self.bed.target.selector,
                preset=self.preset.name,
                model=drafter.name,
                sandbox=self.bed.session.name,
            )
            history.attempt(number, baseline)
            keep = _Keeping(history=history, run=number, emit=emit)
            try:
                outcome = await self._looped(problem, started, parts, keep)
            except asyncio.CancelledError:
                history.finish(number, self._judged(ended(keep.attempts, StopReason.CANCELLED, "Cancelled."), problem))
                raise
            outcome = replace(self._judged(outcome, problem), run=number)
            history.finish(number, outcome)
        finally:
            history.close()
        return outcome

    async def _looped(self, problem: Problem, started: Started, parts: loop.Parts, keep: _Keeping) -> Outcome:
        """The loop; a model or a sandbox that gives up in the middle ends the run with its sentence."""
        settings = self.settings
        budget = Budget(
            attempts=settings.attempts, seconds=settings.seconds, tokens=settings.tokens, cost=settings.cost or None
        )
        try:
            return await loop.refine(problem, started, parts, budget, keep)
        except (ModelProblem, CannotVerify) as error:
            reason = StopReason.MODEL if isinstance(error, ModelProblem) else StopReason.ENVIRONMENT
            return ended(keep.attempts, reason, f"{error} {error.remedy}".strip())

    def _parts(self, drafter: Model, tools: Tools, excerpts: Sequence[Excerpt]) -> loop.Parts:
        folder = resource("greenloop").joinpath("prompts", self.preset.prompt)
        templates = {
            name: folder.joinpath(f"{name}.txt").read_text(encoding="utf-8")
            for name in ("system", "task", "draft", "refine", "restart")
        }
        settings = self.settings

        def prompt(problem: Problem, draft: Draft, attempts: Sequence[Attempt]) -> Completion:
            messages = assemble(
                templates,
                problem,
                excerpts,
                attempts,
                draft,
                budget=settings.prompt.tokens,
                count=drafter.count_tokens,
            )
            clean = tuple(replace(each, content=redact(each.content, self.secrets)) for each in messages)
            return Completion(
                messages=clean,
                role=draft.role,
                temperature=draft.temperature,
                max_tokens=settings.answer.tokens,
                seed=len(attempts),
            )

        async def describe(problem: Problem, attempts: Sequence[Attempt]) -> tuple[Note, ...]:
            return await self._describe(tools, problem, attempts)

        return loop.Parts(
            plan=registry.load("search", self.preset.search).plan,
            assemble=prompt,
            ask=self._ask,
            verify=self._verify,
            accept=self._accept,
            describe=describe,
            model_of=lambda draft: self._name_of(draft.role),
            count=drafter.count_tokens,
        )

    def _name_of(self, role: Role) -> str:
        if self.models.override:
            return self.models.override.name
        return str(get(self.settings, f"{role}.model") or self.settings.model or self.models.chosen)

    async def _ask(self, completion: Completion, on_token: Callable[[str], None]) -> Reply:
        model = await self.models.of(completion.role)
        return await model.complete(completion, on_token)

    async def _ask_quietly(self, completion: Completion) -> Reply:
        return await self._ask(completion, quiet)

    async def _describe(self, tools: Tools, problem: Problem, attempts: Sequence[Attempt]) -> tuple[Note, ...]:
        if attempts[-1].verdict.status is Status.PASSED:
            return ()
        notes = [
            await registry.load("feedback", name).describe(problem, attempts, tools) for name in self.preset.feedback
        ]
        return tuple(replace(note, text=redact(note.text, self.secrets)) for note in notes)

    def _bench(self) -> acceptance.Bench:
        calibration = self.calibration
        return acceptance.Bench(
            problem=calibration.problem,
            outcomes=calibration.outcomes,
            limits=self.bed.place.limits,
            suite_seconds=self.settings.suite.seconds,
            encode=lambda files: {path: self.bed.snapshot.encoded(path, text) for path, text in files.items()},
            left_out=calibration.left_out,
        )

    async def _verify(self, files: Mapping[str, str]) -> Verdict:
        return await acceptance.verify(self._bench(), self.bed.session, self._changed(files))

    async def _accept(self, files: Mapping[str, str]) -> Verdict:
        root = self.bed.snapshot.root
        if workspace.fingerprint(root, self.bed.snapshot.buffers) != self.trusted:
            raise CannotVerify(
                "The tests or their configuration changed while the run was under way.", remedy="Start it again."
            )
        problem = self.calibration.problem
        tests = {case.path: problem.files[case.path] for case in problem.spec.cases if case.path in problem.files}

        async def open_session() -> Session:
            return await self.sandbox.open(self.bed.place)

        verdict, self.evidence = await acceptance.accept(self._bench(), open_session, self._changed(files), tests)
        return verdict

    def _changed(self, files: Mapping[str, str]) -> dict[str, str]:
        """Only what differs from the user's own text is laid over the workspace."""
        originals = self.calibration.problem.originals
        return {path: text for path, text in files.items() if originals.get(path) != text}

    def _judged(self, outcome: Outcome, problem: Problem) -> Outcome:
        """Adds the result's texts, what speaks for it, and the sentence for the user."""
        if outcome.best is None:
            return replace(outcome, message=outcome.message or unsolved(outcome))
        attempt = outcome.attempts[outcome.best]
        assert attempt.candidate is not None
        before, after = before_after(problem, attempt.candidate)
        outcome = replace(outcome, before=before, after=after)
        if not outcome.solved:
            return replace(outcome, message=outcome.message or unsolved(outcome))
        evidence = replace(self.evidence, warnings=warnings(problem, after))
        verified = trust(evidence)
        return replace(outcome, evidence=evidence, verified=verified, message=solved(evidence, verified))

    def _without_model(self) -> Outcome:
        calibration = self.calibration
        return Outcome(
            solved=calibration.green,
            verified=Verified.VERIFIED if calibration.green else Verified.UNVERIFIED,
            reason=StopReason.ALREADY_GREEN if calibration.green else StopReason.ENVIRONMENT,
            message=f"{self.bed.target.selector} is already green; nothing was changed."
            if calibration.green
            else f"{calibration.fault} {calibration.remedy}".strip(),
            attempts=(calibration.baseline,),
            usage=Usage(test_seconds=calibration.baseline.verdict.seconds),
        )


@dataclass(kw_only=True)
class _Keeping:
    """Passes events on; every attempt is in the history before anybody sees it."""

    history: History
    run: int | None
    emit: Callable[[Event], None]
    attempts: list[Attempt] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        if isinstance(event, Started):
            self.attempts.append(event.baseline)
        if isinstance(event, Tested):
            self.attempts.append(event.attempt)
            self.history.attempt(self.run, event.attempt)
        self.emit(event)


def ended(attempts: Sequence[Attempt], reason: StopReason, message: str) -> Outcome:
    """The outcome of a run that somebody or something stopped in the middle."""
    top = loop.best(attempts)
    return Outcome(
        solved=False,
        verified=Verified.UNVERIFIED,
        reason=reason,
        message=message,
        attempts=tuple(attempts),
        best=top.number if top else None,
        usage=loop.spent(attempts),
    )


def trust(evidence: Evidence) -> Verified:
    """Design: the user's own tests or doctests, all neighbours run, and a wall around it."""
    if evidence.sandbox == "none":
        return Verified.UNVERIFIED
    if evidence.neighbours_left_out or not ({"user", "doctest"} & set(evidence.cases)):
        return Verified.PARTIALLY
    return Verified.VERIFIED


def solved(evidence: Evidence, verified: Verified) -> str:
    """What verified the result, counted out."""
    rows = [f"{kind} {passed}/{total}" for kind, (passed, total) in evidence.cases.items()]
    rows.append(f"neighbours {evidence.neighbours_unchanged} unchanged")
    if evidence.neighbours_already_failing:
        rows.append(f"already failing before {evidence.neighbours_already_failing}")
    if evidence.neighbours_left_out:
        rows.append(f"not run {evidence.neighbours_left_out}")
    rows.append(f"canaried {evidence.canaried}/{evidence.canary_total}")
    label = {
        Verified.VERIFIED: "verified",
        Verified.PARTIALLY: "partially verified",
        Verified.UNVERIFIED: "unverified",
    }[verified]
    text = f"{label} in {evidence.sandbox}: {', '.join(rows)}"
    return "; ".join([text, *evidence.warnings])


def unsolved(outcome: Outcome) -> str:
    tried = len(outcome.attempts) - 1
    why = {
        StopReason.STALLED: "the attempts repeat themselves",
        StopReason.ATTEMPTS: "the limit of attempts was reached (`attempts`)",
        StopReason.SECONDS: "the time was up (`seconds`)",
        StopReason.TOKENS: "the token budget was used up (`tokens`)",
        StopReason.COST: "the money budget was used up (`cost`)",
    }.get(outcome.reason, outcome.reason.value)
    last = next((attempt.error_class for attempt in reversed(outcome.attempts) if attempt.number), "")
    return f"Not solved after {tried} attempt{'s' * (tried != 1)}: {why}" + (f"; last error {last}." if last else ".")


async def reverify(problem: Problem, files: Mapping[str, bytes], *, settings: Settings) -> Verdict:
    """Runs the acceptance again over other texts (a merge with what was typed meanwhile).

    The neighbours' outcomes with the user's own code are learnt anew, since that code may have changed.
    """
    sandbox, place = await prepare(problem.root, settings)
    session = await sandbox.open(place)
    try:
        run = Run(
            selectors=acceptance.selectors(problem.neighbours), files=problem.buffers, seconds=settings.suite.seconds
        )
        outcomes = {}
        if problem.neighbours:
            outcomes = {result.id: result.outcome for result in parse(await session.run(run))}
    finally:
        await session.close()
    known = {path: text for path, text in problem.files.items() if path not in files}
    bench = acceptance.Bench(
        problem=replace(problem, buffers={**problem.buffers, **files}),
        outcomes=outcomes,
        limits=place.limits,
        suite_seconds=settings.suite.seconds,
        encode=lambda texts: {path: text.encode() for path, text in texts.items()},
    )
    tests = {case.path: known[case.path] for case in problem.spec.cases if case.path in known}
    verdict, _evidence = await acceptance.accept(bench, lambda: sandbox.open(place), {}, tests)
    return verdict


async def red_tests(root: Path, *, settings: Settings, say: Callable[[str], None] = quiet) -> list[str]:
    """Runs the suite in the sandbox, unchanged; returns the node ids that fail, in order."""
    sandbox, place = await prepare(workspace.checked_root(root), settings, say)
    session = await sandbox.open(place)
    try:
        say("running the suite")
        execution = await session.run(Run(selectors=(), seconds=max(settings.suite.seconds, settings.sandbox.seconds)))
    finally:
        await session.close()
    if execution.broken:
        raise CannotVerify(f"The sandbox broke: {execution.broken}", remedy="Run `greenloop doctor`.")
    return [result.id for result in parse(execution) if result.outcome in {"failed", "error"}]
