"""Inputs of the baseline run, and builders of its result: a problem to solve, a fault, or a pass."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from greenloop.core.aims import Aim
from greenloop.core.classify import classify
from greenloop.core.deadline import Deadline
from greenloop.core.errors import CannotVerifyError, SandboxBrokenError
from greenloop.core.python.stubs import remark_text
from greenloop.core.reach import Reach, order_by_reach
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import DataFile, Findings, Problem
from greenloop.core.records.spec import Region, Spec, Target, TargetKind
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.run_state import Baseline
from greenloop.core.target_kinds import PreparedTarget
from greenloop.core.test_selection import find_approaches
from greenloop.core.text.diff import split_lines
from greenloop.core.verdict import judge
from greenloop.localize import regions, unwritten
from greenloop.localize.evidence import CoverageEvidence, gather_evidence
from greenloop.localize.known_tests import KnownTests
from greenloop.localize.unreached.named_by_failure import (
    find_called,
    find_in_scripts,
    find_named,
    find_plain_classes,
    find_used,
    is_about_classes,
    names_something,
)
from greenloop.project.environment.faults import Fault, explain_broken_sandbox, find_environment_fault
from greenloop.project.environment.interpreters import site_packages
from greenloop.project.settings import Settings
from greenloop.project.snapshot import Snapshot
from greenloop.project.sources import file_patterns
from greenloop.project.syntax import definitions
from greenloop.verdict.case_runs import SLOWER
from greenloop_sandbox import CaseResult, Execution, Failure, Limits, SandboxSpec, Session, TestRun, case_results
from greenloop_sandbox.report.traces import ReachedFunction

LONGEST = 2000  # characters of comments that are used as an instruction
_CLASS_NAME = re.compile(r"\b[A-Z]\w*")


@dataclass(frozen=True, kw_only=True)
class BaselineContext:
    """Inputs of a baseline run: the target, the user's texts, an open session, and a status callback.

    `comment` is a remark of the user or a reviewer on the target; `known_fault` recognises faults among the failures
    that only the caller can know. `aim`: the target passes, and is to be changed nevertheless. `when_failing` gets
    what is known as soon as a test is seen to fail; the rest of the baseline is measured meanwhile. `when_located`, for
    a capable model, gets what a report needs as soon as the other tests of the target's file have run. `fallback` is to
    be changed where the target reaches nothing. `prepared` is the plugin's part of a target of another kind, which runs
    none of the code. `known_tests` are those of earlier runs.
    """

    target: Target
    snapshot: Snapshot
    session: Session
    place: SandboxSpec
    settings: Settings
    report_status: Callable[[str], None]
    comment: str = ""
    known_fault: Callable[[Sequence[Failure]], Fault | None] | None = None
    aim: Aim | None = None
    when_failing: Callable[[Baseline], None] | None = None
    when_located: Callable[[Findings], None] | None = None
    fallback: tuple[Region, ...] = ()
    prepared: PreparedTarget | None = None
    known_tests: KnownTests | None = None
    deadline: Deadline = field(default_factory=Deadline)

    async def run(self, selectors: Sequence[str], files: Mapping[str, str], **kind: object) -> Execution:
        """Runs over the user's buffers and `files`. Raises `CannotVerifyError` when the sandbox itself breaks."""
        overlay = {**self.snapshot.buffers, **{path: self.snapshot.encoded(path, text) for path, text in files.items()}}
        run = TestRun(selectors=tuple(selectors), files=overlay, seconds=self.place.limits.seconds, baseline=True)
        execution = await self.session.run(replace(run, **kind))  # type: ignore[arg-type]
        if execution.broken:
            raise self.sandbox_error(execution.broken)
        return execution

    def sandbox_error(self, reason: str) -> CannotVerifyError:
        """Returns the error to raise when the sandbox itself failed."""
        if fault := explain_broken_sandbox(reason, self.place.environment):
            return CannotVerifyError(fault.sentence, remedy=fault.remedy)
        return SandboxBrokenError(reason)

    def later_limits(self, execution: Execution) -> Limits:
        """Returns the limits of later runs, by this one's duration with the user's own code, unless it was killed."""
        if execution.killed:
            return self.place.limits
        longest = min(SLOWER * execution.seconds, self.settings.sandbox.longest)
        return replace(self.place.limits, seconds=max(self.place.limits.seconds, longest))

    @property
    def patterns(self) -> tuple[str, ...]:
        """File patterns of pytest in this project; the target's own file always counts as a test file.

        The checks of a notebook are in a file that greenloop names, so no pattern of the project matches it.
        """
        target_file = (self.target.path,) if self.target.kind is TargetKind.TEST else ()
        return (*file_patterns(self.snapshot.root), *target_file)

    def gather_evidence(
        self,
        reach: Mapping[str, Sequence[ReachedFunction]],
        failing: Mapping[str, Failure | None],
        passing: Sequence[str],
    ) -> CoverageEvidence:
        """Makes the evidence of traced runs, with the functions that the failures name though they did not run."""
        named = self._named_regions([item.path for case in failing for item in reach.get(case, ())], failing.values())
        return gather_evidence(reach, failing, passing, self.snapshot.text, patterns=self.patterns, named=named)

    def _named_regions(self, reached: Sequence[str], failures: Collection[Failure | None]) -> Sequence[Region]:
        """The functions and classes that the failures name; failing these, those that the test names."""
        test = self.snapshot.text(self.target.path) or ""
        named = find_named(failures, self._modules_of_target(reached), test) if names_something(failures) else []
        if not named and is_about_classes(failures):
            named = find_used(failures, self._modules_of_target(reached), self.snapshot.text)
        is_reached = any(regions.may_change(path, self.patterns) for path in reached)
        if named or is_reached or self.target.kind is not TargetKind.TEST:
            return named
        texts, text_of = self._modules_of_target(reached), self.snapshot.text
        found = find_called(failures, texts, text_of) or find_in_scripts(test, self.snapshot.root, text_of)
        return [each for each in found if regions.may_change(each.path, self.patterns)]

    def used_by_test(self, failures: Collection[Failure | None]) -> tuple[Region, ...]:
        """The classes and functions that the failing tests name, where these reach and read nothing."""
        is_test = self.target.kind is TargetKind.TEST
        return tuple(find_used(failures, self._modules_of_target([]), self.snapshot.text)) if is_test else ()

    def failing_text(self, failures: Collection[Failure | None]) -> str:
        """The text of the tests that fail so."""
        text = self.snapshot.text(self.target.path) or ""
        frames = [each for failure in failures if failure for each in failure.frames]
        lines = [each.line for each in frames if each.path == self.target.path]
        around = {definitions.enclosing_definition(text, line): None for line in lines}
        return "\n".join(definitions.line_span(text, each.start, each.end) for each in around if each)

    def plain_classes(self, failures: Collection[Failure | None], known: Collection[Region]) -> tuple[Region, ...]:
        """The classes without functions that the failing tests import and name, except those of known regions."""
        owners = {name for region in known for name in region.qualname.split(".")}
        uses = "\n".join({*_CLASS_NAME.findall(self.failing_text(failures))} - owners - {*dir(builtins)})
        test = self.target.path
        texts = unwritten.modules_around(test, test, self.snapshot, self.patterns) if uses else {}
        found = find_plain_classes(uses, {path: text for path, text in texts.items() if path != test})
        return tuple(each for each in found if not any(each.overlaps(other) for other in known))

    def _modules_of_target(self, reached: Sequence[str]) -> dict[str, str]:
        """The texts, by path, of what the target reaches or imports, and of what these import; what may be changed."""
        test = self.target.path
        paths = dict.fromkeys([*reached, *unwritten.modules_around(test, test, self.snapshot, self.patterns)])
        for path in [*paths]:
            paths |= dict.fromkeys(unwritten.modules_around(path, path, self.snapshot, self.patterns))
        return {path: self.snapshot.text(path) or "" for path in paths if regions.may_change(path, self.patterns)}

    @property
    def sites(self) -> tuple[Path, ...]:
        """The folders of the packages that the tests' environment has."""
        return tuple(site_packages(self.place.environment.prefix, self.place.environment.version))

    def find_fault(self, failures: Sequence[Failure]) -> Fault | None:
        """Returns the environment fault that explains the failures, or None."""
        fault = self.known_fault(failures) if self.known_fault else None
        return fault or find_environment_fault(
            failures,
            self.place.environment,
            root=self.snapshot.root,
            network=self.place.network,
            masked=self.place.masked,
            read_text=self.snapshot.text,
        )


def build_baseline(
    context: BaselineContext,
    spec: Spec,
    target_regions: tuple[Region, ...],
    execution: Execution,
    related_outcomes: Mapping[str, str],
    stubs: Mapping[str, str],
    *,
    unmeasured: Sequence[str] = (),
    reach: Reach | None = None,
    measured: Mapping[str, CaseResult] | None = None,
    suspects: tuple[Region, ...] = (),
    data: tuple[DataFile, ...] = (),
) -> Baseline:
    """Builds the result of a baseline with a problem to solve; `reach` has what traced cases reach.

    `measured` are results of the target's cases beyond those of `execution`, where that was cut; `suspects` are other
    regions that may be at fault.
    """
    targets = {case.id: None for case in spec.cases if case.executed}
    results = {**{result.id: result for result in case_results(execution)}, **(measured or {})}
    known = {case: results[case].outcome if case in results else "missing" for case in targets}
    outcomes = {**related_outcomes, **known}
    problem = _build_problem(
        context,
        spec,
        target_regions,
        stubs,
        neighbours=tuple(case for case in related_outcomes if case not in targets),
        suspects=suspects,
        data=data,
    )
    reach = reach or Reach()
    problem = replace(problem, approaches=find_approaches(reach.functions, target_regions))
    failing = [case for case in targets if known[case] != "passed"]
    problem = with_reach(problem, reach, failing)
    verdict = judge([*targets], outcomes, execution)
    verdict = replace(verdict, cases=tuple(results.get(case.id, case) for case in verdict.cases))
    return Baseline(
        problem=problem,
        attempt=_first_attempt(verdict),
        outcomes=outcomes,
        limits=context.later_limits(execution),
        unmeasured=tuple(case for case in unmeasured if case not in targets),
    )


def without_cases(baseline: Baseline, ids: Collection[str]) -> Baseline:
    """Returns the baseline without these cases of the target."""
    if not ids or baseline.has_result:
        return baseline
    problem, verdict = baseline.problem, baseline.attempt.verdict
    kept = tuple(case for case in problem.spec.cases if case.id not in ids)
    results = tuple(case for case in verdict.cases if case.id not in ids)
    return replace(
        baseline,
        problem=replace(problem, spec=replace(problem.spec, cases=kept)),
        attempt=replace(baseline.attempt, verdict=replace(verdict, cases=results)),
    )


def with_reach(problem: Problem, reach: Reach, failing: Sequence[str]) -> Problem:
    """Returns the problem with its related tests ordered by reach, and those named that no change can affect."""
    neighbours, unaffected = order_by_reach(problem.neighbours, reach, problem.regions, failing)
    return replace(problem, neighbours=neighbours, unaffected=unaffected)


def _build_problem(
    context: BaselineContext,
    spec: Spec,
    regions_to_change: tuple[Region, ...],
    stubs: Mapping[str, str],
    neighbours: tuple[str, ...] = (),
    suspects: tuple[Region, ...] = (),
    data: tuple[DataFile, ...] = (),
) -> Problem:
    changeable = [*(region.path for region in (*regions_to_change, *suspects)), *(each.path for each in data)]
    paths = dict.fromkeys([*changeable, *stubs, context.target.path, *(case.path for case in spec.cases)])
    originals = {path: context.snapshot.text(path) for path in paths}
    files = {path: stubs.get(path, text or "") for path, text in originals.items()}
    # What a comment in the code leaves to do is no part of what a failing test is about.
    written = () if context.target.kind is TargetKind.TEST else regions_to_change
    texts = ("".join(split_lines(files[region.path])[region.start - 1 : region.end]) for region in written)
    remarks = [remark_text(text) for text in texts]
    instruction = "\n".join(text for text in (context.comment.strip(), *remarks) if text)
    return Problem(
        root=context.snapshot.root,
        spec=spec,
        instruction=f"A comment asks: {instruction[:LONGEST]}" if instruction else "",
        regions=regions_to_change,
        originals=originals,
        files=files,
        buffers=context.snapshot.buffers,
        neighbours=neighbours,
        suspects=suspects,
        sites=context.sites,
        data=data,
        why_refused=context.prepared.why_refused if context.prepared else None,
    )


def _first_attempt(verdict: Verdict) -> Attempt:
    error_class, group = classify(verdict)
    return Attempt(number=0, verdict=verdict, error_class=error_class, group=group)


def passing_baseline(
    context: BaselineContext,
    spec: Spec,
    execution: Execution,
    outcomes: Mapping[str, str],
    measured: Mapping[str, CaseResult] | None = None,
) -> Baseline:
    """Builds the result where nothing fails; `measured` are all results, where no single run has them."""
    verdict = judge([case.id for case in spec.cases if case.executed], outcomes, execution)
    if measured and execution.killed:
        cases = tuple(measured[case.id] for case in spec.cases if case.executed)
        verdict = Verdict(status=Status.PASSED, cases=cases, seconds=execution.seconds)
    return Baseline(
        problem=_build_problem(context, spec, (), {}), attempt=_first_attempt(verdict), outcomes=outcomes, passing=True
    )


def fault_baseline(
    context: BaselineContext, execution: Execution, sentence: str, remedy: str, spec: Spec | None = None
) -> Baseline:
    spec = spec or Spec(cases=(), selectors=(context.target.selector,))
    verdict = Verdict(
        status=Status.ENVIRONMENT, cases=tuple(case_results(execution)), reason=sentence, seconds=execution.seconds
    )
    return Baseline(
        problem=_build_problem(context, spec, (), {}),
        attempt=_first_attempt(verdict),
        outcomes={},
        fault=sentence,
        remedy=remedy,
    )
