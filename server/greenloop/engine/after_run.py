"""Verifies what a finished run left: its result over other texts, and how much its tests notice.

It must not know how candidates were made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from greenloop.core.compose import compose
from greenloop.core.errors import UsageError
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.outcome import Noticed, Outcome
from greenloop.core.records.problem import Problem
from greenloop.core.records.verdict import Verdict
from greenloop.core.run_state import RunState
from greenloop.core.test_selection import fit_selectors
from greenloop.core.text.encoding import decode_or_none
from greenloop.core.verification_inputs import check_sandbox
from greenloop.engine.sandbox_spec import choose_sandbox, ignore_status
from greenloop.project.settings import Settings
from greenloop.project.settings import values as setting_values
from greenloop.project.snapshot import Snapshot
from greenloop.project.sources import is_test_file
from greenloop.verdict.beyond_tests import mutation_testing
from greenloop.verdict.beyond_tests.changed_parts import find_changed_parts
from greenloop.verdict.beyond_tests.checks import BeyondTests
from greenloop.verdict.verifier import Verifier
from greenloop_sandbox import Execution, Sandbox, SandboxSpec, TestRun, case_results


async def reverify(problem: Problem, files: Mapping[str, bytes], *, settings: Settings) -> Verdict:
    """Runs the acceptance again over other texts (the result merged with what the user typed meanwhile).

    Runs the related tests over the user's own code again first, since that code may have changed.
    """
    sandbox, place = await choose_sandbox(problem.root, settings, tests=problem.spec.selectors)
    results = case_results(await run_own_code(problem, problem.buffers, sandbox, place, settings.suite.seconds))
    outcomes = {result.id: result.outcome for result in results if result.outcome != "missing"}
    outcomes = {case: outcome for case, outcome in outcomes.items() if case in problem.neighbours}
    texts = {path: text for path in files if (text := decode_or_none(files[path])) is not None}
    kept = {path: text for path, text in problem.files.items() if path not in files}
    # What was typed meanwhile may concern any test.
    merged = replace(problem, buffers={**problem.buffers, **files}, files={**kept, **texts}, unaffected=())
    measured = replace(merged, neighbours=tuple(case for case in problem.neighbours if case in outcomes))
    # A test that the user has edited meanwhile is no part of the change.
    tests = {case.path for case in problem.spec.cases} - {region.path for region in problem.regions}
    code = {path: text for path, text in texts.items() if path not in tests and not is_test_file(path)}
    # Without the result: at the start of the run where it knows that, else on the disk.
    disk = Snapshot(root=problem.root, buffers=problem.buffers)
    own = {path: problem.originals[path] if path in problem.originals else disk.text(path) for path in code}
    verifier = past_run_verifier(
        measured,
        outcomes,
        sandbox=sandbox,
        place=place,
        settings=settings,
        own_texts=own,
        unmeasured=tuple(case for case in problem.neighbours if case not in outcomes),
    )
    return await verifier.accept({path: text for path, text in code.items() if text != own[path]})


async def run_own_code(
    problem: Problem, files: Mapping[str, bytes], sandbox: Sandbox, place: SandboxSpec, seconds: float
) -> Execution:
    """Runs target and related tests over the user's own code, from which the back end learns how to be fast."""
    # Related tests first: a target that hangs takes nothing of their time.
    cases = (*problem.neighbours, *(case.id for case in problem.spec.cases if case.executed))
    generated = {path: text.encode() for path, text in problem.spec.files.items()}
    run = TestRun(selectors=fit_selectors(cases), files={**files, **generated}, seconds=seconds, baseline=True)
    session = await sandbox.open(place)
    try:
        execution = await session.run(run)
        await session.warm()  # waits until it has learnt
    finally:
        await session.close()
    return execution


def past_run_verifier(
    problem: Problem,
    outcomes: Mapping[str, str],
    *,
    sandbox: Sandbox,
    place: SandboxSpec,
    settings: Settings,
    seconds: float = 0.0,
    own_texts: Mapping[str, str | None] | None = None,
    unmeasured: tuple[str, ...] = (),
    attempts: Sequence[Attempt] = (),
) -> Verifier:
    """Builds a verifier for the problem of a finished run, whose test durations are no longer known.

    `seconds` of wall time limit each run of the tests (0: the longest limit of the settings). `own_texts` are those
    without the result, where the user's own code can still be run; `unmeasured` and `attempts` as in the run's state.
    """
    snapshot = Snapshot(root=problem.root, buffers=problem.buffers)
    longest = seconds or max(settings.sandbox.seconds, settings.sandbox.longest)
    return Verifier(
        state=RunState(
            problem=problem,
            outcomes=outcomes,
            limits=replace(place.limits, seconds=longest),
            unmeasured=unmeasured,
            attempts=[*attempts],
        ),
        own_texts=own_texts,
        own_code=None if own_texts is None else lambda: problem.buffers,
        open_session=lambda: sandbox.open(place),
        encode=lambda texts: {path: snapshot.encoded(path, text) for path, text in texts.items()},
        suite_seconds=seconds or settings.suite.seconds,
        network=place.network,
        beyond=BeyondTests(options=setting_values(settings)),
    )


async def measure_strength(
    problem: Problem,
    outcome: Outcome,
    *,
    settings: Settings,
    report_status: Callable[[str], None] = ignore_status,
    seconds: float = mutation_testing.TOTAL_SECONDS,
) -> Noticed:
    """Measures which one-token changes of a result its tests do not notice; `problem` is the run's final one.

    Spends at most `seconds` on the changes.
    Raises `UsageError` where the outcome has no result, `CannotVerifyError` where no sandbox can be used.
    """
    candidate = outcome.attempts[outcome.best].candidate if outcome.best is not None else None
    if candidate is None or not outcome.solved:
        raise UsageError("There is no solved result to measure the tests on.", remedy="Run it first.")
    sandbox, place = await choose_sandbox(problem.root, settings, report_status, problem.spec.selectors)
    verifier = past_run_verifier(problem, {}, sandbox=sandbox, place=place, settings=settings)
    texts = compose(problem, candidate)
    inputs, related = verifier.inputs, fit_selectors(problem.neighbours)
    run = inputs.test_run(texts)
    run = replace(
        run,
        selectors=tuple(dict.fromkeys((*run.selectors, *related))),
        seconds=inputs.limits.seconds + (inputs.suite_seconds if related else 0.0),
    )
    session = await sandbox.open(place)
    try:
        # A back end warms up only with the user's own code, and is many times faster afterwards.
        own = {**problem.buffers, **inputs.generated_files}
        check_sandbox(await session.run(replace(run, files=own, baseline=True)))
        parts = find_changed_parts(problem.files, texts)
        return await mutation_testing.measure(
            inputs, session, run, texts, parts, seconds=seconds, report_status=report_status
        )
    finally:
        await session.close()
