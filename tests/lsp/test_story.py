"""The one path: action, command, diagnostics, edit, message, hover, shutdown."""

import pytest

from .conftest import FILES


@pytest.mark.story("a red test becomes a verified edit")
async def test_red_test_becomes_a_verified_edit(editor, project):
    await editor.start()
    await editor.action("Refine until tests pass: test_double")
    red = await editor.under_way()
    assert [
        (d["range"]["start"]["line"], d["code"], "15" in d["message"]) for d in red if "attempt" in d["source"]
    ] == [(4, "AssertionError", True)]
    await editor.told("Changed m.py:2")
    await editor.diagnosed(lambda items: not items)
    assert editor.text("m.py") == "def double(x):\n    return x * 2\n"
    assert len(editor.edits) == 1
    hover = await editor.hover()
    assert "| attempt | model " in hover["value"]
    assert "AssertionError" in hover["value"]
    assert {name: (project / name).read_text() for name in FILES} == FILES
    assert await editor.stop() == 0
