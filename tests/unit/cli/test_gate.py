"""The gate for agents: when it speaks, and with which exit code."""

from __future__ import annotations

import io
import json

import pytest

from greenloop.cli import gate
from greenloop.cli.main import main
from greenloop.core.errors import CannotVerifyError
from greenloop.engine.verify.report import Verification


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
def test_a_hook_decides_once_a_turn(project, monkeypatch, capsys, result, repeated, code, decision):
    async def verify(request, *, settings):
        assert request.quick
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr("greenloop.cli.commands.verify.verify", verify)
    monkeypatch.setattr("greenloop.cli.gate.is_repeated", lambda: repeated)
    assert main(["verify", "--gate"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert bool(err) is (code != 0)
    assert main(["verify", "--gate", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert set(said) == {*decision, *(["reason"] if "decision" in decision else [])}


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        ('{"stop_hook_active": true}', True),
        ('{"stop_hook_active": false}', False),
        ("", False),
        ("[1]", False),
        ("{", False),
    ],
)
def test_the_clients_object_is_read(tmp_path, monkeypatch, text, repeated):
    (tmp_path / "stdin").write_text(text)
    with (tmp_path / "stdin").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert gate.is_repeated() is repeated
    monkeypatch.setattr("sys.stdin", Terminal())
    assert gate.is_repeated() is False
