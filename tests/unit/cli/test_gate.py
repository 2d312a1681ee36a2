"""The gate for agents: what it says, how long, and with which exit code."""

from __future__ import annotations

import io
import json

import pytest

from greenloop.cli import gate
from greenloop.cli.main import main
from greenloop.core.errors import CannotVerifyError
from greenloop.engine.verify.report import Tampering, Verification
from greenloop.project.revisions.judging import JudgingChange
from greenloop_sandbox import CaseResult, Failure, Frame

FRAME = Frame(path="shop/cart.py", line=12, function="total")
FAILURE = Failure(type="AssertionError", message="assert 3 == 4", frames=(FRAME,))
CASES = tuple(
    CaseResult(id=f"tests/test_{n}.py::test_{'x' * 80}", outcome="failed", failure=FAILURE) for n in range(40)
)
IDS = tuple(case.id for case in CASES)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"reason": "1 test that must pass does not.", "cases": CASES[:1], "failed": IDS[:1]},
            [
                "1 test that must pass",
                f"failed: {IDS[0]}: AssertionError: assert 3 == 4, shop/cart.py:12",
                "Next: Correct",
            ],
        ),
        (
            {"reason": "It exits.", "tampered": (Tampering(case=IDS[0], reason="It exits."),)},
            ["It exits.", f"tampered with: {IDS[0]}", "Next: Change the code"],
        ),
        (
            {"reason": "r", "judging_changes": (JudgingChange(path="test_m.py", change="edits", role="a test file"),)},
            ["edited, and judges: test_m.py", "Next: Undo"],
        ),
        ({"reason": "x" * 5000, "cases": CASES, "failed": IDS}, ["and 35 more", "Next: Correct"]),
        (
            {"verified": True, "unearned": {IDS[0]: "apart it fails with AssertionError"}},
            ["1 test passes, and nothing shows", f"not proven: {IDS[0]}: apart it fails", "Next: Return plain values"],
        ),
        ({"verified": True}, []),
        ({"nothing_staged": True, "reason": "Nothing differs."}, []),
    ],
    ids=["failing", "tampered", "edited", "many", "partially", "verified", "nothing"],
)
def test_the_answer_for_the_agent(fields, words):
    text = gate.describe(Verification(**fields))
    assert all(word in text for word in words)
    assert bool(text) is bool(words)
    assert len(text) / 4 <= 400


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
