"""A sandbox is made ready when somebody looks: once, however often the cursor moves, and not beside a run."""

from .conftest import FILES


async def test_a_moving_cursor_looks_once(editor):
    await editor.start()
    for line in (3, 4, 3, 4):
        await editor.actions(line=line)
    assert (await editor.state())["warmed"] == 1


async def test_a_run_has_a_sandbox_of_its_own(editor):
    await editor.start(model="play:hold")
    await editor.execute("greenloop.refine", {"uri": editor.uri("test_m.py"), "test": "test_m.py::test_double"})
    await editor.under_way()
    await editor.actions(line=3)
    assert (await editor.state())["warmed"] == 0
    assert editor.text("m.py") == FILES["m.py"]
