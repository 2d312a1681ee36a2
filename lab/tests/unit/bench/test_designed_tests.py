"""Rates of designed tests, and the programs they are measured by."""

from __future__ import annotations

import pytest

from greenloop_lab.bench.designed_tests import (
    TaskVerdicts,
    find_target,
    format_rates,
    format_share,
    measure_rates,
    wrong_programs,
)
from greenloop_lab.bench.tasks import Task

SOLUTION = 'def top(a, b):\n    """The larger one."""\n    if a > b:\n        return a\n    return b\n'
STUB = 'def top(a, b):\n    """The larger one."""\n    raise NotImplementedError\n'


def make_task(text: str, solution: str = SOLUTION) -> Task:
    return Task(id="t", kind="k", target="t.py::test", files={"m.py": text}, cases=("t",), solution={"m.py": solution})


@pytest.mark.parametrize(
    ("right", "wrong", "tests", "true_positives", "false_positives", "sound"),
    [
        ([True, True], [[True, False], [True, True]], (2, 2), (1, 1), (1, 2), (1, 2)),
        ([True, False], [[True, False], [False, True]], (1, 2), (0, 1), (0, 2), (1, 2)),
        ([False], [[False]], (0, 1), (0, 1), (0, 1), (1, 1)),  # no right test notices anything
        ([], [[]], (0, 0), (0, 0), (0, 0), (0, 0)),  # no test was designed
    ],
)
def test_rates_of_one_task(right, wrong, tests, true_positives, false_positives, sound):
    rates = measure_rates([TaskVerdicts(right=right, wrong=wrong)])
    assert (rates.tests, rates.true_positives) == (tests, true_positives)
    assert (rates.false_positives, rates.sound) == (false_positives, sound)


def test_the_figures_have_their_intervals():
    assert format_share((0, 0)) == "-"
    assert format_share((37, 91)) == "37 of 91, 41% (31% to 51%)"
    text = format_rates(measure_rates([TaskVerdicts(right=[True, False], wrong=[[True, True]])]), 3)
    assert text.splitlines()[0] == "2 designed tests of 1 of 3 tasks; shares with 95 % intervals."
    assert "false positives: wrong programs that pass all tests of their task  1 of 1" in text


@pytest.mark.parametrize(
    ("text", "solution", "name"),
    [
        (STUB, SOLUTION, "top"),
        (SOLUTION.replace(">", "<"), SOLUTION, "top"),
        (STUB.replace('    """The larger one."""\n', ""), SOLUTION, None),  # nothing to design from
        (SOLUTION, SOLUTION, None),  # nothing is changed
    ],
)
def test_the_function_that_a_solution_changes(text, solution, name):
    found = find_target(make_task(text, solution), lambda _path: text)
    assert (found[0].qualname if found else None) == name


@pytest.mark.parametrize(("text", "own"), [(STUB, False), (SOLUTION.replace(">", "<"), True)])
def test_a_broken_text_is_a_wrong_program_and_a_stub_is_not(text, own):
    task = make_task(text)
    target = find_target(task, lambda _path: text)
    assert target is not None
    programs = [each["m.py"] for each in wrong_programs(task, *target)]
    assert (text in programs) is own
    assert STUB not in programs
    assert SOLUTION not in programs
    assert len(programs) > 2
