"""Runs the user's tests in the sandbox, and reports their outcomes and the functions that they reach.

Nothing here judges a candidate, and no model is asked.
It must not know who shows the results.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from greenloop.core.errors import CannotVerifyError, SandboxBrokenError
from greenloop.core.test_selection import fit_selectors
from greenloop.engine.sandbox_spec import build_sandbox_spec, ignore_status, open_session
from greenloop.engine.timing import heartbeat
from greenloop.localize.unreached.uncollected import explain_broken_pytest, is_pytest_broken
from greenloop.project import sandbox_selection, workspace
from greenloop.project.environment.declared_dependencies import is_third_party
from greenloop.project.environment.faults import explain_broken_sandbox, explain_start, find_environment_fault
from greenloop.project.revisions.git import Repository
from greenloop.project.revisions.revision import Revision, compare
from greenloop.project.settings import Settings
from greenloop.project.sources import read_text
from greenloop_sandbox import (
    CaseResult,
    Execution,
    SandboxPool,
    SandboxSpec,
    Session,
    TestRun,
    case_results,
    collected_cases,
)
from greenloop_sandbox.report.cases import CollectedCase, CollectError, collect_errors
from greenloop_sandbox.report.traces import ReachedFunction, reached_functions

NOT_FOUND = 4  # pytest's exit status where a selector names nothing


@dataclass(frozen=True, kw_only=True)
class SuiteReport:
    """Results of a run of tests.

    `results` are the cases that finished, `places` the location of each collected case; `errors` are the files that
    could not be collected; `left_out` are ids of cases that did not run because time ran out, or because pytest `ended`
    early.
    `reach` is empty where the run was not traced.
    `files` ran as a whole: an id in them that is not in `places` is no longer a test.
    """

    results: tuple[CaseResult, ...] = ()
    places: Mapping[str, CollectedCase] = field(default_factory=dict)
    errors: tuple[CollectError, ...] = ()
    left_out: tuple[str, ...] = ()
    ended: bool = False
    reach: Mapping[str, Sequence[ReachedFunction]] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    seconds: float = 0.0


async def run_tests(
    root: Path,
    selectors: Sequence[str] = (),
    *,
    buffers: Mapping[str, bytes] = {},
    settings: Settings,
    pool: SandboxPool | None = None,
    traced: bool = False,
    seconds: float = 0.0,
    report_status: Callable[[str], None] = ignore_status,
) -> SuiteReport:
    """Runs these tests (pytest node ids, files, folders; none: the whole suite) once in the sandbox; nothing is judged.

    `buffers` are unsaved texts by workspace path; they take precedence over the disk. `pool` keeps the sandbox open for
    the next call. With `traced` the report also has the functions that each test reaches; without, the run is faster
    where the sandbox has warmed up. `seconds` limit the run (0: the settings' limit for a suite).
    Where a test no longer exists, its whole file runs.
    Raises `CannotVerifyError` where the environment or the sandbox prevents every test from running.
    """
    place = await build_sandbox_spec(workspace.check_root(root), settings, report_status, tests=selectors)
    run = TestRun(
        selectors=fit_selectors(selectors),
        files=buffers,
        seconds=seconds or max(settings.suite.seconds, settings.sandbox.seconds),
        trace=traced,
        # Only a traced run warms up the sandbox, because the warm-up takes a second run.
        baseline=traced,
    )
    async with open_session(place, settings, report_status, pool) as (sandbox, session):
        if not selectors:
            report_status("running the suite")
        execution = await session.run(run)
        if execution.status == NOT_FOUND and not collected_cases(execution) and not collect_errors(execution):
            files = dict.fromkeys(selector.split("::", 1)[0] for selector in run.selectors)
            run = replace(run, selectors=tuple(files))
            execution = await session.run(run)
    if execution.broken:
        if fault := explain_broken_sandbox(execution.broken, place.environment):
            raise CannotVerifyError(fault.sentence, remedy=fault.remedy)
        raise await sandbox_selection.suggest_other(SandboxBrokenError(execution.broken), settings, sandbox.name)
    if problem := _explain_failure(execution, place, buffers):
        raise problem
    return _report(run, execution, settings)


async def prepare(root: Path, settings: Settings, pool: SandboxPool) -> None:
    """Prepares the sandbox for the next run, even if a cancelled one closed its session.

    Raises `CannotVerifyError` where no sandbox can be used.
    """
    place = await build_sandbox_spec(workspace.check_root(root), settings)
    async with open_session(place, settings, pool=pool) as (_sandbox, session):
        await session.warm()


def _explain_failure(
    execution: Execution, place: SandboxSpec, buffers: Mapping[str, bytes]
) -> CannotVerifyError | None:
    """Returns the error that explains an environment fault if nothing could run, else None."""
    if collected_cases(execution) and not is_pytest_broken(execution):
        return None
    failures = [error.failure for error in collect_errors(execution)]
    if failures:
        fault = find_environment_fault(
            failures,
            place.environment,
            root=place.root,
            network=place.network,
            masked=place.masked,
            read_text=lambda path: read_text(place.root, path, buffers),
        )
    else:
        fault = explain_start(execution, place.environment)
    if fault is not None:
        return CannotVerifyError(fault.sentence, remedy=fault.remedy)
    if failures or not is_pytest_broken(execution):
        return None
    return explain_broken_pytest(execution.output, place.root, f"{place.environment.executable} -m pytest")


def _report(run: TestRun, execution: Execution, settings: Settings) -> SuiteReport:
    results = case_results(execution)
    ended = [result for result in results if result.outcome != "missing"]
    if execution.killed and ended:
        # The case under way was cut short: it counts as timed out only if it alone exceeded the limit of one case.
        last, earlier_seconds = ended[-1], sum(result.seconds for result in ended[:-1])
        if execution.killed == "timeout" and execution.seconds - earlier_seconds < settings.sandbox.seconds:
            ended.remove(last)
    ended_ids = {result.id for result in ended}
    return SuiteReport(
        results=tuple(ended),
        places={case.id: case for case in collected_cases(execution)},
        errors=collect_errors(execution),
        left_out=tuple(result.id for result in results if result.id not in ended_ids),
        ended=execution.killed != "timeout",
        reach=reached_functions(execution),
        files=tuple(selector for selector in run.selectors if "::" not in selector)
        if collected_cases(execution)
        else (),
        seconds=execution.seconds,
    )


def files_that_lack_code(errors: Iterable[CollectError], root: Path) -> list[str]:
    """The test files that import what the workspace does not have yet: a candidate may write it."""
    named = ((error.id.partition("::")[0], error.missing_name) for error in errors)
    return [
        *dict.fromkeys(
            file
            for file, name in named
            if name and not file.endswith("conftest.py") and not is_third_party(name.partition(".")[0], root)
        )
    ]


def refuse_unreadable(errors: Iterable[CollectError]) -> None:
    """Raises `CannotVerifyError` for test files that pytest cannot import: nothing names their tests."""
    first_errors: dict[str, CollectError] = {}
    for error in errors:
        first_errors.setdefault(error.id.partition("::")[0], error)
    if not first_errors:
        return
    first, error = next(iter(first_errors.items()))
    failure = error.failure
    more = f" and {len(first_errors) - 1} more" if len(first_errors) > 1 else ""
    place = next((f", {frame.path}:{frame.line}" for frame in reversed(failure.frames)), "")
    reason = f"{failure.type}: {failure.message}".strip().splitlines()[0]
    raise CannotVerifyError(
        f"pytest cannot import {first}{more}, so nothing names its tests ({reason}{place}).",
        remedy="Fix that first: pytest has to be able to collect the tests.",
    )


# -- regressions ------------------------------------------------------------------------------------------------------


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
        new = [error for error in errors if error.id.partition("::")[0] not in then.paths]
        found = replace(found, new=tuple(files_that_lack_code(new, root)))
        if not found.red:
            refuse_unreadable(new)
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
