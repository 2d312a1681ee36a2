"""Specifications beside tests and docstrings, each in a whole request: the loop refines once, and says by what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from greenloop.core.errors import SettingsError
from greenloop.core.events import Started, Tested
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.engine import refine
from greenloop.project import configuration
from project_files import write_files
from spec_problem import AnsweringUser

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]

STUB = '''\
def double(x):
    """Twice x.

    >>> double(5)
    10
    """
    raise NotImplementedError
'''
BARE = 'def double(x):\n    """Twice x."""\n    raise NotImplementedError\n'


def code(body: str) -> str:
    return f"```python\ndef double(x):\n    {body}\n```"


class Stage:
    """One request on a project in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.attempts: list = []
        self.instructions: list[str] = []
        self.said: list[str] = []

    async def __call__(
        self, files: dict[str, str], *answers: str, user=None, target="m.py::double", comment="", **keys
    ) -> Outcome:
        write_files(self.root, files)
        script = self.root.parent / "answers.jsonl"
        script.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
        told = {"model": f"scripted:{script}", "preset": "plain", "sandbox.kind": "bubblewrap", **keys}
        found, warnings = configuration.load(self.root, command_line=told)
        assert not warnings

        def emit(event) -> None:
            if isinstance(event, Started):
                self.instructions.append(event.problem.instruction)
            if isinstance(event, Tested):
                self.attempts.append(event.attempt)

        request = refine.RefineRequest(root=self.root, target=target, comment=comment)
        return await refine.refine(request, settings=found, emit=emit, report_status=self.said.append, user=user)

    @property
    def errors(self) -> list[str]:
        return [attempt.error_class for attempt in self.attempts]

    def told(self, number: int) -> str:
        """What the feedback says of an attempt."""
        return "\n".join(note.text for note in self.attempts[number - 1].notes)


@pytest.fixture
def stage(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = tmp_path / "project"
    root.mkdir()
    return Stage(root)


async def test_a_broken_constraint_is_the_attempts_error_and_the_next_one_keeps_to_it(stage):
    imports = code("import operator\n    return operator.mul(2, x)")
    outcome = await stage({"m.py": STUB}, imports, code("return 2 * x"), **{"spec.constraints": ["no-imports"]})
    assert stage.errors == ["Constraint", ""]
    assert "The code imports operator; no imports are allowed." in stage.told(1)
    assert outcome.solved
    assert outcome.verified is Verified.VERIFIED
    assert outcome.evidence.cases == {"doctest": (1, 1), "constraint": (1, 1)}
    assert "1/1 constraints pass" in outcome.message


async def test_a_constraint_holds_for_the_function_behind_a_failing_test(stage):
    files = {"m.py": BARE, "test_m.py": "from m import double\n\n\ndef test_it():\n    assert double(2) == 4\n"}
    answers = [code("y = 2\n    return y * x"), code("return 2 * x")]
    outcome = await stage(files, *answers, target="test_m.py::test_it", **{"spec.constraints": ["max-lines 2"]})
    assert stage.errors == ["Constraint", ""]
    assert outcome.solved
    assert outcome.evidence.cases == {"user": (1, 1), "constraint": (1, 1)}


async def test_a_constraint_that_is_none_ends_the_run_before_any_model_call(stage):
    with pytest.raises(SettingsError, match="has no constraint 'no-import'"):
        await stage({"m.py": STUB}, **{"spec.constraints": ["no-import"]})
    assert stage.attempts == []


@pytest.mark.story("constraints, recorded calls and scores are specifications")
async def test_recorded_calls_are_a_specification(stage):
    lines = [
        {"function": "m.double", "args": [5], "returns": 10},
        {"function": "m.double", "args": ["a"], "returns": "aa"},
        {"function": "m.double", "args": [None], "raises": "TypeError"},
        {"function": "m.other", "args": [1], "returns": 1},
    ]
    files = {"m.py": BARE, "calls.jsonl": "".join(json.dumps(line) + "\n" for line in lines)}
    outcome = await stage(files, code("return x + 5"), code("return 2 * x"), **{"spec.trace": "calls.jsonl"})
    assert stage.errors == ["TypeError", ""]
    assert "double('a')" in stage.told(1)
    assert outcome.solved
    assert outcome.verified is Verified.VERIFIED
    assert outcome.evidence.cases == {"trace": (3, 3)}
    assert (stage.root / "m.py").read_text() == BARE
    assert sorted(path.name for path in stage.root.iterdir()) == ["calls.jsonl", "m.py"]


async def test_recorded_output_is_a_specification(stage):
    files = {"m.py": BARE, "calls.jsonl": json.dumps({"args": [4], "stdout": "8\n"}) + "\n"}
    outcome = await stage(files, code("return 2 * x"), code("print(2 * x)"), **{"spec.trace": "calls.jsonl"})
    assert stage.errors == ["AssertionError", ""]
    assert outcome.solved


async def test_what_the_user_says_of_a_candidate_is_the_next_ones_feedback(stage):
    user = AnsweringUser("Say what is wrong", "Use a multiplication.", "Accept")
    outcome = await stage({"m.py": STUB}, code("return x + x"), code("return 2 * x"), user=user, **{"spec.human": True})
    assert stage.errors == ["Rejected", ""]
    assert "Use a multiplication." in stage.told(1)
    assert "+    return x + x" in user.questions[0]
    assert outcome.solved
    assert outcome.verified is Verified.VERIFIED
    assert outcome.evidence.cases == {"doctest": (1, 1), "human": (1, 1)}


async def test_without_an_answer_the_result_is_partial(stage):
    outcome = await stage({"m.py": STUB}, code("return 2 * x"), **{"spec.human": True})
    assert outcome.solved
    assert outcome.verified is Verified.PARTIALLY
    assert outcome.evidence.cases == {"doctest": (1, 1), "human": (0, 1)}


SCORER = """\
import m


def how_close(function):
    assert function is m.double
    return {1: 0.4, 2: 0.7, 3: 0.5, 4: 1.0}.get(function(0), 0)
"""


@pytest.mark.story("constraints, recorded calls and scores are specifications")
async def test_a_score_drives_the_loop_and_the_best_is_kept(stage):
    files = {"m.py": BARE, "bench/scoring.py": SCORER}
    answers = [code(f"return {number}") for number in (1, 2, 4)]
    outcome = await stage(files, *answers, **{"spec.score": "bench/scoring.py::how_close"})
    assert [attempt.verdict.score for attempt in stage.attempts] == [0.4, 0.7, 1.0]
    assert "score 0.4" in stage.told(1)
    assert outcome.solved
    assert outcome.best == 3
    assert outcome.evidence.cases == {"score": (1, 1)}


async def test_a_score_that_falls_again_does_not_replace_the_best(stage):
    files = {"m.py": BARE, "bench/scoring.py": SCORER}
    answers = [code(f"return {number}") for number in (1, 2, 3)]
    keys = {"spec.score": "bench/scoring.py::how_close", "attempts": 3}
    outcome = await stage(files, *answers, **keys)
    assert [attempt.verdict.score for attempt in stage.attempts] == [0.4, 0.7, 0.5]
    assert (outcome.solved, outcome.reason, outcome.best) == (False, StopReason.ATTEMPTS, 2)
    assert "return 2" in outcome.after["m.py"]


async def test_a_score_may_be_enough_below_one(stage):
    files = {"m.py": BARE, "bench/scoring.py": SCORER}
    outcome = await stage(files, code("return 2"), **{"spec.score": "bench/scoring.py::how_close>=0.6"})
    assert outcome.solved


async def test_a_comment_in_the_function_and_one_typed_are_told_to_the_model(stage):
    text = STUB.replace("    raise", "    # TODO: no loop\n    raise")
    outcome = await stage({"m.py": text}, code("return 2 * x"), comment="keep it short")
    assert outcome.solved
    assert stage.instructions == ["A comment asks: keep it short\nno loop"]


async def test_what_a_comment_leaves_to_do_is_not_asked_for_with_a_failing_test(stage):
    text = STUB.replace("    raise", "    # TODO: no loop\n    raise")
    files = {"m.py": text, "test_m.py": "from m import double\n\n\ndef test_double():\n    assert double(2) == 4\n"}
    outcome = await stage(files, code("return 2 * x"), target="test_m.py::test_double", comment="keep it short")
    assert outcome.solved
    assert stage.instructions == ["A comment asks: keep it short"]


async def test_limits_and_recorded_calls_are_told_before_the_first_attempt(stage):
    files = {"m.py": STUB, "calls.jsonl": json.dumps({"args": [4], "returns": 8}) + "\n"}
    keys = {"spec.trace": "calls.jsonl", "spec.constraints": ["no-imports", "max-lines 20"]}
    outcome = await stage(files, code("return 2 * x"), **keys)
    assert outcome.solved
    (told,) = stage.instructions
    assert told.split("\n") == [
        "Limits: import nothing; at most 20 lines of code in a function.",
        "This was recorded and must hold:",
        "assert double(4) == 8",
    ]


async def test_an_assertion_in_the_docstring_is_a_specification(stage):
    text = BARE.replace("Twice x.", "Twice x.\n\n    assert double(5) == 10\n    ")
    outcome = await stage({"m.py": text}, code("return x + 2"), code("return 2 * x"))
    assert stage.errors[0] == "AssertionError"
    assert outcome.solved
    assert outcome.verified is Verified.VERIFIED
    assert set(outcome.evidence.cases) == {"example"}
