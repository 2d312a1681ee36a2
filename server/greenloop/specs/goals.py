"""What a goal adds to the specification of passing code: its case, and what is measured."""

from __future__ import annotations

from greenloop.core.errors import SettingsError
from greenloop.core.records.goal import Workload
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance
from greenloop.core.test_selection import fit_selectors
from greenloop.project.sources import import_name_in_tests
from greenloop.specs.changed_code import name_line

WORKLOAD = "test_greenloop_workload.py"
MOST_CALLS = 50
FASTER = (
    "Make it faster: another algorithm or data structure, less repeated work. Keep no results from one call to the next."
)


def time_case(problem: Problem) -> Case:
    """The case that passes when less time was measured."""
    region = problem.regions[0]
    return Case(
        id=f"{region.path}::{region.qualname}::faster",
        path=region.path,
        line=name_line(problem, region),
        provenance=Provenance.GOAL,
        confirmed=True,
        source="takes less time than now",
    )


def build_workload(problem: Problem, calls: str) -> Workload:
    """The calls of the user's file, one in each line; without any, the cases of the specification.

    Raises `SettingsError` that names the first line which is no expression.
    """
    rows = [(number, row.strip()) for number, row in enumerate(calls.splitlines(), 1)]
    rows = [(number, row) for number, row in rows if row and not row.startswith("#")]
    if not rows:
        return Workload(selectors=fit_selectors([case.id for case in problem.spec.cases if case.executed]))
    if len(rows) > MOST_CALLS:
        raise SettingsError(
            f"The file of --inputs has {len(rows)} calls; at most {MOST_CALLS} are measured.",
            remedy="Leave out those that take little time.",
        )
    for number, row in rows:
        try:
            compile(row, "<inputs>", "eval")
        except (SyntaxError, ValueError) as error:
            raise SettingsError(
                f"Line {number} of the file of --inputs is no Python expression: {row[:80]}",
                remedy="Write one call in each line, such as `f(list(range(10000)))`.",
            ) from error
    module = import_name_in_tests(problem.regions[0].path, problem.root)
    body = "\n\n\n".join(f"def test_call_{number}():\n    {row}" for number, row in rows)
    return Workload(selectors=(WORKLOAD,), files={WORKLOAD: f"from {module} import *\nimport {module}\n\n\n{body}\n"})
