"""The gate for agents: when it speaks, and with which exit code."""

from __future__ import annotations

import argparse
import io
import json

import pytest

from greenloop.cli.commands import verify as command
from greenloop.cli.main import main
from greenloop.core.errors import CannotVerifyError
from greenloop.engine.verify.report import Verification
from greenloop.plugins.agents.commands import gate
from greenloop.project.revisions.judging import JudgingChange


def answer(verify, hook, *words):
    """The exit code of `greenloop verify --gate WORDS` as a hook that a client gives this object."""
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return gate.answer(parser.parse_args(["--gate", *words]), verify, hook)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("result", "repeated", "code", "decision"),
    [
        (Verification(verified=True), False, 0, {}),
        (Verification(reason="No."), False, 2, {"decision": "block"}),
        (Verification(reason="No."), True, 1, {"systemMessage"}),
        (CannotVerifyError("No sandbox.", remedy="Install one."), False, 1, {"systemMessage"}),
    ],
    ids=["verified", "not verified", "told before", "cannot verify"],
)
def test_a_hook_decides_once_a_turn(project, capsys, result, repeated, code, decision):
    def verify(_arguments, cwd, *, quick):
        assert (cwd, quick) == (project, True)
        if isinstance(result, Exception):
            raise result
        return result

    hook = {"session_id": "s", "stop_hook_active": repeated}
    assert answer(verify, hook) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert bool(err) is (code != 0)
    assert answer(verify, hook, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert set(said) == {*decision, *(["reason"] if "decision" in decision else [])}


@pytest.mark.parametrize(
    ("text", "hook"),
    [
        ('{"stop_hook_active": true}', {"stop_hook_active": True}),
        ("", {}),
        ("[1]", {}),
        ("{", {}),
    ],
)
def test_the_clients_object_is_read(tmp_path, text, hook):
    (tmp_path / "stdin").write_text(text)
    with (tmp_path / "stdin").open() as stream:
        assert gate.read_hook(stream) == hook
    assert gate.read_hook(Terminal()) == {}


def answers(root, capsys, hook, text="greenloop verify: not verified.", **options):
    code = gate.answer_hook(hook, root, text, blocks=bool(text), as_json=True, **options)
    assert code == 0
    return json.loads(capsys.readouterr().out)


def test_a_session_gets_the_same_answer_once_where_the_client_does_not_count(project, capsys):
    copilot = {"sessionId": "s", "stopReason": "end_turn"}
    assert answers(project, capsys, copilot)["decision"] == "block"
    assert "systemMessage" in answers(project, capsys, copilot)
    assert answers(project, capsys, copilot)["decision"] == "block"
    assert answers(project, capsys, copilot, "greenloop verify: something else.")["decision"] == "block"
    assert answers(project, capsys, {"sessionId": "other"})["decision"] == "block"


def test_an_honest_stop_ends_one_turn_and_the_user_is_told_why(project, capsys):
    assert main(["stop", "--because", " "]) == 2
    capsys.readouterr()
    assert main(["stop", "--because", "test_a wants 1,\n  test_b wants 2"]) == 0
    capsys.readouterr()
    claude = {"session_id": "s", "stop_hook_active": False}
    said = answers(project, capsys, claude)["systemMessage"]
    assert said.startswith("The agent stopped, and says why: test_a wants 1, test_b wants 2\n")
    assert said.endswith("not verified.")
    assert answers(project, capsys, claude)["decision"] == "block"


def test_an_allowed_change_is_noted_for_the_next_hook_that_tells_the_user(project, capsys):
    def verify(arguments, _cwd, *, quick):
        allowed = bool(arguments.allow_test_change)
        changes = (JudgingChange(path="test_m.py", change="edits", role="a test file", allowed=allowed),)
        return Verification(verified=allowed, reason="No.", judging_changes=changes, because=arguments.because or "")

    assert answer(verify, {"session_id": "s", "stop_hook_active": False}) == 2
    assert answer(verify, {}, "--allow-test-change", "test_m.py", "--because", "the user said 2") == 0
    capsys.readouterr()
    assert answer(verify, {"session_id": "s"}, "--json") == 0
    said = json.loads(capsys.readouterr().out)["systemMessage"]
    assert said == "greenloop verify: verified, with test_m.py as changed. The reason: the user said 2"
    assert answer(verify, {"session_id": "s"}) == 2  # it held for that turn
