from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from executions import execute
from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.spec import Region
from greenloop.core.records.verdict import Status, Verdict
from greenloop.core.requirements import Start, Trial
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.plugins.types import requirement
from greenloop.plugins.types.problems import FILE
from greenloop_sandbox import Limits, SandboxSpec
from greenloop_sandbox.records import Environment
from scripted_session import ScriptedSession, make_problem, make_tools

OLD, NEW = "def f() -> int:\n    return 1\n", "def f() -> int:\n    return ''\n"


class Checkers:
    """A session in which a checker reports `old` of the user's own code, and `new` of the changed code."""

    name = "scripted"

    def __init__(self, old, new):
        self._errors, self.runs = {OLD: old, NEW: new}, []

    async def run(self, run):
        self.runs.append(run)
        errors = self._errors[run.files.get("m.py", OLD.encode()).decode()]
        cases = {f"{FILE}::test_list[0]": "failed" if errors else "passed", f"{FILE}::test_list[1]": "passed"}
        execution = execute(cases)
        for record in execution.records:
            if record.get("type"):
                record.update(message=json.dumps(errors), frames=[], text="")
        return execution


@pytest.fixture
def begin(tmp_path):
    """`begin(mode, installed, session)`: the requirement in a project that configures mypy and ruff, and a trial."""

    async def make(mode, session, installed=("mypy",), configuration="[tool.mypy]\n[tool.ruff]\n"):
        (tmp_path / "pyproject.toml").write_text(configuration)
        for name in installed:
            package = tmp_path / "venv/lib/python3.11/site-packages" / name
            package.mkdir(parents=True)
            (package / "__init__.py").touch()
        prefix = tmp_path / "venv"
        environment = Environment(
            executable=prefix / "bin/python",
            prefix=prefix,
            base=prefix,
            version=(3, 11),
            source="test",
            has_pytest=True,
        )
        place = SandboxSpec(root=tmp_path, environment=environment)
        region = Region(path="m.py", qualname="f", start=1, end=2)
        problem = replace(make_problem(OLD, "m.py", regions=(region,)), root=Path(tmp_path))
        inputs = VerificationInputs(
            problem=problem,
            outcomes={},
            limits=Limits(),
            suite_seconds=1.0,
            encode=lambda texts: {path: text.encode() for path, text in texts.items()},
        )
        tools = replace(make_tools(ScriptedSession(None)), place=place, options={"spec.types": mode})
        trial = Trial(inputs=inputs, files={"m.py": NEW}, changed={"m.py": NEW}, session=session, is_final=True)
        return await requirement.begin(Start(trial=trial, tools=tools)), trial

    return make


PASSED = Verdict(status=Status.PASSED)
ERROR = ["m.py", 2, "wrong [b]"]


@pytest.mark.parametrize(("mode", "cases"), [("report", 0), ("require", 1)])
async def test_a_new_error_is_named_and_binding_where_that_is_set(begin, mode, cases):
    made, trial = await begin(mode, Checkers([["m.py", 1, "old [a]"]], [["m.py", 9, "old [a]"], ERROR]))
    assert len(made.spec.cases) == cases
    ruling = await made.judge(trial, PASSED)
    assert ruling.data == {"note": "mypy reports a new error: m.py:2: wrong [b]."}
    assert [each.outcome for each in ruling.results] == ["failed"]
    assert [each.id for each in ruling.results] == [case.id for case in made.spec.cases] or mode == "report"


async def test_as_many_errors_as_before_pass(begin):
    made, trial = await begin("require", Checkers([ERROR], [ERROR]))
    ruling = await made.judge(trial, PASSED)
    assert (ruling.data, [each.outcome for each in ruling.results]) == ({}, ["passed"])


async def test_only_a_result_is_looked_at(begin):
    session = Checkers([], [ERROR])
    made, trial = await begin("require", session)
    assert (await made.judge(replace(trial, is_final=False), PASSED)).results == ()
    assert (await made.judge(trial, Verdict(status=Status.FAILED))).results == ()
    assert session.runs == []


async def test_each_configured_tool_that_is_installed_is_asked(begin):
    session = Checkers([], [])
    made, trial = await begin("report", session, installed=("mypy", "ruff"))
    await made.judge(trial, PASSED)
    texts = [run.files[FILE].decode() for run in session.runs]
    assert [next(row for row in text.split("\n") if row.startswith("CHECKER = ")) for text in texts] == [
        "CHECKER = 'mypy'",
        "CHECKER = 'mypy'",
        "CHECKER = 'ruff'",
        "CHECKER = 'ruff'",
    ]


@pytest.mark.parametrize(("mode", "configuration"), [("off", "[tool.mypy]\n"), ("report", ""), ("require", "")])
async def test_nothing_is_asked_without_need(begin, mode, configuration):
    session = Checkers([], [ERROR])
    made, _trial = await begin(mode, session, configuration=configuration)
    assert (made, session.runs) == (None, [])


async def test_a_checker_that_is_missing_ends_a_run_only_where_it_binds(begin):
    with pytest.raises(CannotVerifyError, match="configures mypy, which"):
        await begin("require", Checkers([], []), installed=())
    made, _trial = await begin("report", Checkers([], []), installed=())
    assert made is None
