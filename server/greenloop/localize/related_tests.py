"""Runs and traces the tests that a change of the target may affect, without any change.

It must not know how the regions are ranked.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from greenloop.core.reach import Reach
from greenloop.core.records.spec import Region
from greenloop.core.test_selection import fit_selectors
from greenloop.localize import assignments
from greenloop.localize.context import BaselineContext
from greenloop.localize.measuring import Measurement, is_cut_short
from greenloop.localize.ranking import rank, suspicions
from greenloop.project import sources
from greenloop.project.workspace import importing_tests
from greenloop_sandbox import Execution, Failure
from greenloop_sandbox.report.traces import ReachedFunction

MOST_MODULES = 3  # modules with the most suspicious functions, in addition to that of the most suspicious assignment
SHARE = 0.25  # of the run's time that is left: the most for all of them
EACH = 1.5  # seconds of one of them, for which the search waits
FIRST = 6.0  # seconds that the search waits for those of a failing test; others run in parallel (`engine/baseline`)


@dataclass(frozen=True, kw_only=True)
class RelatedTestsRun:
    """Run of the related tests: outcomes by id, what they reach, those without a result, and the first execution.

    None of them is a case of the target. `measurement` can go on with those that the time did not suffice for.
    `modules` are those whose importing tests were run.
    """

    outcomes: Mapping[str, str] = field(default_factory=dict)
    reached: Reach = field(default_factory=Reach)
    unmeasured: tuple[str, ...] = ()
    execution: Execution | None = None
    measurement: Measurement | None = None
    modules: tuple[str, ...] = ()

    @property
    def reach(self) -> Mapping[str, Sequence[ReachedFunction]]:
        """The functions that each traced case reached."""
        return self.reached.functions

    @property
    def left_out(self) -> int:
        """Returns how many related tests have no result."""
        return len(self.unmeasured)


async def run_related_tests(
    context: BaselineContext,
    measurement: Measurement,
    targets: Collection[str],
    failures: Mapping[str, Failure | None],
    created: Sequence[Region],
) -> RelatedTestsRun:
    """Runs and traces the tests of the target's file and of files that import a module which may be changed.

    `measurement` has what is known of the `targets`, the target's cases, of which some fail; it is continued.
    """
    context.report_status("running the related tests on the unchanged code")
    evidence = context.gather_evidence(measurement.reach.functions, failures, ())
    first = created or rank(evidence)
    read: Iterable[Region] = ()
    if not created:  # in a thread: one-token changes are tried meanwhile
        root = context.snapshot.root
        read = await asyncio.to_thread(assignments.find_read, evidence, first, suspicions(evidence), root)
    ranked = list(dict.fromkeys(region.path for region in first or context.fallback))[:MOST_MODULES]
    modules = dict.fromkeys([*ranked, *(region.path for region in list(read)[:1])])
    related = await run_importing_tests(
        context, [context.target.path], modules, measurement, targets, most=FIRST, most_each=EACH
    )
    return replace(related, modules=tuple(modules))


async def run_importing_tests(
    context: BaselineContext,
    files: Sequence[str],
    modules: Mapping[str, None],
    measurement: Measurement,
    targets: Collection[str] = (),
    *,
    most: float = math.inf,
    most_each: float = math.inf,
) -> RelatedTestsRun:
    """Runs and traces these test files and those that import one of the modules, for at most `most` seconds.

    A case that takes longer than `most_each` is left for later.
    """
    test_files = dict.fromkeys(files)
    find_imports = cache(sources.find_imports)
    for module in modules:
        found = await asyncio.to_thread(
            importing_tests,
            context.snapshot.root,
            module,
            buffers=context.snapshot.buffers,
            find_imports=find_imports,
        )
        test_files.update(dict.fromkeys(found))
    if not test_files or context.settings.suite.seconds <= 0:
        return RelatedTestsRun(reached=measurement.reach)
    measurement.is_patient, measurement.unknown = True, ()
    # A case of the target that hangs or ends the process would use up the time of the others.
    known = [measurement.results.get(case) for case in targets]
    without = targets if any(each is None or is_cut_short(each) for each in known) else ()
    seconds = min(context.settings.suite.seconds, SHARE * context.deadline.left, most)
    selectors: list[str] = [*test_files]
    slow: list[str] = []
    if (known_tests := context.known_tests) is not None and not measurement.stubs:
        known_tests.add_to(measurement.reach, measurement.results, test_files)
        selectors, slow = known_tests.choose(test_files, measurement.results, most_each)
    execution = None
    if selectors:
        chosen = fit_selectors(selectors)
        execution = await measurement.run(chosen, seconds=seconds, without=without, most_each=most_each)
    measurement.unknown += tuple(case for case in slow if case not in measurement.unknown)
    return read_related(measurement, targets, execution)


def read_related(
    measurement: Measurement, targets: Collection[str], execution: Execution | None = None
) -> RelatedTestsRun:
    """Returns what is known of the related tests by now."""
    return RelatedTestsRun(
        outcomes={case: outcome for case, outcome in measurement.outcomes.items() if case not in targets},
        reached=measurement.reach,
        unmeasured=tuple(case for case in measurement.unknown if case not in targets),
        execution=execution,
        measurement=measurement,
    )
