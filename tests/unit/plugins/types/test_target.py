from __future__ import annotations

import json
from dataclasses import replace

import pytest

from executions import execute
from greenloop.api.testing import find_others
from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.target_kinds import TargetStart, find_target_kind
from greenloop.plugins.types import target
from greenloop.plugins.types.problems import FILE
from greenloop.project.settings import Settings
from greenloop_sandbox import SandboxSpec
from greenloop_sandbox.records import Environment
from scripted_session import ScriptedSession

TEXT = "X: int = ''\n\n\ndef f() -> int:\n    return ''\n\n\nclass A:\n    def g(self) -> int:\n        return ''\n"
ERRORS = [["m.py", 1, "wrong [a]"], ["m.py", 5, "wrong [b]"], ["m.py", 10, "wrong [b]"], ["n.py", 1, "wrong [c]"]]


@pytest.fixture
def start(tmp_path):
    """`start(text, errors, message)`: the inputs of a project in which the checker reports these errors."""

    def make(text, errors=ERRORS, message=None, killed=""):
        (tmp_path / "pyproject.toml").write_text("[tool.mypy]\n")
        (tmp_path / "m.py").write_text(TEXT)
        package = tmp_path / "venv/lib/python3.11/site-packages/mypy"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        cases = {
            f"{FILE}::test_list[0]": "failed" if errors or message else "passed",
            f"{FILE}::test_list[1]": "passed",
        }
        execution = execute(cases, killed=killed)
        for record in execution.records:
            if record.get("type") == "AssertionError":
                kind = "TypeCheckerFailed" if message else "AssertionError"
                record.update(type=kind, message=message or json.dumps(errors), frames=[], text="")
        prefix = tmp_path / "venv"
        environment = Environment(
            executable=prefix / "bin/python",
            prefix=prefix,
            base=prefix,
            version=(3, 11),
            source="test",
            has_pytest=True,
        )
        return TargetStart(
            text=text,
            root=tmp_path,
            buffers={},
            text_of=lambda path: TEXT if path == "m.py" else "x = 1\n",
            session=ScriptedSession(execution),
            place=SandboxSpec(root=tmp_path, environment=environment),
            report_status=str,
            longest=30.0,
        )

    return make


@pytest.mark.parametrize(
    ("text", "places", "known"),
    [
        ("m.py:5", [("f", 4, 5)], 3),
        ("m.py:1", [("", 1, 1)], 3),
        ("m.py", [("", 1, 1), ("f", 4, 5), ("A.g", 9, 10)], 1),
        ("", [("", 1, 1), ("f", 4, 5), ("A.g", 9, 10), ("", 1, 1)], 0),
    ],
)
async def test_the_functions_around_the_errors_change_and_other_errors_may_stay(start, text, places, known):
    prepared = await target.prepare(start(text))
    assert [(each.qualname, each.start, each.end) for each in prepared.regions] == places
    assert prepared.name == f"types:{text}"
    assert prepared.text.count("wrong [") == known


@pytest.mark.parametrize(
    ("text", "options", "error", "told"),
    [
        ("m.py:3", {}, UsageError, "mypy reports no type error at m.py:3"),
        ("", {"errors": []}, UsageError, "mypy reports no type error in this project"),
        ("gone.py", {}, UsageError, "There is no gone.py in this workspace"),
        ("../x.py", {}, UsageError, r"There is no \.\./x.py in this workspace"),
        ("m.py", {"message": "mypy ended with status 2: boom"}, CannotVerifyError, "cannot be checked: mypy ended"),
        ("m.py", {"errors": [], "killed": "timeout"}, CannotVerifyError, "The types cannot be checked: "),
    ],
)
async def test_what_cannot_be_a_target(start, text, options, error, told):
    with pytest.raises(error, match=told) as raised:
        await target.prepare(start(text, **options))
    assert raised.value.remedy


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"errors": []}, ""),
        (
            {"errors": ERRORS[1:2]},
            "mypy reports a type error in m.py:5: wrong [b]. To fix it: `greenloop fix --types m.py:5`.",
        ),
        ({}, "mypy reports 4 type errors, the first in m.py:1: wrong [a]. To fix it: `greenloop fix --types m.py:1`."),
    ],
)
async def test_the_first_error_is_named_with_the_command(start, options, told):
    assert await target.describe(start("", **options)) == told


async def test_no_sandbox_is_opened_in_a_project_without_a_checker(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    settings = replace(Settings(), sandbox=replace(Settings().sandbox, kind="none"))  # which would be refused
    assert await find_others(tmp_path, settings=settings) == ""
    (tmp_path / "mypy.ini").write_text("[mypy]\n")
    assert target.is_configured(tmp_path)


@pytest.mark.parametrize("text", ["m.py:5", "tests/test_m.py::test_a", "C:\\m.py", "C:/m.py:3", "nokind:m.py", "a::b"])
def test_other_targets_are_none_of_a_kind(text):
    assert find_target_kind(text) is None
