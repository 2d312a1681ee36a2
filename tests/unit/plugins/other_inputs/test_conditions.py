"""Tests that pass only after others, or only with the environment that the change sets."""

from __future__ import annotations

import pytest

from greenloop.core.records.spec import Case, Spec
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.plugins.other_inputs.conditions import find_conditions
from greenloop_sandbox import Limits
from scripted_proof import FAILED, PASSED, execution
from scripted_session import make_problem

CASES = ["test_m.py::test_a", "test_m.py::test_b"]
SETS = {"m.py": 'import os\nos.environ["PAY_TEST"] = "1"\n'}


class Session:
    """Fails the given tests in its run."""

    name = "scripted"

    def __init__(self, failing=()):
        self.failing = failing
        self.asked = []

    async def run(self, run):
        self.asked.append(run)
        return execution({case: FAILED if case in self.failing else PASSED for case in CASES})


async def conditions(session, own, new, cases=CASES):
    spec = Spec(cases=tuple(Case(id=case, path="test_m.py", line=1) for case in CASES), selectors=("test_m.py",))
    inputs = VerificationInputs(
        problem=make_problem("", "m.py", spec=spec),
        outcomes={},
        limits=Limits(),
        suite_seconds=1,
        encode=lambda texts: {path: text.encode() for path, text in texts.items()},
    )
    return await find_conditions(inputs, session, new, cases, own=own, new=new)


async def test_a_test_that_needs_those_before_it():
    session = Session(CASES[1:])
    found = await conditions(session, {"m.py": ""}, {"m.py": "X = 1\n"})
    assert found == ("`test_m.py::test_b` fails without the tests that run before it",)
    assert [run.selectors for run in session.asked] == [(CASES[1], CASES[0])]


async def test_a_test_that_needs_a_variable_of_the_change():
    session = Session(CASES[:1])
    found = await conditions(session, {"m.py": "import os\n"}, SETS)
    (sentence,) = found
    assert sentence.startswith(
        "`test_m.py::test_a` fails without the tests that run before it and what the change sets"
    )
    assert sentence.endswith("(PAY_TEST)")
    assert session.asked[0].selectors == ("test_greenloop_environment.py::test_restored", CASES[1], CASES[0])
    assert b"['PAY_TEST']" in session.asked[0].files["test_greenloop_environment.py"]


@pytest.mark.parametrize(("own", "new"), [(SETS, SETS), ({"m.py": ""}, {"m.py": 'X = "PAY_TEST"\n'})])
async def test_only_new_variables_are_restored(own, new):
    session = Session()
    assert await conditions(session, own, new) == ()
    assert session.asked[0].selectors == (CASES[1], CASES[0])


async def test_without_newly_passing_tests_nothing_runs():
    session = Session()
    assert await conditions(session, {}, SETS, ()) == ()
    assert not session.asked
