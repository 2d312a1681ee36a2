"""Verifies the working tree's code with a revision's tests and configuration.

First the tests run over the revision's own code, which shows which exist and which pass; then they judge the working
tree's code, and passing tests must pass again in a fresh sandbox, with the code apart.
It must not know who wrote the code or who reads the result.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from greenloop.core.errors import BaselineChangedError, UsageError
from greenloop.core.records.outcome import Evidence
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import RunState
from greenloop.core.test_selection import find_tests, fit_selectors, function_of
from greenloop.core.verification_inputs import ACCEPTING, judge_candidate
from greenloop.engine.sandbox_spec import choose_sandbox, ignore_status
from greenloop.engine.timing import heartbeat
from greenloop.engine.verify.baseline import RevisionBaseline, run_revision
from greenloop.engine.verify.known_failing import read_known_failing
from greenloop.engine.verify.new_tests import run_new_tests
from greenloop.engine.verify.report import (
    NewTests,
    Verification,
    build_verification,
    failed_before,
    failed_cases,
    failure_reason,
)
from greenloop.engine.verify.setup import APART, VerificationContext, VerifyRequest, ignore_left
from greenloop.localize.known_tests import read_known_tests
from greenloop.project import hidden, sources, workspace
from greenloop.project.environment import interpreters
from greenloop.project.revisions.git import Repository
from greenloop.project.revisions.revision import Revision, compare
from greenloop.project.revisions.staged import compare_staged, is_anything_staged
from greenloop.project.settings import Settings
from greenloop.project.settings import values as setting_values
from greenloop.project.targets import nearest_names
from greenloop.verdict.beyond_tests.checks import BeyondTests
from greenloop.verdict.verifier import Verifier
from greenloop_sandbox import Execution, TestRun, case_results, collected_cases
from greenloop_sandbox.report.cases import collect_errors

PROSE = (".md", ".rst")  # a test that reads such a file names it, and then the file judges
LEAST = 10.0  # seconds that the proof of passes that are not new may always take
TIMES = 3  # how often a case runs for its proof, at least


async def verify(
    request: VerifyRequest,
    *,
    settings: Settings,
    report_status: Callable[[str], None] = ignore_status,
    report_left: Callable[[float], None] = ignore_left,
) -> Verification:
    """Runs the verification. `report_status` gets one-line descriptions of the current step, again where it takes long.

    `report_left` gets the seconds that the rest will take, as soon as that can be known.

    Raises `UsageError` for a revision or target that does not exist and `CannotVerifyError` where verification is
    impossible: no repository, no sandbox, a revision whose tests cannot run, files that change meanwhile.
    """
    began = time.monotonic()
    if bool(request.allow) != bool(request.because.strip()):
        raise UsageError(
            "A change of tests is allowed only with a reason, and a reason only with a change.",
            remedy="Give both: `--allow-test-change PATH --because TEXT`.",
        )
    root = workspace.check_root(request.root)
    masked = await asyncio.to_thread(hidden.masked_patterns, settings, root)
    report_status(f"reading {request.revision}")
    repository = await asyncio.to_thread(Repository.find, root)
    commit = await asyncio.to_thread(repository.commit, request.revision)

    if request.staged and not await asyncio.to_thread(is_anything_staged, repository, commit):
        return Verification(
            reason="Nothing is staged, so there is nothing to verify.", base=commit, nothing_staged=True
        )

    def is_installed(name: str, data: bytes) -> bool:
        return interpreters.has_other_module(interpreters.find_environment(root, settings), name, data)

    def differences() -> Revision:
        return (compare_staged if request.staged else compare)(
            repository, commit, masked=masked, keep=request.keep, allow=request.allow, installed=is_installed
        )

    revision = await asyncio.to_thread(differences)
    _check_targets(request, revision)
    if request.quick and not request.targets and is_unaffected(revision):
        reason = f"Nothing that tests could notice differs from {request.revision}."
        return Verification(reason=reason, base=commit, revision=request.revision, nothing_staged=True)
    known = await asyncio.to_thread(read_known_failing, request.known_failing, revision, root, request.revision)
    sandbox, place = await choose_sandbox(root, settings, report_status, request.targets or (request.folder,))
    async with heartbeat(report_status) as beating:
        context = VerificationContext(
            request=request,
            revision=revision,
            sandbox=sandbox,
            place=place,
            settings=settings,
            seconds=request.seconds or max(settings.suite.seconds, settings.sandbox.seconds),
            report_status=beating.report,
            known=known,
            report_left=report_left,
        )
        result = await run_verification(context)
    if (await asyncio.to_thread(differences)).state != revision.state:
        raise BaselineChangedError(
            "Files in the workspace changed during the verification.", remedy="Start the run again."
        )
    return replace(result, seconds=round(time.monotonic() - began, 3))


def is_unaffected(revision: Revision) -> bool:
    """Does nothing differ but prose, so that no test can notice it?"""
    judges = (*revision.changed, *revision.removed, *revision.added, *revision.judging_changes)
    return not judges and all(path.endswith(PROSE) for path in (*revision.old_code, *revision.new_code))


def _check_targets(request: VerifyRequest, revision: Revision) -> None:
    """Raises `UsageError` for a target that the revision lacks: tests of the working tree alone are not trusted."""
    for target in request.targets:
        path = target.partition("::")[0].rstrip("/")
        names = revision.paths | revision.trusted
        if path in names or path in {"", "."} or any(name.startswith(f"{path}/") for name in names):
            continue
        if path in revision.added or path in revision.new_code:
            raise UsageError(
                f"{path} is not in {request.revision}, so nothing says that its tests are right.",
                remedy=f"Let it judge: `--allow-test-change {path} --because TEXT`. Without a target it runs as a new "
                "test.",
            )
        similar = nearest_names(path, sorted(revision.trusted))
        raise UsageError(
            f"There is no {path} in {request.revision}.",
            remedy=f"Did you mean: {', '.join(similar)}" if similar else "Name a test, a test file or a folder of it.",
        )


async def run_verification(context: VerificationContext) -> Verification:
    """Runs the tests of the context's revision over both codes, and all proofs over what passes.

    Raises `CannotVerifyError` where they cannot run, `UsageError` when a target does not exist.
    """
    session = await context.open()
    try:
        return await _run_in(replace(context, session=session))
    finally:
        await session.close()


async def _run_in(context: VerificationContext) -> Verification:
    began = time.monotonic()
    before = await run_revision(context)
    seconds = time.monotonic() - began
    context.report_status(f"running them over {context.request.code}")
    context.report_left(2 * seconds + max(LEAST, seconds))
    execution = await context.run(TestRun(selectors=context.request.targets))
    spec = _required_cases(context, before, execution)
    first_results = case_results(execution)
    still_broken = tuple(path for path in before.broken if path in {error.id for error in collect_errors(execution)})
    if still_broken and spec.cases:
        # A file that cannot be imported spoils pytest's exit status for all other files.
        spec = replace(spec, selectors=fit_selectors([case.id for case in spec.cases]))
        execution = await context.run(TestRun(selectors=spec.selectors))
    verdict, evidence = await _prove(context, before, spec, execution)
    flaky: tuple[str, ...] = ()
    if verdict.status is Status.FAILED and not context.request.targets:
        flaky = await _find_flaky(context, before, failed_cases(verdict, before.outcomes))
        if flaky:
            spec = replace(spec, cases=tuple(case for case in spec.cases if case.id not in flaky))
            verdict, evidence = await _prove(context, before, spec, execution)
    new = NewTests()
    if verdict.status is Status.PASSED and not context.request.targets:
        new = await run_new_tests(context, run_verification)
    result = build_verification(
        context,
        before,
        spec,
        verdict,
        first_results,
        evidence=evidence,
        new=new,
        flaky=flaky,
        still_broken=still_broken,
    )
    reason = failure_reason(verdict, result, context.revision, spec, targets=bool(context.request.targets))
    return replace(result, verified=not reason, reason=reason)


async def _prove(
    context: VerificationContext, before: RevisionBaseline, spec: Spec, execution: Execution
) -> tuple[Verdict, Evidence | None]:
    """Returns the verdict of the first run or, if that passed, of the acceptance; and the evidence of a pass."""
    verdict = judge_candidate([case.id for case in spec.cases], before.outcomes, execution)
    return await _accept(context, before, spec, execution) if verdict.status is Status.PASSED else (verdict, None)


async def _find_flaky(
    context: VerificationContext, before: RevisionBaseline, failing: Sequence[str]
) -> tuple[str, ...]:
    """Returns the failed cases that do not always pass with the commit's own code either, so prove nothing."""
    passed = [case for case in failing if before.outcomes.get(case) == "passed"]
    if not passed:
        return ()
    context.report_status(f"running what fails over the code of {context.request.revision} once more")
    revision = context.revision
    execution = await context.run(
        TestRun(
            selectors=fit_selectors(passed),
            files=revision.old_code,
            without=revision.new_code,
            hash_seed=ACCEPTING,
        )
    )
    outcomes = {result.id: result.outcome for result in case_results(execution)}
    return tuple(case for case in passed if outcomes.get(case) in {"failed", "error"})


def _required_cases(context: VerificationContext, before: RevisionBaseline, execution: Execution) -> Spec:
    """Returns the cases that must pass: all of the targets, else those that passed before or pass only now.

    Of the targets, what is known to fail and does so now and before need not pass. A test that failed and is skipped
    now has to pass as well: its skip is the work of the code.
    """
    test_first = _test_first_cases(context, before, execution)
    cases = {**before.cases, **test_first}
    now = {result.id: result for result in case_results(execution)}
    passes_now = {case for case, result in now.items() if result.passed}
    if context.request.targets:
        required = {case for case in cases if before.outcomes.get(case) not in {"xfailed", "xpassed"}}
        required -= {
            case
            for case in required - passes_now
            if context.known.covers(case) and failed_before(case, cases[case].path, before)
        }
    else:
        escaped = {
            case
            for case in before.cases
            if failed_before(case, before.cases[case].path, before) and case in now and now[case].outcome == "skipped"
        }
        required = {case for case in cases if before.outcomes.get(case) == "passed"} | (passes_now & {*cases}) | escaped
    return Spec(cases=tuple(case for case in cases.values() if case.id in required), selectors=context.request.targets)


def _test_first_cases(
    context: VerificationContext, before: RevisionBaseline, execution: Execution
) -> Mapping[str, Case]:
    """Returns cases of test files that could not be imported with the revision's own code (test first).

    A file counts only if every test in its source was collected, because no earlier collection lists its tests.
    """
    collected: dict[str, dict[str, Case]] = {}
    for item in collected_cases(execution):
        if item.path in before.broken and item.id not in before.cases:
            collected.setdefault(item.path, {})[item.id] = Case(id=item.id, path=item.path, line=item.line)
    test_first: dict[str, Case] = {}
    for path, text in context.texts(collected).items():
        if find_tests(text) <= {function_of(case) for case in collected[path]}:
            test_first.update(collected[path])
    return test_first


async def _accept(
    context: VerificationContext, before: RevisionBaseline, spec: Spec, execution: Execution
) -> tuple[Verdict, Evidence | None]:
    """Runs all proofs in a fresh sandbox with another hash seed; returns the verdict, and the evidence of a pass."""
    context.report_status("running them again in a fresh sandbox, and again with the code apart")
    context.report_left(execution.seconds + max(LEAST, execution.seconds))
    revision = context.revision
    tests = context.texts(case.path for case in spec.cases if case.path in revision.trusted)
    old = {path: sources.decode(data) for path, data in revision.old_code.items() if path.endswith(".py")}
    own = {**dict.fromkeys(revision.new_code), **old}
    problem = Problem(root=context.place.root, spec=spec, regions=(), originals={}, files=tests)
    limits = replace(context.place.limits, seconds=context.seconds)
    verifier = Verifier(
        state=RunState(problem=problem, outcomes=before.outcomes, limits=limits),
        open_session=context.open,
        encode=lambda texts: {path: context.snapshot.encoded(path, text) for path, text in texts.items()},
        suite_seconds=0.0,
        own_texts=own,
        proved=await asyncio.to_thread(choose_cases, context, before.outcomes, spec, execution),
        beyond=BeyondTests(
            options=setting_values(context.settings), after={**context.texts(own), **context.new_data()}
        ),
    )
    verdict = await verifier.accept(context.texts(path for path in own if path.endswith(".py")))
    return verdict, verifier.state.evidence if verdict.status is Status.PASSED else None


def choose_cases(
    context: VerificationContext, outcomes: Mapping[str, str], spec: Spec, execution: Execution
) -> frozenset[str]:
    """Returns the ids of the cases to prove.

    `outcomes` are those with the revision's own code; `execution` is a run of all cases. Blocking.
    """
    own = [case for case in spec.cases if case.provenance is Provenance.USER]
    chosen = {case.id for case in own if outcomes.get(case.id) != "passed"}
    importing = _importing_files(context, {case.path for case in own})
    seconds = {result.id: result.seconds for result in case_results(execution)}
    left = max(LEAST, execution.seconds) / TIMES
    changed = {*context.revision.old_code, *context.revision.new_code}
    # Traces of earlier runs, with the revision's own code: tests that did not execute the changed files come last.
    known = read_known_tests(context.place, {**context.revision.files, **context.revision.old_code})
    traces = known.traces.items() if known else ()
    executed = {case: {each[0] for each in (*trace["functions"], *trace["also"])} for case, trace in traces}
    for case in sorted(
        own, key=lambda each: (changed.isdisjoint(executed.get(each.id, changed)), seconds.get(each.id, 0.0))
    ):
        if case.id in chosen or case.path not in importing:
            continue
        left -= seconds.get(case.id, 0.0)
        if left < 0 and context.request.require != APART:
            break
        chosen.add(case.id)
    return frozenset(chosen)


def _importing_files(context: VerificationContext, paths: Collection[str]) -> set[str]:
    """Those of the test files that import a module that the change edits or adds."""
    revision = context.revision
    changed = [path for path in (*revision.old_code, *revision.new_code) if path.endswith(".py")]
    root, patterns = context.place.root, tuple(paths)
    return {
        test
        for path in changed
        for test in workspace.importing_tests(root, path, patterns, buffers=revision.files)
        if test in paths
    }
