"""What an editor shows: diagnostics, hover, progress, settings' warnings."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.attempt import Finding
from greenloop.lsp.state.run import Phase
from project_files import write_files

from .conftest import EVERYTHING, FILES, without
from .in_process_server import InProcessServer


def target(editor):
    return {"uri": editor.uri("test_m.py"), "position": {"line": 3, "character": 0}}


async def unsolved(editor, **options):
    await editor.start(**{"model": "play:stuck", **options})
    await editor.call("greenloop/refine", target(editor))


async def test_a_test_that_is_not_there_is_named_as_it_was_asked_for(editor):
    await editor.start(without(EVERYTHING, "window.workDoneProgress"))
    await editor.execute("greenloop.refine", {"uri": editor.uri("test_m.py"), "test": "test_m.py::test_gone[1]"})
    await editor.told("Refining test_gone[1] until its tests pass")


@pytest.mark.story("every attempt can be seen")
async def test_each_failing_case_at_its_line(editor):
    await unsolved(editor)
    case, summary = editor.shown("test_m.py")
    assert case == {
        "range": {"start": {"line": 4, "character": 4}, "end": {"line": 4, "character": 26}},
        "severity": 1,
        "code": "AssertionError",
        "source": "greenloop attempt 1/5",
        "message": "test_double: AssertionError: assert 15 == 10\nexpected 10, observed 15",
        "relatedInformation": [
            {
                "location": {
                    "uri": editor.uri("test_m.py"),
                    "range": {"start": {"line": 4, "character": 4}, "end": {"line": 4, "character": 26}},
                },
                "message": "test_double",
            }
        ],
    }
    assert (summary["source"], summary["severity"], summary["range"]["start"]["line"]) == ("greenloop", 2, 3)
    assert [item["message"] for item in summary["relatedInformation"]] == [
        "your code: 0/1 passed, AssertionError: assert 6 == 10",
        "attempt 1: 0/1 passed, AssertionError: assert 15 == 10",
    ]


@pytest.mark.story("a faked pass is named")
async def test_a_faked_pass_is_shown_with_the_reason(editor):
    await unsolved(editor, model="play:tampered")
    why = "Tampered: test_m.py::test_double does not fail as it must."
    case, summary = editor.shown("test_m.py")
    assert (case["code"], case["message"]) == ("Tampered", f"test_double: {why}")
    assert summary["relatedInformation"][1]["message"] == f"attempt 1: tampered, {why}"
    value = (await editor.hover())["value"]
    assert "`attempt 1 tampered with the tests: test_m.py::test_double does not fail as it must.`" in value
    assert "| tampered " in value
    assert "Liar" not in value  # it is nobody's best attempt
    assert "verified" not in value


async def test_the_summary_holds_the_lines_where_related_information_is_not_declared(editor):
    await editor.start(without(EVERYTHING, "textDocument.publishDiagnostics"), model="play:stuck")
    await editor.call("greenloop/refine", target(editor))
    case, summary = editor.shown("test_m.py")
    assert "relatedInformation" not in case
    assert "attempt 1: 0/1 passed, AssertionError" in summary["message"]


async def test_a_line_that_only_the_attempt_has_is_never_shown_as_the_users(editor):
    """It failed inside the attempt's own new code: the deepest line of the user's own text is the test's."""
    await unsolved(editor, model="play:candidate")
    assert not editor.shown("m.py")
    case = editor.shown("test_m.py")[0]
    assert case["range"]["start"]["line"] == 4
    assert case["relatedInformation"][1]["location"]["uri"] == editor.uri("m.py")
    assert case["relatedInformation"][1]["message"] == "test_double (m.py:2 of attempt 1)"
    assert case["message"].endswith("\nat m.py:2 of attempt 1")


@pytest.mark.story("diagnostics stand at their lines")
async def test_they_follow_what_is_typed(editor):
    await editor.start(model="play:hold")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.change("test_m.py", "import os\n\n" + FILES["test_m.py"])
    await editor.execute("greenloop.cancel", {"uri": "file:///nothing"})
    # A file that is opened anew shows them where they are now.
    editor.open("test_m.py", editor.text("test_m.py"))
    items = await editor.diagnosed(lambda items: any(item["range"]["start"]["line"] == 6 for item in items))
    assert sorted(item["range"]["start"]["line"] for item in items) == [5, 6]
    await editor.call("test/go")
    await editor.reply(number)


async def test_they_go_with_their_line_and_come_back_no_sooner_than_it(editor):
    await editor.start(model="play:hold")
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.change("test_m.py", "from m import double\n")
    await editor.diagnosed(lambda items: not items)
    await editor.execute("greenloop.showAttempt", {"uri": editor.uri("m.py"), "attempt": 1})
    assert editor.shown() == []
    await editor.call("test/go")
    await editor.reply(number)
    assert editor.shown() == []


async def test_an_attempt_is_placed_in_the_text_as_it_is_now(editor):
    """The text moved on after the run began: what is published anew counts in the new one."""
    await unsolved(editor)
    editor.change("test_m.py", "import os\n\n" + FILES["test_m.py"].replace("== 10", "== 10  # ten"))
    await editor.execute("greenloop.showAttempt", {"uri": editor.uri("m.py"), "attempt": 0})
    case, summary = editor.shown()
    assert case["range"] == {"start": {"line": 6, "character": 4}, "end": {"line": 6, "character": 33}}
    assert summary["range"]["start"]["line"] == 5


async def test_a_target_that_is_gone_has_nothing_to_show(editor):
    await unsolved(editor)
    text = editor.text("test_m.py")
    editor.change("test_m.py", text.replace("    assert double(5) == 10\n", "    print()\n"))
    await editor.execute("greenloop.showAttempt", {"uri": editor.uri("m.py"), "attempt": 0})
    case, _summary = editor.shown()
    assert case["range"]["start"]["line"] == 3, "the line is gone, its test is not"
    assert case["message"].endswith("\nat test_m.py:5 of your code as it was")
    editor.change("test_m.py", "from m import double\n\n\ndef test_other():\n    assert True\n")
    await editor.execute("greenloop.showAttempt", {"uri": editor.uri("m.py"), "attempt": 0})
    assert editor.shown() == []
    editor.change("test_m.py", text)
    await editor.execute("greenloop.showAttempt", {"uri": editor.uri("m.py"), "attempt": 1})
    assert [item["range"]["start"]["line"] for item in editor.shown()] == [4, 3]


async def test_what_was_typed_and_never_saved_counts_no_more_after_the_close(editor):
    await unsolved(editor)
    editor.change("test_m.py", "import os\n\n" + FILES["test_m.py"])
    await editor.state()
    assert [item["range"]["start"]["line"] for item in editor.shown()] == [6, 5]
    editor.notify("textDocument/didClose", {"textDocument": {"uri": editor.uri("test_m.py")}})
    await editor.state()
    assert [item["range"]["start"]["line"] for item in editor.shown()] == [4, 3]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("workspace/didRenameFiles", lambda uri: {"files": [{"oldUri": uri, "newUri": uri + "x"}]}),
        ("workspace/didDeleteFiles", lambda uri: {"files": [{"uri": uri}]}),
    ],
)
async def test_a_file_that_was_renamed_or_deleted_shows_nothing(editor, method, params):
    await unsolved(editor)
    for folder in ("", "test_m.py"):
        editor.notify(method, params(editor.uri(folder).rstrip("/")))
        await editor.state()
        assert editor.shown() == []
        await editor.execute("greenloop.showAttempt", {"uri": editor.uri("m.py"), "attempt": 0})
        assert editor.shown()


async def test_a_file_that_changed_beside_the_editor(editor, project):
    watching = {**EVERYTHING["workspace"], "didChangeWatchedFiles": {"dynamicRegistration": True}}
    await editor.start({**EVERYTHING, "workspace": watching}, opened=("m.py",), model="play:stuck")
    asked = await editor.wait(lambda m: m.get("method") == "client/registerCapability", "a registration")
    assert asked["params"]["registrations"][0]["registerOptions"]["watchers"] == [{"globPattern": "**/*.py"}]
    await editor.call("greenloop/refine", target(editor))
    (project / "test_m.py").write_text("import os\n" + FILES["test_m.py"])
    change = {"uri": editor.uri("test_m.py"), "type": 2}
    editor.notify("workspace/didChangeWatchedFiles", {"changes": [change]})
    await editor.state()
    assert [item["range"]["start"]["line"] for item in editor.shown()] == [5, 4]
    (project / "test_m.py").unlink()
    editor.notify("workspace/didChangeWatchedFiles", {"changes": [{**change, "type": 3}]})
    await editor.state()
    assert editor.shown() == []


# -- refusals -----------------------------------------------------------------------------------------------------


def refusal(editor, name="test_m.py"):
    """The only diagnostic of a file: what it says, where, and how much of it."""
    (item,) = editor.shown(name)
    assert (item["severity"], item["source"]) == (3, "greenloop")
    return item["code"], item["message"], item["range"]["start"]["line"]


@pytest.mark.story("a refusal is a sentence with a remedy")
@pytest.mark.parametrize(
    ("model", "code", "message"),
    [
        ("play:refuse", "cannot-verify", "No sandbox can be used here. Install bubblewrap."),
        ("play:green", "already-green", "test_double already passes"),
        ("play:crash", "failed", "Refining test_double failed unexpectedly"),
    ],
)
async def test_a_refusal_stands_at_the_target_until_the_next_run(editor, model, code, message):
    await unsolved(editor, model=model)
    found = refusal(editor)
    assert (found[0], found[2]) == (code, 3)
    assert found[1].startswith(message)
    await unsolved_with(editor)
    assert [item["source"] for item in editor.shown()] == ["greenloop attempt 1/5", "greenloop"]


async def test_a_refusal_follows_its_target_and_goes_with_it(editor):
    await unsolved(editor, model="play:refuse")
    editor.change("test_m.py", "import os\n\n" + FILES["test_m.py"])
    await editor.state()
    assert refusal(editor)[2] == 5
    editor.change("test_m.py", "import os\n")
    await editor.state()
    assert editor.shown() == []


async def test_a_refusal_is_discarded_like_attempts(editor):
    await unsolved(editor, model="play:refuse")
    await editor.action("Discard attempts: test_double")
    assert editor.shown() == []


async def test_without_a_model_the_remedy_stands_at_the_target(modelless):
    await modelless.start(model="")
    await modelless.call("greenloop/refine", target(modelless))
    (item,) = [item for item in modelless.shown("test_m.py") if item["code"] == "model"]
    assert (item["severity"], item["range"]["start"]["line"]) == (3, 3)
    need = "test_double is not solved: That needs a model: none is configured, and none was found. Run `"
    assert item["message"].startswith(need)


@pytest.mark.story("a refusal is a sentence with a remedy")
async def test_a_project_that_is_too_wide_is_an_information_and_invalid_params(editor, tmp_path, monkeypatch):
    await editor.start(opened=())
    (tmp_path / "home").mkdir()
    here = Path.home() / f"greenloop-{tmp_path.name}.py"
    editor.root = here.parent
    editor.open(here.name, "import os\n\n\ndef f():\n    return 1\n")
    params = {"uri": editor.uri(here.name), "position": {"line": 4, "character": 0}}
    reply = await editor.reply(editor.request("greenloop/refine", params))
    assert reply["error"]["code"] == -32602
    code, message, line = refusal(editor, here.name)
    assert (code, message, line) == ("usage", reply["error"]["message"], 3)
    await editor.execute("greenloop.discard", {"uri": editor.uri(here.name)})
    assert editor.shown(here.name) == []


async def test_of_very_many_failing_cases_the_first_are_shown(editor):
    await unsolved(editor, model="play:many")
    sources = [item["source"] for item in editor.shown()]
    assert sources == ["greenloop attempt 1/5"] * 100 + ["greenloop"]
    assert editor.shown()[-1]["relatedInformation"][1]["message"].startswith("attempt 1: 0/300 passed")


async def test_where_there_is_nothing_to_refine_nothing_is_shown(editor):
    await editor.start()
    params = {"uri": editor.uri("test_m.py"), "position": {"line": 1, "character": 0}}
    reply = await editor.reply(editor.request("greenloop/refine", params))
    assert reply["error"] == {"code": -32602, "message": "There is no test or function here."}
    assert editor.shown() == []


async def test_a_new_run_clears_the_old_ones(editor):
    await unsolved(editor)
    assert editor.shown("test_m.py")
    await editor.call("greenloop/refine", target(editor))
    sources = [item["source"] for item in editor.shown("test_m.py")]
    assert sources == ["greenloop attempt 1/5", "greenloop"]


@pytest.mark.story("every attempt can be seen")
async def test_hover_is_the_history(editor):
    await editor.start()
    assert await editor.hover() is None
    await editor.call("greenloop/refine", target(editor))
    on_function = await editor.hover()
    on_test = await editor.hover("test_m.py", 3)
    assert on_function == on_test
    assert on_function["kind"] == "markdown"
    rows = [line for line in on_function["value"].splitlines() if line.startswith("|")]
    assert len({len(row) for row in rows}) == 1, "the table reads well raw"
    assert [re.split(r"\s*\|\s*", row)[1:4] for row in rows[2:]] == [
        ["0", "your code", "failed 0/1"],
        ["1", "`play`", "failed 0/1"],
        ["2", "`play`", "passed 1/1"],
    ]
    assert "+    return x * 2" in on_function["value"]
    assert "Tests: 1 written by you." in on_function["value"]
    assert "Verified in play: 1/1 target tests pass, no other tests affected (3 checked)" in on_function["value"]


async def test_hover_in_plain_text(editor):
    await editor.start(without(EVERYTHING, "textDocument.hover"))
    await editor.call("greenloop/refine", target(editor))
    hover = await editor.hover()
    assert hover["kind"] == "plaintext"
    assert "```" not in hover["value"]
    assert "**" not in hover["value"]
    assert "| attempt |" in hover["value"]


async def test_hover_is_the_same_inside_bodies(editor):
    await editor.start()
    await editor.call("greenloop/refine", target(editor))
    assert await editor.hover("m.py", 1) == await editor.hover("m.py", 0)


@pytest.mark.story("text of a model is never more than text")
async def test_foreign_text_is_fenced_and_clean(editor):
    await unsolved(editor, model="play:controls")
    value = (await editor.hover())["value"]
    outside = re.sub(r"(`{3,})diff\n.*?\n\1", "", value, flags=re.DOTALL)
    outside = re.sub(r"`[^`]*`", "", outside)
    assert "![" not in outside
    assert "command:" not in outside
    shown = value + "".join(item["message"] for item in editor.shown("test_m.py"))
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", shown)
    rows = [line for line in value.splitlines() if line.startswith("| ")]
    assert {row.count("|") for row in rows} == {8}


@pytest.mark.story("every attempt can be seen")
async def test_progress_says_what_goes_on(editor):
    await editor.start(model="play:holdend")
    number = editor.request("greenloop/refine", target(editor))
    waiting = await editor.wait(
        lambda m: m.get("method") == "$/progress" and "waiting for go" in (m["params"]["value"].get("message") or "")
    )
    assert re.fullmatch(
        r"attempt 2/5 · waiting for go · 1/1 passed · 640 tokens · \d+ s", waiting["params"]["value"]["message"]
    )
    await editor.call("test/go")
    await editor.reply(number)
    kinds = [item["value"]["kind"] for item in editor.got("$/progress")]
    assert (kinds[0], kinds[-1]) == ("begin", "end")
    assert (await editor.state())["tokens"] == 0


async def test_what_is_to_come_stands_in_progress_and_hover_until_it_came(editor):
    await editor.start(model="play:foreseen")
    number = editor.request("greenloop/refine", target(editor))
    told = (
        "about 910 tokens (400 to 3200), 14 s (8 to 55); about 7 in 10 such runs are solved, based on 34 similar runs"
    )
    await editor.wait(lambda m: m.get("method") == "$/progress" and told in (m["params"]["value"].get("message") or ""))
    assert f"Estimate: {told}." in (await editor.hover())["value"]
    await editor.call("test/go")
    await editor.reply(number)
    assert "Estimate:" not in (await editor.hover())["value"]


async def test_progress_is_throttled_and_ends_with_the_newest(editor):
    await editor.start(model="play:flood")
    number = editor.request("greenloop/refine", target(editor))
    await editor.wait(lambda m: "2000 tokens" in str(m.get("params", {}).get("value")))
    # Five a second: two thousand events took far less than a few seconds.
    assert len(editor.got("$/progress")) < 40
    await editor.call("test/go")
    await editor.reply(number)


async def test_a_client_may_bring_its_own_progress_token(editor):
    await editor.start()
    await editor.call("greenloop/refine", {**target(editor), "workDoneToken": "mine"})
    assert not editor.got("window/workDoneProgress/create")
    assert {item["token"] for item in editor.got("$/progress")} == {"mine"}


# -- settings -----------------------------------------------------------------------------------------------------


async def test_bad_settings_are_told_once_and_never_fatal(editor):
    await editor.start(attempts="many", nonsense=1)
    await editor.told("Setting 'attempts' in the editor must be a whole number")
    assert (await editor.call("greenloop/refine", target(editor)))["solved"]
    assert len([m for m in editor.got("window/showMessage") if "nonsense" in m["message"]]) == 1


@pytest.mark.parametrize("options", [{"sandbox": {"kind": "docker"}}, {"sandbox.kind": "docker"}])
async def test_settings_are_nested_or_dotted(editor, options):
    await editor.start(attempts=3, **options)
    await unsolved_with(editor)
    assert editor.shown("test_m.py")[0]["source"].endswith("/3")


async def unsolved_with(editor):
    editor.notify("workspace/didChangeConfiguration", {"settings": {"greenloop": {"model": "play:stuck"}}})
    await editor.call("greenloop/refine", target(editor))


async def test_the_editors_configuration_is_pulled(editor):
    editor.answers["workspace/configuration"] = [{"attempts": 4, "model": "play:stuck", "preset": None}]
    await editor.start()
    await editor.wait(lambda m: m.get("method") == "workspace/configuration")
    await editor.call("greenloop/refine", target(editor))
    assert editor.shown("test_m.py")[0]["source"].endswith("/4")


async def test_others_settings_are_not_ours(editor):
    await editor.start()
    editor.notify("workspace/didChangeConfiguration", {"settings": {"python": {"attempts": 9}, "attempts": 9}})
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    assert (await editor.call("greenloop/refine", target(editor)))["solved"]
    assert not editor.got("window/showMessage")[:-1]


async def test_each_folder_is_a_project_of_its_own(editor, project):
    inner = project / "inner"
    inner.mkdir()
    write_files(inner, FILES)
    original = editor.call

    async def call(method, params=None):
        if method == "initialize":
            params["workspaceFolders"].append({"uri": inner.as_uri(), "name": "i"})
        return await original(method, params)

    editor.call = call
    await editor.start(opened=("inner/m.py", "inner/test_m.py"))
    position = {"line": 3, "character": 0}
    result = await editor.call("greenloop/refine", {"uri": editor.uri("inner/test_m.py"), "position": position})
    assert result["applied"]
    assert editor.text("inner/m.py").endswith("x * 2\n")


async def test_a_file_outside_every_folder_belongs_to_the_project_around_it(editor, tmp_path):
    other = tmp_path / "other"
    (other / "deep").mkdir(parents=True)
    (other / "pyproject.toml").write_text("")
    write_files(other, FILES)
    await editor.start(opened=())
    params = {"uri": (other / "test_m.py").as_uri(), "position": {"line": 3, "character": 0}}
    assert (await editor.call("greenloop/refine", params))["solved"]


def test_what_was_refused_unread_is_shown_only_while_there_is_hope_for_more(tmp_path, monkeypatch):
    inside = InProcessServer(tmp_path, FILES, EVERYTHING, monkeypatch)
    run = inside.run(number=3)
    run.attempts[3] = replace(run.attempts[3], finding=Finding(error_class="Repeated", message="As attempt 2."))
    assert run.shown_attempt.number == 3
    run.phase = Phase.OVER
    assert run.shown_attempt.number == 2
    run.view.chosen_attempt = 3
    assert run.shown_attempt.number == 3
