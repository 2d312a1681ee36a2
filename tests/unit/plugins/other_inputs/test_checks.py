"""When other inputs are tried; tests/sandbox/test_other_inputs.py has what comes of it."""

from __future__ import annotations

import pytest

from greenloop.core.records.verdict import Status, Verdict
from greenloop.plugins.other_inputs.checks import LONGEST_TESTS, look
from greenloop.verdict.beyond_tests.checks import Findings, Pass
from greenloop_sandbox import Execution
from scripted_session import CASES, NEW, OLD, ScriptedSession, make_inputs


async def asked(outcomes, *, seconds=0.1, own=OLD, files=NEW, after=None):
    """The selectors of the run that records calls, without those of the generated file; None: nothing ran."""
    session = ScriptedSession(Execution())
    verdict = Verdict(status=Status.PASSED, seconds=seconds)
    new = files if after is None else after
    found = await look(
        Pass(inputs=make_inputs(outcomes), session=session, verdict=verdict, files=files, own=own, new=new)
    )
    assert found == Findings()
    recording = [run for run in session.asked if any("greenloop_inputs" in each for each in run.selectors)]
    assert len(recording) <= 1  # no calls were recorded
    return [each for each in recording[0].selectors if "greenloop" not in each] if recording else None


async def test_tests_that_newly_pass_are_watched():
    outcomes = {CASES[0].id: "passed", CASES[1].id: "failed"}
    assert await asked(outcomes) == ["test_m.py::test_b", "test_m.py::test_c"]
    assert await asked(dict.fromkeys((case.id for case in CASES), "passed")) == ["test_m.py"]


@pytest.mark.parametrize(
    "more",
    [
        {"seconds": LONGEST_TESTS + 1},
        {"own": NEW},
        {"own": {"m.py": ""}},  # a new file has no older version
        {"files": {}},
        {"after": OLD},
    ],
    ids=["slow tests", "unchanged", "a new file", "no texts", "the workspace is unchanged"],
)
async def test_where_there_is_nothing_to_compare_nothing_runs(more):
    assert await asked({}, **more) is None


async def test_the_change_may_be_in_the_workspace_itself():
    assert await asked({}, files={}, after=NEW) is not None
