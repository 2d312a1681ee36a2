"""Changes the specification of a run by votes and by the user's answers: keeps the change, stores it and shows it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from greenloop.core import registry
from greenloop.core.events import Event, Specified
from greenloop.core.ports import User
from greenloop.core.records.spec import Spec
from greenloop.core.records.verdict import Verdict
from greenloop.core.run_state import RunState
from greenloop.engine.loop.attempt_steps import Files
from greenloop.localize.context import BaselineContext
from greenloop.project.sources import import_name_in_tests
from greenloop.specs import stored_tests, voting
from greenloop.specs.voting import Voting


def build_voting(
    context: BaselineContext,
    state: RunState,
    emit: Callable[[Event], None],
    *,
    trust: str,
    user: User,
    verify: Callable[[Files], Awaitable[Verdict]],
    patience: int,
) -> Voting:
    """Builds the votes of a run by the rule `trust`; `emit` gets each change of the specification."""
    regions = state.problem.regions  # none where only a file that is no module may be at fault
    module = import_name_in_tests(regions[0].path, context.snapshot.root) if regions else ""

    def report_change(spec: Spec, sentence: str) -> None:
        """Keeps, stores and emits a spec that votes or answers of the user changed."""
        problem = state.problem = replace(state.problem, spec=spec)
        for message in stored_tests.update(problem.root, regions[0], problem.files[regions[0].path], spec, module):
            context.report_status(message)
        emit(Specified(spec=spec, reason=sentence))

    return Voting(
        rule=registry.load_part("trust", trust).rule,
        user=user,
        questions=min(context.settings.ask, voting.MAX_QUESTIONS),
        module=module,
        verify=verify,
        report_change=report_change,
        patience=patience,
    )
