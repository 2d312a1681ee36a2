"""One refinement through the façade: events, state, the user, cancelling, and the result in the files."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace

import pytest

from fake_engine import AFTER, BEFORE, CASE, attempt, fake, project, solved, unsolved
from greenloop.api import RefineRequest, RefineSession
from greenloop.core.errors import CannotVerifyError, UsageError, WorkspaceError
from greenloop.core.events import Finished, Offered, Started, Tested
from greenloop.core.records.outcome import StopReason, Verified
from greenloop.core.records.verdict import Status
from greenloop.engine.history.store import History
from greenloop.project.settings import Settings

__all__ = ["fake", "project"]

TYPED = "# typed meanwhile\n\n\n"


def begin(project, **parts) -> RefineSession:
    return RefineSession(RefineRequest(root=project, target=CASE), settings=Settings(ask=3), **parts)


def applied(run: int) -> bool:
    history = History.open()
    try:
        return history.run(run).applied is not None
    finally:
        history.close()


async def test_the_events_end_with_the_outcome_and_the_state_has_them_all(fake, project):
    session, shown = begin(project), []
    events = [event async for event in session.events()]
    assert (type(events[0]), type(events[-1])) == (Started, Finished)
    assert session.outcome == events[-1].outcome
    assert [each.number for each in session.state.attempts] == [0, 1, 2]
    assert session.problem.spec.selectors == (CASE,)
    again = begin(project, on_event=shown.append)
    assert await again.run() == again.outcome
    assert len(shown) == len(events)


async def test_an_error_ends_the_events(fake, project):
    fake.result = CannotVerifyError("no sandbox")
    with pytest.raises(CannotVerifyError):
        [event async for event in begin(project).events()]


@pytest.mark.parametrize(("user", "asked"), [(None, 0), (SimpleNamespace(can_answer=False), 0), (object(), 3)])
async def test_only_a_user_who_can_answer_is_asked(fake, project, user, asked):
    await begin(project, user=user).run()
    assert fake.settings[-1].ask == asked


async def test_a_cancelled_run_has_its_attempts_so_far(fake, project):
    fake.hang_after = 6
    session = begin(project)
    async for _event in session.events():
        if len(session.state.attempts) == 2:
            break
    session = begin(project)
    task = session.start()
    while len(session.state.attempts) < 2:
        await asyncio.sleep(0)
    session.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    outcome = session.cancelled_outcome()
    assert (outcome.reason, len(outcome.attempts)) == (StopReason.CANCELLED, 2)


async def test_a_run_that_is_cancelled_after_its_offer_keeps_the_result(fake, project):
    session = begin(project)
    offered = replace(solved(project), verified=Verified.PARTIALLY)
    session.state.record(Offered(outcome=offered))
    assert session.cancelled_outcome() == offered
    assert not session.may_write()
    session.state.record(Tested(attempt=replace(attempt(1), refused=True)))
    assert session.cancelled_outcome().reason is StopReason.CANCELLED


async def test_a_result_is_written_and_marked_as_applied(fake, project):
    session = begin(project)
    await session.run()
    assert session.may_write()
    assert await session.apply() == ["m.py"]
    assert (project / "m.py").read_text() == AFTER
    assert applied(session.outcome.run)
    assert fake.reverified == []


async def test_a_file_that_changed_meanwhile_is_merged_and_verified_again(fake, project):
    fake.meanwhile = lambda: (project / "m.py").write_text(TYPED + BEFORE)
    session, said = begin(project), []
    await session.run()
    assert await session.apply(report_status=said.append) == ["m.py"]
    assert (project / "m.py").read_text() == TYPED + AFTER
    assert fake.reverified == [{"m.py": (TYPED + AFTER).encode()}]
    assert said == ["m.py changed during the run; the result is verified again with that change."]


async def test_a_merged_text_that_fails_is_not_written(fake, project):
    fake.meanwhile, fake.again = lambda: (project / "test_m.py").write_text("# other\n"), Status.FAILED
    session = begin(project)
    await session.run()
    with pytest.raises(WorkspaceError, match="fails with that change"):
        await session.apply()
    assert (project / "m.py").read_text() == BEFORE
    assert not applied(session.outcome.run)


async def test_changes_at_the_same_place_are_refused(fake, project):
    fake.meanwhile = lambda: (project / "m.py").write_text(BEFORE.replace("x + 1", "x + 7"))
    session = begin(project)
    await session.run()
    with pytest.raises(WorkspaceError, match="changed at the same place"):
        await session.apply()


async def test_without_a_result_there_is_nothing_to_write(fake, project):
    fake.result = unsolved()
    session = begin(project)
    await session.run()
    assert not session.may_write()
    with pytest.raises(UsageError):
        await session.apply()


async def test_a_doubtful_result_is_written_only_where_that_is_accepted(fake, project):
    fake.result = solved(project, verified=Verified.PARTIALLY)
    session = begin(project)
    await session.run()
    assert (session.may_write(), session.may_write(("partial",))) == (False, True)
