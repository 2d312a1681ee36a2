"""A function that passes its tests is improved: which actions, what the run is told, what is shown of the result."""

import pytest

SAID = "41 ms → 6.0 ms (0.15, 0.13 to 0.17), 12 tests and 31 related tests unchanged"
IMPROVE = "Improve while tests pass"


def titles(actions):
    return [action["title"] for action in actions]


async def already_green(editor):
    """Refines a function that passes, which its end says."""
    await editor.start(model="play:green")
    await editor.action("Refine", name="m.py", line=0)
    return (await editor.told("already passes"))["params"]["message"]


@pytest.mark.story("passing code becomes faster, as one edit")
async def test_from_the_end_that_says_so_to_the_edit_and_its_hover(editor):
    assert IMPROVE in await already_green(editor)
    offered = await editor.actions("m.py", 0)
    goals = [f"{IMPROVE} (faster): double", f"{IMPROVE} (less memory): double"]
    assert [title for title in titles(offered) if title.startswith(IMPROVE)] == goals
    assert (offered[0]["title"], offered[0]["kind"], offered[0]["tags"]) == (goals[0], "refactor.rewrite", [1])
    where = {"uri": editor.uri("m.py"), "position": {"line": 0, "character": 0}}
    assert offered[0]["command"]["arguments"] == [{**where, "goal": "time"}]
    await editor.action(goals[0], name="m.py", line=0)
    shown = await editor.diagnosed(lambda items: any("NotFaster" in item["message"] for item in items), "m.py")
    assert {item["severity"] for item in shown} == {3}
    assert any(item["message"] == "Improving double (faster)" for item in shown)
    await editor.call("test/go")
    assert (await editor.told("Improved: "))["params"]["message"] == f"Improved: double, {SAID}. Changed m.py:2."
    assert editor.text("m.py") == "def double(x):\n    return x + x\n"
    assert len(editor.edits) == 1
    await editor.diagnosed(lambda items: not items, "m.py")
    hover = (await editor.hover())["value"]
    assert f"m.py::double: verified; {SAID}, applied" in hover
    assert "| `41 ms → 6.0 ms (0.15, 0.13 to 0.17)` " in hover
    assert "before: 41 ms\n██████████  2  6000x  40 ms  return x * 2\nafter: 6.0 ms\n█  " in hover
    assert (await editor.call("test/state"))["goals"] == [["time", ""]]
