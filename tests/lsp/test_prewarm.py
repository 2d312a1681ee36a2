"""A sandbox is made ready when somebody looks: once, however often the cursor moves, and not beside a run."""

import asyncio

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


async def test_where_saves_run_tests_an_opened_file_is_enough(editor):
    await editor.start(editor={"save": "affected"})
    async with asyncio.timeout(20):
        while not (await editor.state())["warmed"]:
            pass
    editor.open("m.py")
    assert (await editor.state())["warmed"] == 1


async def test_where_they_do_not_nothing_is_made_ready(editor):
    await editor.start()
    await editor.call("greenloop/refine", {"uri": editor.uri("test_m.py"), "test": "test_m.py::test_double"})
    assert (await editor.state())["warmed"] == 0
