"""The parts of a run, built once after its baseline: what prepares it, what plans its steps, and the run share them.

It must not know in which order they are used.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field

from greenloop.core.ports import Tools, User
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import ChatRequest, InfillRequest, ModelKind, Reply, Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Verdict
from greenloop.core.run_state import Baseline, RunState
from greenloop.engine.baseline.related_trace import RelatedTests
from greenloop.engine.conversations import Conversation, Withdrawn
from greenloop.engine.feedback import Feedback
from greenloop.engine.model_calls import ModelCalls
from greenloop.engine.presets import Preset
from greenloop.engine.run_workspace import RunWorkspace
from greenloop.localize.context import BaselineContext
from greenloop.localize.findings import findings_of
from greenloop.project.settings import values as setting_values
from greenloop.verdict.beyond_tests.checks import BeyondTests
from greenloop.verdict.case_runs import Change
from greenloop.verdict.verifier import Verifier

FIRST_DRAFT = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)


@dataclass(kw_only=True)
class RunParts:
    """`calls` are those of its models, whose ledger is the run's; `conversation`, with a capable one, may have begun
    (None: nothing holds any).

    `baseline` is replaced where preparing the run adds to it; `failed` are verdicts of changes that were tried before.
    """

    context: BaselineContext
    baseline: Baseline
    workspace: RunWorkspace
    preset: Preset
    calls: ModelCalls
    conversation: Conversation | None
    user: InitVar[User]
    failed: InitVar[Mapping[Change, Verdict]]
    state: RunState = field(init=False)
    tools: Tools = field(init=False)
    feedback: Feedback = field(init=False)
    related: RelatedTests = field(init=False)
    verifier: Verifier = field(init=False)

    def __post_init__(self, user: User, failed: Mapping[Change, Verdict]) -> None:
        """Raises `SettingsError` where a setting names a feedback part that does not exist."""
        context, baseline, workspace = self.context, self.baseline, self.workspace
        settings, deadline, options = context.settings, context.deadline, setting_values(context.settings)
        deadline.proof_seconds = baseline.proof_seconds
        self.state = state = RunState(problem=baseline.problem, ledger=self.calls.ledger, deadline=deadline)
        state.start_from(baseline)
        self.related = RelatedTests(
            context=context, state=state, measurement=baseline.measurement, open_session=workspace.open_session
        )
        self.verifier = Verifier(
            state=state,
            session=context.session,
            open_session=workspace.open_session,
            encode=workspace.encode,
            suite_seconds=settings.suite.seconds,
            network=context.place.network,
            ensure_unchanged=workspace.ensure_unchanged,
            own_code=lambda: workspace.own_code(state.problem),
            failed=failed,
            proved=() if context.prepared else None,
            beyond=BeyondTests(options=options),
            late=self.related.late,
        )
        self.tools = Tools(
            ask=self._ask_for_part,
            run=self.verifier.run,
            session=context.session,
            user=user,
            rng=random.Random(0),  # noqa: S311
            place=context.place,
            options=options,
        )
        self.feedback = Feedback(settings=settings, preset=self.preset, tools=self.tools, secrets=self.calls.secrets)
        if self.conversation is not None:
            self.conversation.know_baseline(
                self.verifier.run, lambda: findings_of(context, self.baseline, state.problem)
            )

    def begin_from(self, baseline: Baseline) -> None:
        """Takes over a baseline to which something was added."""
        self.baseline = baseline
        self.state.start_from(baseline)

    def conversation_after(self, attempts: Sequence[Attempt]) -> Conversation | None:
        """The conversation, where the next answer comes from a capable model."""
        is_plain = self.preset.turns and self.context.aim is None and not self.state.problem.spec.open
        return self.conversation if is_plain and self.calls.kind(attempts) is ModelKind.CAPABLE else None

    async def withdraw(self) -> Withdrawn:
        """Ends a question that was sent ahead, if no turn took its answer; returns what it used."""
        return await asyncio.shield(self.conversation.withdraw()) if self.conversation else Withdrawn()

    def first_request(self, problem: Problem) -> ChatRequest | InfillRequest:
        """The first full prompt of the run, whether or not it is ever sent."""
        return self.calls.request(problem.opened(()), FIRST_DRAFT, self.state.attempts)

    async def _ask_for_part(self, request: ChatRequest) -> Reply:
        """Asks for a part; says so where a planner is asked, since no attempt is under way by then."""
        if request.role is Role.PLANNER:
            self.context.report_status("asking the planner")
        return await self.calls.ask_for_part(request)
