"""Code actions: where, of what kind, in what form; and the commands behind them."""

from collections import Counter
from pathlib import Path

import pytest

from greenloop.core.text.uris import path_from_uri

from .conftest import EVERYTHING, without

# Of a function that is not known to pass, only whoever asks by kind gets these.
IMPROVE = {"refactor.rewrite.greenloop.improve": 2}


def read(uri):
    return Path(path_from_uri(uri)).read_text(encoding="utf-8")


def titles(actions):
    return [action["title"] for action in actions]


async def unsolved(editor):
    """Waits until a run is over; that it is not solved is told a moment before."""
    await editor.diagnosed(lambda items: any(item.get("code") == "unsolved" for item in items))


@pytest.mark.story("an action stands at each red test")
async def test_on_a_test_it_is_a_quick_fix_and_on_a_function_a_rewrite(editor):
    capabilities = await editor.start()
    kinds = capabilities["capabilities"]["codeActionProvider"]["codeActionKinds"]
    assert kinds == ["quickfix", "refactor.rewrite", "refactor.rewrite.greenloop", "source.greenloop"]
    (test, run), (function,) = await editor.actions(), await editor.actions("m.py", 1)
    assert (test["title"], test["kind"], test["tags"]) == ("Refine until tests pass: test_double", "quickfix", [1])
    assert (run["title"], run["kind"], "tags" in run) == ("Run in the sandbox: test_double", "quickfix", False)
    assert run["command"]["arguments"] == [{"uri": editor.uri("test_m.py"), "target": "test_m.py::test_double"}]
    assert (function["title"], function["kind"]) == ("Refine until tests pass: double", "refactor.rewrite")
    assert "isPreferred" not in test
    assert test["command"]["arguments"] == [{"uri": editor.uri("test_m.py"), "position": {"line": 3, "character": 0}}]


@pytest.mark.parametrize(
    ("name", "only", "kinds"),
    [
        ("test_m.py", ["quickfix"], {"quickfix": 2}),
        ("test_m.py", ["refactor"], {"refactor.rewrite": 2}),
        ("test_m.py", ["refactor.rewrite"], {"refactor.rewrite": 2}),
        ("test_m.py", ["refactor.rewrite.greenloop"], {"refactor.rewrite.greenloop": 2}),
        ("test_m.py", ["source"], {"source.greenloop.refineAll": 1, "source.greenloop.runTest": 1}),
        ("test_m.py", ["source.greenloop.runTest"], {"source.greenloop.runTest": 1}),
        ("test_m.py", ["source.organizeImports"], {}),
        ("test_m.py", ["refactor.rewriteX"], {}),
        ("m.py", ["quickfix"], {}),
        ("m.py", ["source"], {}),
        ("m.py", ["refactor"], {"refactor.rewrite": 1, **IMPROVE}),
        ("m.py", ["refactor.rewrite.greenloop.improve"], IMPROVE),
    ],
)
async def test_only_is_respected(editor, name, only, kinds):
    await editor.start()
    actions = await editor.actions(name, 3 if name == "test_m.py" else 0, only)
    assert Counter(action["kind"] for action in actions) == kinds


async def test_every_kind_is_everything(editor):
    await editor.start()
    found = Counter(action["kind"].split(".")[0] for action in await editor.actions(only=[""]))
    assert found == {"quickfix": 2, "source": 2}


async def test_a_preset_of_a_request_is_used(editor):
    await editor.start()
    arguments = {"uri": editor.uri("test_m.py"), "position": {"line": 3, "character": 0}, "preset": "reflexion"}
    assert (await editor.call("greenloop/refine", arguments))["solved"]
    assert (await editor.state())["settings"][0][1] == "reflexion"


async def test_nothing_elsewhere(editor):
    await editor.start()
    assert await editor.actions(line=0) == []
    editor.open("notes.txt", "def x(): pass\n")
    assert await editor.actions("notes.txt", 0) == []


async def test_commands_for_clients_without_literals_and_no_tags_undeclared(editor):
    await editor.start(without(EVERYTHING, "textDocument.codeAction"))
    actions = await editor.actions()
    assert [action["command"] for action in actions] == ["greenloop.refine", "greenloop.runTest"]
    assert not any("kind" in action for action in actions)


async def test_in_files_with_syntax_errors(editor):
    await editor.start()
    editor.change("test_m.py", "def (\n\nclass TestA:\n    def test_a(self):\n        assert 1 ==\n\n  x = ((\n")
    assert titles(await editor.actions(line=4)) == ["Refine until tests pass: test_a", "Run in the sandbox: test_a"]


async def test_on_a_diagnostic_of_ours_it_is_attached(editor):
    await editor.start(model="play:stuck")
    await editor.action("Refine")
    await unsolved(editor)
    shown = editor.shown("test_m.py")
    actions = await editor.actions(line=4, diagnostics=shown)
    assert [action.get("diagnostics") for action in actions if action["kind"] == "quickfix"] == [shown] * 2
    assert "isPreferred" not in {key for action in actions for key in action}


async def test_after_a_result(editor):
    await editor.start()
    await editor.action("Refine")
    await editor.told("Fixed: ")
    later = ["Show attempts: test_double", "Run in the sandbox: test_double", "Discard attempts: test_double"]
    first = ["Open the changed double", "Refine until tests pass: test_double"]
    assert titles(await editor.actions()) == [*first, *later]
    later[1] = "Run in the sandbox: double"
    improve = [f"Improve while tests pass ({words}): double" for words in ("faster", "less memory")]
    improved = [improve[0], *later[:2], improve[1], "Refine until tests pass: double", later[2]]
    assert titles(await editor.actions("m.py", 1)) == improved
    await editor.action("Discard")
    assert titles(await editor.actions("m.py", 1)) == ["Refine until tests pass: double"]


async def test_where_a_failure_stands_in_another_function_it_is_about_the_test(editor):
    await editor.start(model="play:stuck")
    await editor.action("Refine")
    await unsolved(editor)
    (failing,) = [item for item in editor.shown("test_m.py") if item["severity"] == 1]
    line = failing["range"]["start"]["line"]
    editor.change("test_m.py", editor.text("test_m.py").replace("def test_double():", "def helper():"))
    assert await editor.actions(line=line) == []
    offered = await editor.actions(line=line, diagnostics=[failing])
    commands = {each["command"]["command"]: each["command"]["arguments"] for each in offered}
    assert commands["greenloop.refine"] == [{"uri": editor.uri("test_m.py"), "test": "test_m.py::test_double"}]
    assert commands["greenloop.showAttempts"][0]["target"] == "test_m.py::test_double"


@pytest.mark.parametrize(("severity", "attached"), [(1, True), (None, True), (2, False)])
async def test_errors_of_others_at_a_test_are_attached(editor, severity, attached):
    await editor.start()
    where = {"start": {"line": 4, "character": 4}, "end": {"line": 4, "character": 10}}
    foreign = {"range": where, "message": "AssertionError", "source": "pytest"} | (
        {"severity": severity} if severity else {}
    )
    (first, _run) = await editor.actions(line=4, diagnostics=[foreign])
    assert (first["kind"], first.get("diagnostics")) == ("quickfix", [foreign] if attached else None)
    (function,) = await editor.actions("m.py", 1, diagnostics=[foreign])
    assert (function["kind"], "diagnostics" in function) == ("refactor.rewrite", False)


@pytest.mark.parametrize(
    ("source", "only", "count"),
    [("mypy", None, 1), ("Pylance", ["quickfix"], 1), ("mypy", ["refactor"], 0), ("Ruff", None, 0)],
)
async def test_an_error_of_a_type_checker_has_an_action(editor, source, only, count):
    await editor.start()
    at = {"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 8}}
    error = {"message": "Incompatible return value type", "source": source, "severity": 1, "range": at}
    actions = await editor.actions("m.py", 1, only, diagnostics=[error])
    found = [each for each in actions if "type-checks" in each["title"]]
    assert len(found) == count
    assert len([each for each in actions if each["kind"] in ("quickfix", "refactor.rewrite")]) <= 2
    for action in found:
        assert (action["title"], action["kind"]) == ("Refine until it type-checks: m.py", "quickfix")
        assert action["diagnostics"] == [error]
        assert action["command"]["arguments"] == [{"uri": editor.uri("m.py"), "test": "types:m.py:2"}]


async def test_a_type_error_is_refined_at_its_line(editor):
    await editor.start()
    assert (await editor.call("greenloop/refine", {"uri": editor.uri("m.py"), "test": "types:m.py:2"}))["solved"]
    assert (await editor.state())["calls"] == ["types:m.py:2"]


async def test_show_attempts_opens_a_report(editor):
    editor.answers["window/showDocument"] = {"success": True}
    await editor.start(model="play:stuck")
    await editor.action("Refine")
    await editor.told("not solved")
    await editor.action("Show attempts")
    shown = await editor.wait(lambda m: m.get("method") == "window/showDocument")
    report = read(shown["params"]["uri"])
    assert "## Attempt 1" in report
    assert "return x * 3" in report
    assert "AssertionError" in report


async def test_what_a_function_s_run_offers_at_its_test_works_there(editor):
    await editor.start(without(EVERYTHING, "window.showDocument"), model="play:stuck")
    await editor.call("greenloop/refine", {"uri": editor.uri("m.py"), "position": {"line": 0, "character": 4}})
    await editor.action("Show attempts: double")
    await editor.told("The attempts are in ")
    await editor.action("Discard attempts: double")
    assert titles(await editor.actions()) == [
        "Refine until tests pass: test_double",
        "Run in the sandbox: test_double",
    ]


async def test_show_attempts_names_the_file_where_it_cannot_be_shown(editor):
    await editor.start(without(EVERYTHING, "window.showDocument"), model="play:stuck")
    await editor.action("Refine")
    await editor.told("not solved")
    await editor.action("Show attempts")
    await editor.told("The attempts are in ")


async def test_commands_without_anything_to_do(editor):
    await editor.start()
    assert await editor.execute("greenloop.cancel") == 0
    await editor.execute("greenloop.apply", {"uri": editor.uri("m.py")})
    await editor.execute("greenloop.discard")
    await editor.execute("greenloop.showAttempts", {"uri": editor.uri("m.py")})
    await editor.told("There are no attempts here")


async def test_discard_clears_the_diagnostics(editor):
    await editor.start(model="play:stuck")
    await editor.action("Refine")
    await unsolved(editor)
    assert editor.shown("test_m.py")
    await editor.action("Discard")
    await editor.diagnosed(lambda items: not items)


async def test_one_run_for_a_target(editor):
    await editor.start(model="play:hold")
    for _ in range(3):
        await editor.execute(
            "greenloop.refine", {"uri": editor.uri("test_m.py"), "position": {"line": 3, "character": 0}}
        )
    await editor.under_way()
    assert (await editor.state())["calls"] == ["test_m.py::test_double"]


@pytest.mark.story("the embedded model is fetched on request")
async def test_a_run_without_a_model_begins_unasked_and_offers_a_download_at_its_end(modelless):
    modelless.answers["window/showMessageRequest"] = {"title": "Download (1.1 GB)"}
    await modelless.start(model="")
    await modelless.action("Refine")
    await modelless.told("That needs a model: ")
    await modelless.told("The embedded model is ready.")
    await modelless.told("Fixed: ")
    assert len([m for m in modelless.got("window/showMessageRequest") if m["message"].startswith("Download")]) == 1
    assert len((await modelless.state())["calls"]) == 2


async def test_without_a_model_and_an_answer_the_run_is_over(modelless):
    modelless.answers["window/showMessageRequest"] = None
    await modelless.start(model="")
    await modelless.action("Refine")
    await modelless.told("greenloop model pull")
    await modelless.call("test/settled")
    assert len((await modelless.state())["calls"]) == 1


@pytest.mark.parametrize("client", [{"capabilities": without(EVERYTHING, "window")}, {"client": "Neovim"}])
async def test_without_a_model_a_client_that_cannot_be_asked_reads_the_choices(modelless, client):
    await modelless.start(**client, model="")
    await modelless.action("Refine")
    await modelless.told("greenloop model pull")
    await modelless.action("Download the embedded model (1.1 GB)")
    await modelless.told("The embedded model is ready.")
    assert not modelless.got("window/showMessageRequest")
