"""The whole story with nothing scripted: a real editor, the real server and sandbox, the embedded model."""

import asyncio
import shutil
from pathlib import Path

import pytest

from greenloop.plugins.embedded import server

from .conftest import KINDS, Editor

pytestmark = [pytest.mark.needs("model"), pytest.mark.needs("bubblewrap"), pytest.mark.timeout(600)]

EXAMPLES = Path(__file__).parents[2] / "examples"
SECONDS = 400  # for a model of 1.5 billion parameters on a busy machine
KIND = next(kind for kind in KINDS if kind.name == "nvim-0.11")


@pytest.fixture(params=[pytest.param(KIND, id=KIND.name, marks=pytest.mark.needs(KIND.part))])
def live(request, tmp_path, bare_python):
    settings = {"interpreter": str(bare_python), "sandbox.kind": "bubblewrap", "attempts": 8}
    running = Editor(request.param, tmp_path, settings, model="local")
    yield running
    running.end()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", running.environment["XDG_STATE_HOME"])
        asyncio.run(server.stop())


def test_an_example_goes_green_in_an_editor(live):
    asked, module = "test_fibonacci.py", "fibonacci.py"
    shutil.copytree(EXAMPLES / "fibonacci", live.root, dirs_exist_ok=True)
    before = (live.root / module).read_text()
    live.open(module, asked)
    live.act(asked, 9, "Refine until tests pass: test_one")
    shown = lambda: any("Refining" in each["text"] for each in live("diagnostics", asked))  # noqa: E731
    live.wait("diagnostic of the run", shown, seconds=SECONDS)
    live.wait("edit", lambda: live("text", module) != before, seconds=SECONDS)
    live.told("Fixed: ")
    live.is_clear(asked)
    names: dict = {}
    exec(live("text", module), names)
    assert names["fibonacci"](1) == [0]
    hover = live("hover", module, 1, 5)
    assert "| attempt" in hover
    assert "local" in hover
    live("undo", module)
    assert live("text", module) == before
    assert (live.root / module).read_text() == before
