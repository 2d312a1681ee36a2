"""The whole path with nothing scripted: a red example, the embedded model, the real sandbox."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from greenloop.core.events import Token
from greenloop.core.records.outcome import Verified
from greenloop.engine import refine
from greenloop.project import configuration

pytestmark = [pytest.mark.needs("model"), pytest.mark.needs("bubblewrap"), pytest.mark.timeout(600)]

HERE = Path(__file__).parents[2] / "examples"
TARGETS = tomllib.loads((HERE / "targets.toml").read_text(encoding="utf-8"))


# Small enough for a model of 1.5 billion parameters; lab/benchmarks/examples.py shows all of them.
@pytest.mark.story("the embedded model repairs an example", only=("fibonacci",))
@pytest.mark.parametrize("name", ["fibonacci", "unittest_project", "docstring_stub"])
async def test_an_example_goes_green(name, tmp_path, bare_python):
    project = tmp_path / name
    shutil.copytree(HERE / name, project)
    values = {"model": "local", "sandbox.kind": "bubblewrap", "interpreter": str(bare_python), "attempts": 8}
    found, _ = configuration.load(project, command_line=values)
    events: list = []
    outcome = await refine.refine(
        refine.RefineRequest(root=project, target=TARGETS[name]["target"]), settings=found, emit=events.append
    )
    assert outcome.solved, outcome.message
    assert outcome.verified is Verified.VERIFIED
    assert outcome.usage.cost == 0
    assert any(isinstance(event, Token) for event in events)


COUNTING = '''\
def count_vowels(text: str) -> int:
    """Return how many vowels (a, e, i, o, u, in either case) the text contains."""
    raise NotImplementedError
'''


async def test_a_docstring_without_examples_gets_tests_and_is_offered(tmp_path, bare_python):
    (tmp_path / "vowels.py").write_text(COUNTING)
    values = {"model": "local", "sandbox.kind": "bubblewrap", "interpreter": str(bare_python)}
    found, _ = configuration.load(tmp_path, command_line=values)
    outcome = await refine.refine(
        refine.RefineRequest(root=tmp_path, target="vowels.py::count_vowels"), settings=found, emit=lambda _event: None
    )
    assert outcome.solved, outcome.message
    assert outcome.verified is Verified.PARTIALLY
    names: dict = {}
    exec(outcome.after["vowels.py"], names)
    assert names["count_vowels"]("Under the Oak") == 5
