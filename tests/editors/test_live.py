"""The whole story with nothing scripted: a real editor, the real server and sandbox, the embedded model."""

import asyncio
import shutil
from pathlib import Path

import pytest

from greenloop.embedded import server

from .conftest import KINDS, Editor

pytestmark = [pytest.mark.needs("model"), pytest.mark.needs("bubblewrap"), pytest.mark.timeout(600)]

EXAMPLES = Path(__file__).parents[2] / "examples"
SECONDS = 400  # for a model of 1.5 billion parameters on a busy machine
# One editor of each family: example, file and line of the action, its title, the module, what it must then hold.
STORIES = {
    "nvim-0.11": (
        "fibonacci",
        ("test_fibonacci.py", 9, "Refine until tests pass: test_one"),
        "fibonacci.py",
        lambda names: names["fibonacci"](1) == [0],
    ),
    "eglot": (
        "docstring_stub",
        ("runs.py", 2, "Implement from docstring: encode"),
        "runs.py",
        lambda names: names["encode"]("aab") == [("a", 2), ("b", 1)],
    ),
}


@pytest.fixture(
    params=[pytest.param(k, id=k.name, marks=pytest.mark.needs(k.part)) for k in KINDS if k.name in STORIES]
)
def live(request, tmp_path, bare_python):
    settings = {"interpreter": str(bare_python), "sandbox.kind": "bubblewrap", "attempts": 8}
    running = Editor(request.param, tmp_path, settings, model="local")
    yield running
    running.end()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", running.environment["XDG_STATE_HOME"])
        asyncio.run(server.stop())


def test_an_example_goes_green_in_an_editor(live):
    example, (asked, line, title), module, right = STORIES[live.kind.name]
    shutil.copytree(EXAMPLES / example, live.root, dirs_exist_ok=True)
    before = (live.root / module).read_text()
    live.open(module, *({asked} - {module}))
    live.act(asked, line, title)
    shown = lambda: any("Refining" in each["text"] for each in live("diagnostics", asked))  # noqa: E731
    live.wait("diagnostic of the run", shown, seconds=SECONDS)
    live.wait("edit", lambda: live("text", module) != before, seconds=SECONDS)
    live.told("fixed, verified by")
    live.is_clear(asked)
    names: dict = {}
    exec(live("text", module), names)
    assert right(names)
    hover = live("hover", module, 1, 5)
    assert "| attempt" in hover
    assert "local" in hover
    live("undo", module)
    assert live("text", module) == before
    assert (live.root / module).read_text() == before
