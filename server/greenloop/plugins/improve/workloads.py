"""Adds a goal to the specification of passing code: its case, and the workload to measure."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files

from greenloop.core.errors import SettingsError
from greenloop.core.generated_tests import generated_path
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Spec
from greenloop.core.requirements import region_case
from greenloop.core.test_selection import fit_selectors
from greenloop.plugins.improve.aims import Goal
from greenloop.plugins.improve.records import Workload
from greenloop.project.sources import import_name_in_tests

MOST_CALLS = 50
_RESULTS = "RESULTS ="
_RESULT = re.compile(r"result ([0-9a-f]{32})")
# Afterwards, as a fixture, so that comparing is no part of what is measured.
_COMPARES = '''import hashlib

import pytest


@pytest.fixture
def result_of_call(request, capsys):
    results = []

    def take(value):
        results.append(list(itertools.islice(value, MOST_ITEMS)) if hasattr(value, "__next__") else value)

    yield take
    text = repr((describe(results), tuple(capsys.readouterr())))
    result = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()
    expected = "" if RESULTS is None else RESULTS.get(request.node.nodeid, result)
    assert expected == result, f"it does something else than before (result {result})"'''
DOCTEST = "doctest:"  # begins the selector of a docstring
INSTRUCTIONS = {
    Goal.TIME: "Make it faster: another algorithm or data structure, less repeated work. Keep no results from one call "
    "to the next.",
    Goal.MEMORY: "Make it need less memory: build nothing that is not needed, and keep nothing from one call to the "
    "next.",
}
LESS_MEMORY_TOO = "Memory counts, too: build nothing that is not needed."


def goal_case(problem: Problem, name: str, source: str) -> Case:
    """A case that is judged by measuring or comparing; `source` says what has to hold."""
    return region_case(problem, problem.regions[0], name, Provenance.GOAL, source)


def gain_case(problem: Problem, goal: Goal) -> Case:
    """The case that passes when less time, or memory, was measured."""
    if goal is Goal.MEMORY:
        return goal_case(problem, "smaller", "takes less memory than now")
    return goal_case(problem, "faster", "takes less time than now")


def same_case(problem: Problem) -> Case:
    """The case that passes when the new code did the same as the old on every compared input."""
    return goal_case(problem, "same", "does the same on other inputs")


def read_calls(text: str, qualname: str) -> list[str]:
    """Returns the calls of the user's file, one in each line.

    Raises `SettingsError` that names the first line that is not an expression, or does not name the function.
    """
    # What the call of a function has in it: its name, or its class's for what `__call__` and others do.
    *owners, name = qualname.split(".")[-2:]
    name = owners[0] if owners and name.startswith("__") else name
    rows = [(number, row.strip()) for number, row in enumerate(text.splitlines(), 1)]
    rows = [(number, row) for number, row in rows if row and not row.startswith("#")]
    if len(rows) > MOST_CALLS:
        raise SettingsError(
            f"The file of --inputs has {len(rows)} calls; at most {MOST_CALLS} are measured.",
            remedy="Leave out those that take little time.",
        )
    for number, row in rows:
        try:
            node = ast.parse(row, "<inputs>", "eval")
        except (SyntaxError, ValueError) as error:
            raise SettingsError(
                f"Line {number} of the --inputs file is not a Python expression: {row[:80]}",
                remedy=f"Write one call in each line, such as `{name}(list(range(10000)))`.",
            ) from error
        if name not in {getattr(each, "id", getattr(each, "attr", None)) for each in ast.walk(node)}:
            raise SettingsError(
                f"Line {number} of the file of --inputs does not call {qualname}: {row[:80]}",
                remedy="Name it in each line; lines that begin with # are left out.",
            )
    if text.strip() and not rows:
        raise SettingsError("The file of --inputs has no calls.", remedy="Write one call in each line.")
    return [row for _number, row in rows]


def build_workload(problem: Problem, calls: Sequence[str]) -> Workload:
    """The calls to measure; without any, the cases of the specification."""
    if not calls:
        return Workload(selectors=case_selectors(problem.spec))
    region = problem.regions[0]
    path, module = generated_path(region, "workload"), import_name_in_tests(region.path, problem.root)
    tests = [
        f"def test_workload_{number}(result_of_call):\n    from {module} import {region.qualname.partition('.')[0]}\n\n"
        f"    result_of_call({call})"
        for number, call in enumerate(calls, 1)
    ]
    parts = [runtime_text("same_results.py"), f"{_RESULTS} None", _COMPARES, *tests]
    return Workload(selectors=(path,), calls=tuple(calls), files={path: "\n\n\n".join(parts) + "\n"})


def with_results(workload: Workload, said: Mapping[str, str]) -> Workload:
    """The workload whose calls have to give what they gave before: `said`, by case, is how the test then failed."""
    found = {case: _RESULT.search(text) for case, text in said.items()}
    results = {case: match[1] for case, match in found.items() if match}
    texts = {
        path: text.replace(f"{_RESULTS} None", f"{_RESULTS} {results!r}", 1) for path, text in workload.files.items()
    }
    return replace(workload, files=texts)


def runtime_text(name: str) -> str:
    """The text of a module that runs in the sandbox, without its imports from another one that is above it there."""
    text = files("greenloop.plugins.function_calls").joinpath(name).read_text(encoding="utf-8")
    return text.partition("\n)\n")[2].strip() if "from greenloop." in text else text.strip()


def case_selectors(spec: Spec) -> tuple[str, ...]:
    """Selectors of the cases that run in the sandbox; examples by their docstring, as their ids select nothing."""
    ids = [case.id for case in spec.cases if case.executed and case.provenance is not Provenance.DOCTEST]
    return (*fit_selectors(ids), *(each for each in spec.selectors if each.startswith(DOCTEST)))


def failed_call(workload: Workload, case: str) -> str:
    """The user's call that a case of the workload makes; of other cases, their name."""
    number = case.rpartition("_")[2]
    return workload.calls[int(number) - 1] if workload.calls and number.isdecimal() else case
