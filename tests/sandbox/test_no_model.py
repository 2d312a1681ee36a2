"""A run without a model does what needs none, and ends with the models to choose from where that does not suffice."""

from __future__ import annotations

import pytest

from greenloop.core.errors import ModelError
from greenloop.core.events import Planned, Started
from greenloop.core.records.attempt import Move
from greenloop.core.records.outcome import StopReason, Verified
from greenloop.engine import refine
from greenloop.engine.history.unsolved_run import read_unsolved_run
from greenloop.models import default_model
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

AGE = "def is_adult(age):\n    return age > 18\n\n\ndef squares(n):\n    return [i + i for i in range(n)][:-1]\n"
TESTS = (
    "from m import is_adult, squares\n\n\ndef test_age():\n    assert is_adult(18)\n\n\n"
    "def test_squares():\n    assert squares(4) == [0, 1, 4, 9]\n"
)
STUB = 'def later(n):\n    """The next number.\n\n    >>> later(1)\n    2\n    """\n    raise NotImplementedError\n'


@pytest.fixture
def play(tmp_path, monkeypatch, lay):
    """`play(target, earlier, **settings)` on a machine without a model: the outcome, and the events."""
    for name in ("STATE", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))

    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:1")
    root = lay(tmp_path / "w", {"m.py": AGE, "s.py": STUB, "test_m.py": TESTS})

    async def run(target, earlier=None, **keys):
        settings, _ = configuration.load(root, command_line={"sandbox.kind": "bubblewrap", **keys})
        events: list = []
        request = refine.RefineRequest(root=root, target=target, earlier=earlier)
        return await refine.refine(request, settings=settings, emit=events.append), events

    return run


@pytest.mark.story("a missing import is added without asking a model")
async def test_a_missing_import_needs_no_model(play, tmp_path):
    lacking = AGE.replace("age > 18", "math.floor(age) >= 18")
    (tmp_path / "w" / "m.py").write_text(lacking)
    outcome, _events = await play("test_m.py::test_age")
    assert (outcome.solved, outcome.verified, outcome.usage.completion_tokens) == (True, Verified.VERIFIED, 0)
    assert outcome.after["m.py"] == f"import math\n\n\n{lacking}"


@pytest.mark.story("a small fault is fixed without a model")
async def test_a_one_token_change_needs_no_model(play):
    outcome, events = await play("test_m.py::test_age")
    assert (outcome.solved, outcome.verified) == (True, Verified.VERIFIED)
    assert "age >= 18" in outcome.after["m.py"]
    assert outcome.message.endswith("No model was needed.")
    assert [(event.model, event.estimate) for event in events if isinstance(event, Started)] == [("none", None)]


async def test_what_needs_a_model_says_so_and_goes_on_with_one(play, tmp_path):
    outcome, events = await play("test_m.py::test_squares")
    assert (outcome.solved, outcome.reason) == (False, StopReason.MODEL)
    assert outcome.message == (
        f"That needs a model: none is configured, and none was found. {default_model.missing_remedy()}"
    )
    assert not [event for event in events if isinstance(event, Planned)]
    assert {attempt.draft.move for attempt in outcome.attempts[1:]} == {Move.MUTATE}
    script = tmp_path / "answers.jsonl"
    script.write_text('"```python\\ndef squares(n):\\n    return [i * i for i in range(n)]\\n```"\n')
    earlier = read_unsolved_run(outcome.run)
    again, _events = await play("test_m.py::test_squares", earlier, model=f"scripted:{script}", preset="plain")
    assert again.solved
    assert [attempt.number for attempt in again.attempts] == [*range(len(outcome.attempts) + 1)]
    assert "No model was needed." not in again.message


@pytest.mark.parametrize("keys", [{}, {"preset": "plain"}, {"model": "none"}], ids=["default", "plain", "by name"])
async def test_where_only_a_model_can_begin_the_run_does_not(play, keys):
    with pytest.raises(ModelError, match="That needs a model: "):
        await play("s.py::later", **keys)
