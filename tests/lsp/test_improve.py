"""A function that passes its tests is improved: which actions, what the run is told, what is shown of the result."""

from dataclasses import replace

import pytest
from lsprotocol import types as lsp

from greenloop.core.records.outcome import Evidence
from greenloop.core.text.json_codec import to_json
from greenloop.lsp.presenters.notifications import end_message
from greenloop.lsp.state.results import Result
from greenloop.lsp.state.run import Phase
from greenloop.plugins.improve.aims import AIMS, Goal
from greenloop.plugins.improve.records import Gain, ProfiledLine

from .conftest import EVERYTHING
from .in_process_server import InProcessServer, outcome

SAID = "41 ms → 6.0 ms (0.15, 0.13 to 0.17), 12 tests and 31 related tests unchanged"
IMPROVE = "Improve while tests pass"
CODE = """\
def double(x):
    # review: shift the bits
    return x * 2


def half(x):
    return x / 2


class Box:
    # TODO: a size
    def size(self):
        return 1
"""
TEST = "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n"
INVOKED, AUTOMATIC = lsp.CodeActionTriggerKind.Invoked, lsp.CodeActionTriggerKind.Automatic
MORE = "refactor.rewrite.greenloop"


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


def passing(tmp_path, monkeypatch, **settings):
    """A server whose test of `double` passed; that it reaches it is known."""
    inside = InProcessServer(tmp_path, {"m.py": CODE, "test_m.py": TEST}, EVERYTHING, monkeypatch, **settings)
    results = inside.server.parts.results
    results.reached_functions = lambda _root, path: {"double"} if path == "m.py" else set()
    results.tests_through = lambda _root, _path, name: ["test_m.py::test_double"] if name == "double" else []
    results.put(tmp_path, {("test_m.py", "test_double"): Result(outcome="passed", passed=1, total=1)})
    return inside


def improvements(actions):
    return [action.title.removeprefix(f"{IMPROVE} ") for action in actions if action.title.startswith(IMPROVE)]


def test_one_action_for_each_goal_that_makes_sense(tmp_path, monkeypatch):
    inside = passing(tmp_path, monkeypatch)
    found = inside.actions("m.py", 0)
    goals = ["(as the comment says): double", "(faster): double", "(less memory): double"]
    assert improvements(found) == goals
    assert [(each.title, each.kind) for each in found[:2]] == [
        (f"{IMPROVE} {goals[0]}", "refactor.rewrite"),
        ("Run in the sandbox: double", "refactor.rewrite"),
    ]
    assert {each.kind for each in found[2:]} == {MORE}
    assert found[-1].title == "Refine until tests pass: double"
    assert len(inside.actions("m.py", 0, None, AUTOMATIC)) == 2
    limited = passing(tmp_path, monkeypatch, **{"spec.constraints": ["max-lines 20"]})
    assert improvements(limited.actions("m.py", 0)) == [*goals, "(simpler): double"]


def test_of_a_function_that_is_not_known_to_pass_only_who_asks_by_kind_gets_them(tmp_path, monkeypatch):
    inside = passing(tmp_path, monkeypatch)
    assert improvements(inside.actions("m.py", 5)) == []
    by_kind = inside.actions("m.py", 5, [MORE])
    assert improvements(by_kind) == ["(faster): half", "(less memory): half"]
    assert {each.kind for each in by_kind if each.title.startswith(IMPROVE)} == {f"{MORE}.improve"}
    inside.server.parts.results.put(
        tmp_path, {("test_m.py", "test_double"): Result(outcome="failed", passed=0, total=1)}
    )
    assert improvements(inside.actions("m.py", 0)) == []


@pytest.mark.parametrize("only", [None, ["refactor"]])
def test_tests_and_running_targets_are_not_improved(tmp_path, monkeypatch, only):
    inside = passing(tmp_path, monkeypatch)
    assert improvements(inside.actions("test_m.py", 3, only)) == []
    inside.run(phase=Phase.REFINING)
    assert improvements(inside.actions("m.py", 0, only, INVOKED)) == []


def test_what_a_run_ended_with_counts_more_than_older_results(tmp_path, monkeypatch):
    inside = passing(tmp_path, monkeypatch)
    run = inside.run(phase=Phase.OVER, outcome=outcome(solved=False))
    assert improvements(inside.actions("m.py", 0)) == []
    run.progress.outcome = outcome()
    assert improvements(inside.actions("m.py", 0)) == []
    run.result.applied = True
    assert len(improvements(inside.actions("m.py", 0))) == 3


def test_a_restored_result_tells_its_gain_and_the_costs_of_lines(tmp_path, monkeypatch):
    inside = passing(tmp_path, monkeypatch)
    line = ProfiledLine(line=3, text="    return x * 2", times=9, cost=4e6)
    gain = Gain(goal=Goal.MEMORY, before=4e6, after=1e6, ratio=0.25, low=0.2, high=0.3, pairs=9)
    evidence = Evidence(sandbox="bubblewrap", cases={"user": (1, 1)}, data={"improve": to_json(gain)})
    run = inside.run(phase=Phase.OVER, outcome=replace(outcome(), evidence=evidence))
    said = "4.0 MB → 1.0 MB (0.25, 0.20 to 0.30), 1 test unchanged"
    assert f"verified; {said}, not applied" in inside.hover("m.py", 0)
    assert "before: " not in inside.hover("m.py", 0)
    assert inside.actions("m.py", 0)[0].title == f"Apply refined double (verified; {said})"
    run.progress.outcome = replace(
        run.outcome, evidence=replace(evidence, data={"improve": to_json(replace(gain, lines_before=(line,)))})
    )
    assert "before: 4.0 MB\n██████████  3  9x  4.0 MB  return x * 2\nafter: 1.0 MB" in inside.hover("m.py", 0)
    assert "✓ verified, 4.0 MB → 1.0 MB, not applied" in inside.lenses("m.py")[0]


def test_an_earlier_servers_result_for_a_comment_is_an_improvement(tmp_path, monkeypatch):
    inside = passing(tmp_path, monkeypatch)
    evidence = Evidence(sandbox="bubblewrap", cases={"user": (2, 2)}, warnings=("It is for you to judge.",))
    run = inside.run(phase=Phase.OVER, outcome=replace(outcome(), evidence=evidence))
    assert end_message(run, run.outcome, None).startswith("Fix found: test_double passes.")
    run.progress.started = replace(run.started, preset="improve")
    assert end_message(run, run.outcome, None).startswith(
        "Improvement found: test_double, 2 tests unchanged. It is for"
    )


async def test_a_run_that_gains_nothing_leaves_no_error(tmp_path, monkeypatch):
    inside = passing(tmp_path, monkeypatch)
    run = inside.run("m.py::double", phase=Phase.OVER, outcome=outcome(solved=False, changes=False))
    run.request = replace(run.request, aim=AIMS["time"])
    inside.server.parts.run_diagnostics.publish(run)
    (summary,) = [
        item for item in inside.server.parts.store.items(tmp_path / "m.py", run) if item.source == "greenloop"
    ]
    assert summary.severity is lsp.DiagnosticSeverity.Information
    assert summary.message.startswith("double is not improved")


async def test_a_client_with_its_own_menu_gets_the_goals_and_sends_a_comment(editor, project):
    (project / "m.py").write_text(CODE)
    (project / "pyproject.toml").write_text('[tool.greenloop]\nspec.constraints = ["max-lines 9"]\n')
    await editor.start()
    here = {"uri": editor.uri("m.py"), "position": {"line": 0, "character": 4}}
    found = (await editor.call("greenloop/choices", here))["goals"]
    assert [each["goal"] for each in found] == ["comment", "time", "memory", "limits"]
    assert found[0] == {"goal": "comment", "said": "as the comment says", "comment": "shift the bits"}
    (last,) = [
        each
        for each in (await editor.call("greenloop/choices", {**here, "position": {"line": 5, "character": 4}}))["goals"]
        if each["goal"] == "comment"
    ]
    assert last["comment"] == ""
    for elsewhere in (
        {"uri": editor.uri("test_m.py"), "position": {"line": 3, "character": 4}},
        {"uri": here["uri"]},
        None,
    ):
        assert (await editor.call("greenloop/choices", elsewhere))["goals"] == []
    await editor.call("test/go")
    reply = await editor.call("greenloop/refine", {**here, "goal": "comment", "comment": "use shifts"})
    assert (reply["solved"], reply["gain"]) == (True, SAID)
    assert (await editor.state())["goals"] == [["comment", "use shifts"]]


async def test_a_goal_that_does_not_exist_is_refused(editor):
    await editor.start()
    here = {"uri": editor.uri("m.py"), "position": {"line": 0, "character": 4}}
    reply = await editor.reply(editor.request("greenloop/refine", {**here, "goal": "beauty"}))
    assert "'goal' must be one of: time, memory, limits, comment" in reply["error"]["message"]
