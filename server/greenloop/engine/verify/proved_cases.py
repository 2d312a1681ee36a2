"""Chooses the cases whose passes are proven apart.

All new passes are. Of the tests that passed before, only those can be affected that import a changed module; they are
proven too, the quickest first, until the proof would take longer than one run of all tests. Where every test has to be
judged apart, there is no such limit. It must not know how a pass is proven.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from greenloop.core.records.spec import Provenance, Spec
from greenloop.engine.verify.setup import APART, VerificationContext
from greenloop.project import workspace
from greenloop_sandbox import Execution, case_results

LEAST = 10.0  # seconds that the proof of passes that are not new may always take
TIMES = 3  # how often a case runs for its proof, at least


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
    for case in sorted(own, key=lambda each: seconds.get(each.id, 0.0)):
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
