"""A refinement for each failing test: many are started, and the editor never waits for what it should see."""

import asyncio
from contextlib import contextmanager
from types import SimpleNamespace

from greenloop.plugins.test_runs import features

SELECTORS = [f"test_m.py::test_{number}" for number in range(3 * features.STARTED_TOGETHER + 1)]


class Store:
    """As much of the diagnostics' store as this feature uses."""

    is_held_back = False

    @contextmanager
    def batch(self):
        self.is_held_back = True
        yield
        self.is_held_back = False


def refine(tmp_path, store, beside):
    """The selectors that were started for a whole file of failing tests, while `beside` works in the same loop."""
    commands, started, spawned = {}, [], []

    async def wait(_request):
        return SimpleNamespace(failing=results, results=results)

    results = [SimpleNamespace(id=selector) for selector in SELECTORS]
    editor = SimpleNamespace(editor=SimpleNamespace(runs=4))
    request = SimpleNamespace(root=tmp_path, path="test_m.py", settings=editor)
    parts = SimpleNamespace(
        editor=SimpleNamespace(
            client=SimpleNamespace(show_message=lambda _text: None),
            documents=SimpleNamespace(
                uri_of=lambda _path: "file:///test_m.py", composite=lambda *_about: None, text=lambda _path: None
            ),
            tasks=SimpleNamespace(spawn=spawned.append),
        ),
        store=store,
        starter=SimpleNamespace(start=lambda params: started.append(params.test)),
    )
    features.register_refine_all(
        SimpleNamespace(command=lambda name: lambda function: commands.setdefault(name, function)),
        parts,
        SimpleNamespace(start=lambda _arguments: request, wait=wait),
    )

    async def both():
        work = asyncio.ensure_future(spawned[0])
        while not work.done():
            beside(len(started))
            await asyncio.sleep(0)
        await work

    commands["greenloop.refineAll"]()
    asyncio.run(both())
    return started


def test_each_failing_test_is_started_while_the_editor_is_served(tmp_path):
    store, looks = Store(), []

    def look(count):
        looks.append(count)
        assert not store.is_held_back

    assert refine(tmp_path, store, look) == SELECTORS
    assert len(set(looks)) > 3
