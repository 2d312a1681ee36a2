"""The requirement `types`: a result brings no new error of the project's own type checker, and none of its ruff.

It is looked at once, before a result is accepted. It must not know how candidates are made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

from greenloop.core.errors import CannotVerifyError, GreenloopError
from greenloop.core.records.spec import Provenance, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.requirements import Requirement, Ruling, Start, Trial, region_case
from greenloop.plugins.types.checkers import Checker, configured_linters, find_checker
from greenloop.plugins.types.problems import FILE, TypeProblem, list_problems
from greenloop_sandbox import CaseResult, Failure

NAME, REQUIRE, OFF = "types", "require", "off"
SECONDS = 60.0  # for one run of a checker, at most
SHOWN = 3  # new errors that are named


async def begin(start: Start) -> Requirement | None:
    """Binding where `spec.types` is `require`; None where there is nothing to look at.

    Raises `CannotVerifyError` where it is binding and the checker is not installed.
    """
    problem, place, mode = start.problem, start.tools.place, start.tools.options.get(f"spec.{NAME}")
    is_target = any(case.path == FILE for case in problem.spec.cases)
    if mode == OFF or place is None or is_target or not problem.regions:
        return None
    checkers = configured_linters(problem.root, place.environment)
    try:
        checkers.insert(0, find_checker(problem.root, place.environment))
    except GreenloopError as error:
        if mode == REQUIRE and isinstance(error, CannotVerifyError):
            raise
    if not checkers:
        return None
    case = region_case(problem, problem.regions[0], NAME, Provenance.CONSTRAINT, "no new error of the project's checks")
    spec = Spec(cases=(case,)) if mode == REQUIRE else Spec()
    return Requirement(name=NAME, spec=spec, judge=partial(_judge, checkers, case.id))


async def _judge(checkers: Sequence[Checker], case: str, trial: Trial, verdict: Verdict) -> Ruling:
    """Compares what the checkers report of the user's own code and of the candidate."""
    if not trial.is_final or verdict.status is not Status.PASSED:
        return Ruling()
    try:
        new = {checker.name: problems for checker in checkers if (problems := await _new_problems(checker, trial))}
        sentences = [_describe(name, problems) for name, problems in new.items()]
    except CannotVerifyError as error:
        sentences = [str(error)]
    if not sentences:
        return Ruling(results=[CaseResult(id=case, outcome="passed")])
    note = " ".join(sentences)
    failure = Failure(type="Constraint", message=note, text=note)
    return Ruling(results=[CaseResult(id=case, outcome="failed", failure=failure)], data={"note": note})


async def _new_problems(checker: Checker, trial: Trial) -> list[TypeProblem]:
    assert trial.session is not None
    python = [path for path in trial.changed if path.endswith(".py")]
    if not python:
        return []
    old = [path for path in python if trial.problem.originals.get(path) is not None]
    list_of = partial(list_problems, trial.session, checker, seconds=min(SECONDS, trial.deadline.left))
    before = await list_of(trial.inputs.test_run({}).files, paths=old) if old else []
    after = await list_of(trial.inputs.test_run(trial.changed).files, paths=python)
    left, new = Counter(each.key for each in before), list[TypeProblem]()
    for each in after:
        left[each.key] -= 1
        new += [each] if left[each.key] < 0 else []
    return new


def _describe(name: str, problems: Sequence[TypeProblem]) -> str:
    count = f"{len(problems)} new errors" if len(problems) > 1 else "a new error"
    return f"{name} reports {count}: {'; '.join(map(str, problems[:SHOWN]))}."
