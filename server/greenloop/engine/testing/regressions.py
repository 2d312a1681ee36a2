"""Finds the tests that became red since a revision: they pass there and fail now, or are new and fail.

The tests of the working tree decide what fails now, those of the revision what passed then; nothing is checked out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.core.errors import CannotVerifyError, SandboxBrokenError
from greenloop.engine.sandbox_spec import build_sandbox_spec, ignore_status, open_session
from greenloop.engine.testing.failing_tests import refuse_unreadable
from greenloop.engine.timing import heartbeat
from greenloop.project import workspace
from greenloop.project.environment.faults import find_environment_fault
from greenloop.project.revisions.git import Repository
from greenloop.project.revisions.revision import Revision, compare
from greenloop.project.settings import Settings
from greenloop_sandbox import Execution, SandboxSpec, Session, TestRun, case_results
from greenloop_sandbox.report.cases import collect_errors


@dataclass(frozen=True, kw_only=True)
class Regressions:
    """Ids of tests that fail now. `broken` pass at the revision, `new` do not exist there; `old` fail there as well."""

    commit: str
    broken: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    old: tuple[str, ...] = ()

    @property
    def red(self) -> tuple[str, ...]:
        """Tests that became red since the revision; first those that used to pass."""
        return self.broken + self.new


async def find_regressions(
    root: Path, revision: str, *, settings: Settings, report_status: Callable[[str], None] = ignore_status
) -> Regressions:
    """Runs the suite now, and what fails once more with the files of the revision.

    Each run has the time limit of a suite.
    Raises `UsageError` for a revision that does not exist, `CannotVerifyError` where there is no repository, no
    sandbox, where the tests cannot run, or where nothing is red but new files that pytest cannot import.
    """
    root = workspace.check_root(root)
    repository = await asyncio.to_thread(Repository.find, root)
    commit = await asyncio.to_thread(repository.commit, revision)
    place = await build_sandbox_spec(root, settings, report_status)
    seconds = max(settings.suite.seconds, settings.sandbox.seconds)

    async def run(session: Session, selectors: Sequence[str], then: Revision | None = None) -> Execution:
        run = TestRun(selectors=tuple(selectors), seconds=seconds)
        if then is not None:
            without = (*then.new_code, *then.removed_paths)
            run = TestRun(
                selectors=run.selectors, files={**then.old_code, **then.files}, without=without, seconds=seconds
            )
        execution = await session.run(run)
        if execution.broken:
            raise SandboxBrokenError(execution.broken)
        return execution

    async with (
        open_session(place, settings, report_status) as (_sandbox, session),
        heartbeat(report_status) as beating,
    ):
        beating.report("running the suite")
        execution = await run(session, ())
        failing = _failing(execution, place)
        errors = collect_errors(execution)
        unreadable = [error.id.partition("::")[0] for error in errors]
        if not failing and not unreadable:
            return Regressions(commit=commit)
        then = await asyncio.to_thread(lambda: compare(repository, commit, masked=place.masked))
        named = [*unreadable, *(case.partition("::")[0] for case in failing)]
        files = [path for path in dict.fromkeys(named) if path in then.paths]
        outcomes: dict[str, str] = {}
        if files:
            beating.report(f"running what fails with the files of {revision}")
            execution = await run(session, files, then)
            if execution.killed == "timeout":
                raise CannotVerifyError(
                    f"The tests of {revision} did not end within {seconds:g} s.",
                    remedy="Allow more time: `--set suite.seconds=N`.",
                )
            outcomes = {result.id: result.outcome for result in case_results(execution)}
    found = sort_failing(failing, unreadable, outcomes, commit)
    if not found.red:
        refuse_unreadable(error for error in errors if error.id.partition("::")[0] not in then.paths)
    return found


def sort_failing(
    failing: Sequence[str], unreadable: Sequence[str], outcomes: Mapping[str, str], commit: str
) -> Regressions:
    """Sorts what fails now by its outcome at the commit; what has none there is new.

    Of files that pytest cannot read now (`unreadable`), every test counts that passed there.
    """
    lost = [case for case in outcomes if case.partition("::")[0] in unreadable]
    failing = [*dict.fromkeys((*(case for case in lost if outcomes[case] == "passed"), *failing))]
    return Regressions(
        commit=commit,
        broken=tuple(case for case in failing if outcomes.get(case) == "passed"),
        new=tuple(case for case in failing if case not in outcomes),
        old=tuple(case for case in failing if case in outcomes and outcomes[case] != "passed"),
    )


def _failing(execution: Execution, place: SandboxSpec) -> list[str]:
    """The ids that fail. Raises `CannotVerifyError` where an environment fault keeps every test from running."""
    results = case_results(execution)
    if not any(result.passed for result in results):
        failures = [result.failure for result in results if result.failure]
        failures += [error.failure for error in collect_errors(execution)]
        fault = find_environment_fault(failures, place.environment, root=place.root, network=place.network)
        if fault is not None:
            raise CannotVerifyError(fault.sentence, remedy=fault.remedy)
    return [result.id for result in results if result.outcome in {"failed", "error"}]
