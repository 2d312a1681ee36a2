"""Shows that the tests which failed with a revision's own code pass because of the code that changed.

Tests that passed before say nothing new, and a whole suite run several times would take long.
It must not know who reads the result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance, Spec
from greenloop.core.records.verdict import Verdict
from greenloop.core.test_selection import fit_selectors
from greenloop.engine.verify.baseline import RevisionBaseline
from greenloop.engine.verify.setup import VerificationContext
from greenloop.project import sources
from greenloop.verdict.inputs import VerificationInputs
from greenloop.verdict.reversal import SIGHT, reverse
from greenloop.verdict.verifier import NO_PROOF


async def find_unearned(
    context: VerificationContext, before: RevisionBaseline, spec: Spec, confirmed: Collection[str]
) -> tuple[Verdict | None, Mapping[str, str]]:
    """Puts the revision's own code back under the tests that failed with it, in a fresh sandbox.

    Returns the verdict where the tests were tampered with, and the reason for each test whose pass nothing proves;
    `confirmed` are those that the tamper check covers.
    """
    fixed = tuple(
        case
        for case in spec.cases
        if case.provenance is Provenance.USER and before.outcomes.get(case.id) in ("failed", "error", "missing", None)
    )
    if not fixed:
        return None, {}
    context.report_status("running those that failed with the code of the revision put back")
    own_texts = {path: sources.decode(data) for path, data in context.revision.old_code.items() if path.endswith(".py")}
    tests = context.texts(case.path for case in fixed)
    part = replace(spec, cases=fixed, selectors=fit_selectors([case.id for case in fixed]))
    inputs = VerificationInputs(
        problem=Problem(root=context.place.root, spec=part, regions=(), originals=own_texts, files=tests),
        outcomes=before.outcomes,
        limits=replace(context.place.limits, seconds=context.seconds),
        suite_seconds=0.0,
        encode=lambda texts: {path: context.snapshot.encoded(path, text) for path, text in texts.items()},
    )
    session = await context.open()
    try:
        failure, reversed_cases = await reverse(inputs, session, {}, own_texts, tests, {}, excused=SIGHT)
    finally:
        await session.close()
    if failure is not None:
        return failure, {}
    return None, {
        case.id: reversed_cases.suspicious.get(case.id) or reversed_cases.unproven.get(case.id, NO_PROOF)
        for case in fixed
        if case.id not in reversed_cases.proven and (case.id not in confirmed or case.id in reversed_cases.suspicious)
    }
