"""Runs a refine request from start to end: target, sandbox, baseline, regions, loop, acceptance, history.

The command line, the language server and the harness all call `refine` here; they know only its events.
It must not know who shows the events or who writes the result into the workspace.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from greenloop.core.aims import COMMENT, Aim, find_aim
from greenloop.core.deadline import Deadline, before_search
from greenloop.core.errors import SandboxBrokenError
from greenloop.core.events import Event, Finished, Started
from greenloop.core.ports import Model, NoUser, User
from greenloop.core.records.model import ModelKind
from greenloop.core.records.outcome import Outcome, StopReason
from greenloop.core.records.spec import Target, TargetKind
from greenloop.core.requirements import load_requirement
from greenloop.core.run_state import Baseline
from greenloop.core.target_kinds import PreparedTarget, find_target_kind
from greenloop.engine.baseline.early_changes import EarlyChanges
from greenloop.engine.baseline.known_baseline import KnownBaseline
from greenloop.engine.conversations import Conversation, find_conversations
from greenloop.engine.history.unsolved_run import UnsolvedRun
from greenloop.engine.model_calls import ModelCalls
from greenloop.engine.presets import Preset, find_preset
from greenloop.engine.run import RefineRun
from greenloop.engine.run_parts import RunParts
from greenloop.engine.run_workspace import RunWorkspace
from greenloop.engine.sandbox_spec import build_sandbox_spec, ignore_status, open_session
from greenloop.engine.steps import Steps
from greenloop.engine.target_adapters import build_start, describe_others
from greenloop.engine.timing import Stopwatch, TimedSession, heartbeat
from greenloop.localize.baseline import measure_baseline
from greenloop.localize.context import BaselineContext
from greenloop.localize.known_tests import read_known_tests
from greenloop.models.roles import Models
from greenloop.project import sandbox_selection, typed_targets, workspace
from greenloop.project.environment.cgroups import processor_count
from greenloop.project.environment.faults import Fault
from greenloop.project.settings import Settings
from greenloop.project.snapshot import Snapshot
from greenloop_sandbox import Failure, Sandbox, SandboxPool, SandboxSpec, Session


@dataclass(frozen=True, kw_only=True)
class RefineRequest:
    """A refine request.

    `target` is a parsed target, or text that the user typed: a pytest node id, `file.py::function`, `file.py:LINE`.
    `buffers` are unsaved texts by workspace-relative path, encoded as they would be saved.
    `base` is the first folder to resolve a typed relative path against; `comment` is a reviewer's remark on the target.
    `known_fault` recognises failures that only the caller knows no candidate can fix.
    `aim`: the target is a function that passes its tests, and is to be changed nevertheless.
    `earlier` is an unsolved run of the same target to go on with.
    """

    root: Path
    target: Target | str
    buffers: Mapping[str, bytes] = field(default_factory=dict)
    base: Path | None = None
    comment: str = ""
    known_fault: Callable[[Sequence[Failure]], Fault | None] | None = None
    aim: Aim | None = None
    earlier: UnsolvedRun | None = None


@dataclass(frozen=True, kw_only=True)
class Harness:
    """Replaces the user's parts in a measured run: any preset, recording models, a separate history file.

    `variables` are environment variables of the tests, in addition to those that the settings name.
    `remembers`: a run may begin with the baseline of the one before, which would make it faster than the first.
    """

    preset: Preset
    models: Models
    history: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    remembers: bool = False


async def refine(
    request: RefineRequest,
    *,
    settings: Settings,
    emit: Callable[[Event], None],
    report_status: Callable[[str], None] = ignore_status,
    user: User | None = None,
    model: Model | None = None,
    opener: Callable[[str, Settings], Model] | None = None,
    pool: SandboxPool | None = None,
    harness: Harness | None = None,
) -> Outcome:
    """Runs the whole request; the last event is `Finished` whenever an outcome is returned.

    `report_status` gets one-line descriptions of the current step, repeated every two seconds until the first attempt.
    `model` is used in every role whatever the settings name; `opener` opens a model by name where the caller has its
    own models or keys (an editor); `pool` keeps the sandbox open for the next request; `harness` replaces the preset,
    models and history of the settings.
    Raises `UsageError` for a target that does not exist (with the nearest that do), `CannotVerifyError` when no sandbox
    or interpreter can be used or the run's time ends before the search begins, `ModelError` when no model is
    configured, and before anything runs when one has an unknown name or no key.
    """
    deadline = Deadline(seconds=settings.seconds)
    secrets = tuple(workspace.find_secrets(request.root, os.environ))
    preset = harness.preset if harness else find_preset(_preset_name(request.aim, settings))
    if (conversations := find_conversations()) is None:
        preset = replace(preset, turns=0)
    root = workspace.check_root(request.root)
    snapshot = Snapshot(root=root, buffers=request.buffers)
    target = request.target
    special = find_target_kind(target) if isinstance(target, str) else None
    if isinstance(target, str) and special is None:
        target = typed_targets.parse_target(target, root, base=request.base, read_text=snapshot.text).target

    def tell(event: Event) -> None:
        if isinstance(event, Started):
            beating.stop()
        emit(event)

    models = harness.models if harness else Models(settings=settings, override=model, factory=opener)
    await models.check()
    async with heartbeat(report_status) as beating:
        variables = harness.variables if harness else None
        tests = [target if isinstance(target, str) else target.path]
        place = await build_sandbox_spec(root, settings, beating.report, variables, tests=tests)
        shared_pool = pool or SandboxPool()
        watch = Stopwatch()
        async with before_search(deadline):
            with watch:
                sandbox, session = await sandbox_selection.open_first(place, settings, beating.report, shared_pool)
        calls = ModelCalls(
            settings=settings, preset=preset, models=models, secrets=secrets, patience=lambda: deadline.left_to_search
        )
        conversation: Conversation | None = None
        prepared: PreparedTarget | None = None
        try:
            timed = TimedSession(session, watch)
            early = EarlyChanges(
                open_session=lambda: _borrow(shared_pool, sandbox, place, watch),
                encode=lambda texts: {path: snapshot.encoded(path, text) for path, text in texts.items()},
                report_status=beating.report,
            )
            if special is not None:
                module, text = special
                async with before_search(deadline):
                    prepared = await module.prepare(build_start(text, snapshot, timed, place, settings, beating.report))
                assert prepared is not None
                target, snapshot = prepared.target, snapshot.with_text(prepared.target.path, prepared.text)
                request = replace(request, buffers=snapshot.buffers)
            assert isinstance(target, Target)
            context = BaselineContext(
                target=target,
                prepared=prepared,
                fallback=prepared.regions if prepared else (),
                snapshot=snapshot,
                session=timed,
                place=place,
                settings=settings,
                report_status=beating.report,
                comment=request.comment,
                known_fault=request.known_fault,
                aim=request.aim,
                known_tests=await asyncio.to_thread(read_known_tests, place, snapshot.buffers),
                deadline=deadline,
            )
            if conversations is not None:
                conversation = conversations.begin(context, calls, goes_on=request.earlier is not None)
            kind = await calls.settle_kind()
            # Where a single function may change, the whole baseline has to say which.
            asks_early = preset.turns and target.kind is TargetKind.TEST and settings.regions > 1
            if conversation and asks_early and kind is ModelKind.CAPABLE:
                context = replace(context, when_located=conversation.ask_early)
            is_shared = pool is not None and (harness is None or harness.remembers)
            known = KnownBaseline(context=context, pool=pool if is_shared else None)
            # Both are taken before the baseline, so that a change during it counts as a change too.
            fingerprint = asyncio.to_thread(workspace.fingerprint, root, request.buffers)
            trusted, baseline, _ready = await asyncio.gather(fingerprint, known.find(), timed.warm())
            async with before_search(deadline):
                if baseline is None:
                    baseline = await _measure(context, preset, early)
                    known.keep(baseline)
                if baseline.passing and request.comment and target.kind is TargetKind.FUNCTION:
                    beating.report("its tests pass; changing it as the comment asks")
                    context = replace(context, aim=find_aim(COMMENT))
                    preset, baseline = find_preset(_preset_name(context.aim, settings)), await measure_baseline(context)
                    calls = replace(calls, preset=preset)
                    conversation = conversations.begin(context, calls) if conversations else None
            parts = RunParts(
                context=context,
                baseline=baseline,
                workspace=RunWorkspace(context=context, sandbox=sandbox, trusted=trusted, watch=watch),
                preset=preset,
                calls=calls,
                conversation=conversation,
                user=user or NoUser(),
                failed=early.known_failures(baseline.problem),
            )
            steps = Steps(parts=parts)
            past = harness.history if harness else None
            run = RefineRun(parts=parts, steps=steps, history=past, earlier=request.earlier)
            outcome = await run.outcome(tell)
            if outcome.reason is StopReason.ALREADY_GREEN and request.aim is None:
                others = await describe_others(build_start("", snapshot, timed, place, settings, beating.report))
                outcome = replace(outcome, message=f"{outcome.message} {others}".strip())
        except SandboxBrokenError as error:
            raise await sandbox_selection.suggest_other(error, settings, sandbox.name) from error
        finally:
            if conversation is not None:
                await asyncio.shield(conversation.withdraw())
            await asyncio.shield(asyncio.gather(_release(session, shared_pool, keep=pool is not None), models.close()))
    emit(Finished(outcome=outcome))
    return outcome


async def warm(root: Path, settings: Settings, pool: SandboxPool, variables: Mapping[str, str] | None = None) -> None:
    """Keeps an open sandbox for this workspace, or warms those that are kept, so that the next request need not wait.

    Raises `CannotVerifyError` where no sandbox can be used; the request itself will report that to the user.
    """
    place = await build_sandbox_spec(workspace.check_root(root), settings, variables=variables)
    if await pool.warm(place):
        return
    async with open_session(place, settings, pool=pool) as (_sandbox, session):
        await session.warm()


async def _measure(context: BaselineContext, preset: Preset, early: EarlyChanges) -> Baseline:
    """Measures the baseline, and tries one-token changes of a failing test in parallel if that costs no time."""
    if context.target.kind is not TargetKind.TEST or not preset.tries_changes or processor_count() < 2:
        return await measure_baseline(context)
    early.prepare()
    try:
        return await measure_baseline(replace(context, when_failing=early.start))
    finally:
        await asyncio.shield(early.stop())


def _preset_name(aim: Aim | None, settings: Settings) -> str:
    if aim is None:
        return settings.preset
    chosen: str = load_requirement(aim.requirement).choose_preset(aim.options, has_planner=bool(settings.planner.model))
    return chosen


async def _borrow(pool: SandboxPool, sandbox: Sandbox, place: SandboxSpec, watch: Stopwatch) -> Session:
    with watch:
        session = await pool.open(sandbox, place)
    return TimedSession(session, watch, close=lambda: pool.release(session))


async def _release(session: Session, pool: SandboxPool, *, keep: bool) -> None:
    await pool.release(session)
    if not keep:
        await pool.close()
