"""A client with views of its own: runs, attempts, reports, choices, refusals and reviews as messages."""

import json

import pytest

from greenloop.lsp.features.runs import INTERVAL
from greenloop.plugins.embedded import catalogue

from .conftest import EVERYTHING, FILES, without
from .test_presentation import target

TEST = "test_m.py::test_double"


def able(*names, base=EVERYTHING):
    return {**base, "experimental": {"greenloop": dict.fromkeys(names, True)}}


def named(editor, **more):
    return {"uri": editor.uri("test_m.py"), "target": TEST, **more}


async def shown(editor, holds):
    """The first notification of runs whose newest run is such."""
    message = await editor.wait(
        lambda m: m.get("method") == "greenloop/runs" and m["params"]["runs"] and holds(m["params"]["runs"][0]),
        "such runs",
    )
    return message["params"]["runs"][0]


async def emptied(editor):
    """Waits until the newest notification of runs has none."""
    await editor.wait(lambda _m: not editor.got("greenloop/runs")[-1]["runs"], "no runs")


async def refused_request(editor, method, params):
    reply = await editor.reply(editor.request(method, params))
    assert reply["error"]["code"] == -32602
    return reply["error"]["message"]


# -- runs ---------------------------------------------------------------------------------------------------------


@pytest.mark.story("every attempt can be seen")
async def test_every_run_is_told_from_its_start_to_its_end(editor):
    await editor.start(able("runs"), model="play:hold")
    number = editor.request("greenloop/refine", target(editor))
    run = await shown(editor, lambda run: len(run["attempts"]) == 2)
    assert (run["uri"], run["target"], run["name"]) == (editor.uri("test_m.py"), TEST, "test_double")
    assert (run["phase"], run["limit"], run["solved"], run["offered"]) == ("refining", 5, False, False)
    own, first = run["attempts"]
    assert (own["attempt"], own["parent"], own["model"], own["tokens"]) == (0, None, "", 0)
    assert (first["attempt"], first["parent"], first["model"], first["tokens"]) == (1, 0, "play", 320)
    assert (first["status"], first["passed"], first["total"]) == ("failed", 0, 1)
    assert (first["errorClass"], first["message"]) == ("AssertionError", "assert 15 == 10")
    assert (first["seconds"], first["cost"]) == (1.1, 0.0)
    await editor.call("test/go")
    await editor.reply(number)
    run = await shown(editor, lambda run: run["phase"] == "over")
    assert (run["solved"], run["applied"], run["offered"], run["result"]) == (True, True, False, 2)
    assert run["said"] == "verified, applied"
    await editor.execute("greenloop.discard", named(editor))
    await emptied(editor)


async def test_a_fresh_server_knows_none(editor):
    await editor.start(able("runs"))
    await editor.wait(lambda m: m.get("method") == "greenloop/runs", "runs")
    assert editor.got("greenloop/runs")[0] == {"runs": []}


async def test_tokens_come_seldom_and_the_last_state_always(editor):
    await editor.start(able("runs"), model="play:flood")
    number = editor.request("greenloop/refine", target(editor))
    run = await shown(editor, lambda run: run["said"] == "writing, 2000 tokens")
    assert len(editor.got("greenloop/runs")) < 10 + run["seconds"] / INTERVAL
    await editor.call("test/go")
    await editor.reply(number)
    await shown(editor, lambda run: run["phase"] == "over")


async def test_a_result_that_is_taken_back_is_offered_again(editor):
    await editor.start(able("runs"))
    await editor.call("greenloop/refine", target(editor))
    await shown(editor, lambda run: run["applied"])
    editor.change("m.py", FILES["m.py"])
    await shown(editor, lambda run: run["offered"] and not run["applied"])


async def test_a_refused_and_a_cancelled_run_are_told_too(editor):
    await editor.start(able("runs"), model="play:refuse")
    await editor.call("greenloop/refine", target(editor))
    run = await shown(editor, lambda run: run["phase"] == "over")
    assert (run["said"], run["attempts"]) == ("No sandbox can be used here. Install bubblewrap.", [])


async def test_a_green_target_is_called_so(editor):
    await editor.start(able("runs"), model="play:green")
    await editor.call("greenloop/refine", target(editor))
    assert (await shown(editor, lambda run: run["phase"] == "over"))["said"] == "already passes"


async def test_cancelling_is_told(editor):
    await editor.start(able("runs"), model="play:hold")
    editor.request("greenloop/refine", target(editor))
    await shown(editor, lambda run: len(run["attempts"]) == 2)
    await editor.execute("greenloop.cancel", named(editor))
    assert (await shown(editor, lambda run: run["phase"] == "over"))["cancelled"]


async def test_who_declared_nothing_gets_nothing(editor):
    await editor.start(able())
    await editor.call("greenloop/refine", target(editor))
    await editor.call("test/settled")
    assert [m["method"] for m in editor.inbox if m and m.get("method", "").startswith("greenloop/")] == []


# -- attempts and reports -----------------------------------------------------------------------------------------


async def test_an_attempt_as_it_would_leave_the_text_now(editor):
    await editor.start(able(), model="play:stuck")
    await editor.call("greenloop/refine", target(editor))
    await editor.call("greenloop/refine", target(editor))
    editor.change("m.py", "# typed since\n" + FILES["m.py"])
    found = await editor.call("greenloop/attempt", named(editor, attempt=1))
    assert found == {
        "files": [{"uri": editor.uri("m.py"), "text": "# typed since\ndef double(x):\n    return x * 3\n"}]
    }
    own = await editor.call("greenloop/attempt", named(editor, attempt=0))
    assert own == {"files": [{"uri": editor.uri("m.py"), "text": FILES["m.py"]}]}


async def test_line_ends_are_those_of_the_text(editor, project):
    (project / "m.py").write_bytes(FILES["m.py"].replace("\n", "\r\n").encode())
    await editor.start(able(), model="play:stuck")
    await editor.call("greenloop/refine", target(editor))
    (found,) = (await editor.call("greenloop/attempt", named(editor, attempt=1)))["files"]
    assert found["text"] == "def double(x):\r\n    return x * 3\r\n"


async def test_where_the_same_lines_were_typed_in_it_is_the_attempts_own_text(editor):
    await editor.start(able(), model="play:stuck")
    await editor.call("greenloop/refine", target(editor))
    editor.change("m.py", "def double(x):\n    return x + x + 0\n")
    (found,) = (await editor.call("greenloop/attempt", named(editor, attempt=1)))["files"]
    assert found["text"] == "def double(x):\n    return x * 3\n"


@pytest.mark.story("every attempt can be seen")
async def test_the_result_has_all_files_that_it_would_change(editor):
    await editor.start(able("review"), model="play:tests", apply="ask")
    await editor.call("greenloop/refine", target(editor))
    found = await editor.call("greenloop/attempt", named(editor, attempt=2))
    names = [each["uri"].rpartition("/")[2] for each in found["files"]]
    assert sorted(names) == ["m.py", "test_m.py", "test_new.py"]
    (other,) = (await editor.call("greenloop/attempt", named(editor, attempt=1)))["files"]
    assert "x * 3" in other["text"]
    own = await editor.call("greenloop/attempt", named(editor, attempt=0))
    assert sorted(each["text"] for each in own["files"]) == ["", FILES["m.py"], FILES["test_m.py"]]


async def test_an_answer_without_code_changes_nothing(editor):
    await editor.start(able(), model="play:unreadable")
    await editor.call("greenloop/refine", target(editor))
    assert await editor.call("greenloop/attempt", named(editor, attempt=1)) == {"files": []}


@pytest.mark.parametrize("attempt", [7, -1, "last", None])
async def test_an_attempt_that_there_is_not(editor, attempt):
    await editor.start(able(), model="play:stuck")
    await editor.call("greenloop/refine", target(editor))
    assert "attempt" in await refused_request(editor, "greenloop/attempt", named(editor, attempt=attempt))


async def test_where_nothing_was_tried(editor):
    await editor.start(able())
    said = "There are no attempts here."
    assert await refused_request(editor, "greenloop/attempt", named(editor, attempt=1)) == said
    assert await refused_request(editor, "greenloop/report", named(editor)) == said


async def test_the_report_is_the_page(editor):
    await editor.start(able(), model="play:stuck")
    await editor.call("greenloop/refine", target(editor))
    text = (await editor.call("greenloop/report", named(editor)))["markdown"]
    assert "# `test_m.py::test_double`\n\n`not solved (attempts)`\n" in text
    assert "+    return x * 3" in text


# -- choices ------------------------------------------------------------------------------------------------------


async def test_choices_wait_for_the_settings_of_an_editor_that_has_just_started(editor):
    """The first command of a user may be what starts the editor's extension."""
    editor.answers["workspace/configuration"] = editor.SILENCE
    await editor.start(able())
    asked = await editor.wait(lambda m: m.get("method") == "workspace/configuration", "a question for settings")
    number = editor.request("greenloop/choices")
    editor.send({"id": asked["id"], "result": [{"model": "play:other"} for _ in asked["params"]["items"]]})
    assert (await editor.reply(number))["result"]["model"] == "play:other"


async def test_what_can_be_chosen(editor):
    await editor.start(able("model"), preset="plain")
    found = await editor.call("greenloop/choices")
    models = {each["name"]: each["about"] for each in found["models"]}
    assert [name for name in models if not name.startswith("local/")][:2] == ["local", "editor"]
    assert "nothing leaves it" in models["local"]
    assert "play:solve" in models
    presets = {each["name"]: each["about"] for each in found["presets"]}
    assert next(iter(presets)) == "default"
    assert "self-critique" not in presets, "it is for the harness only"
    assert all(presets.values())
    assert {each["needs"] for each in found["models"]} <= {"", "pull", "install"}
    assert (found["model"], found["preset"], found["hasModel"]) == ("play:solve", "plain", True)
    assert (await editor.state())["modules"] == []


@pytest.fixture
def another_model(tmp_path, monkeypatch):
    """An embedded model other than the default, as a file without contents."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    model = catalogue.find("qwen2.5-coder-7b")
    with (catalogue.folder() / model.file).open("wb") as file:
        file.truncate(model.size)
    return model.setting


async def test_an_embedded_model_that_was_downloaded_can_be_chosen(another_model, editor):
    pytest.importorskip("xllamacpp")
    await editor.start(able(), model="")
    needs = {each["name"]: each["needs"] for each in (await editor.call("greenloop/choices"))["models"]}
    assert (needs["local"], needs[another_model]) == ("pull", "")
    assert "local/granite-4.0-micro" not in needs


async def test_without_a_model_of_the_editors_own_none_is_offered(editor):
    await editor.start(able(), model="")
    found = await editor.call("greenloop/choices", {"uri": editor.uri("m.py")})
    assert "editor" not in [each["name"] for each in found["models"]]
    assert (found["model"], found["preset"], found["hasModel"]) == ("", "default", False)


# -- refusals -----------------------------------------------------------------------------------------------------


async def refusal(editor):
    return (await editor.wait(lambda m: m.get("method") == "greenloop/refused", "a refusal"))["params"]


async def test_a_refusal_comes_with_its_cure_in_place_of_a_message(editor):
    await editor.start(able("refusals"), model="play:refuse")
    await editor.call("greenloop/refine", target(editor))
    assert await refusal(editor) == named(
        editor, reason="cannot-verify", message="No sandbox can be used here.", remedy="Install bubblewrap."
    )
    await editor.diagnosed(lambda items: [item["code"] for item in items] == ["cannot-verify"])
    assert editor.got("window/showMessage") == []


async def test_a_server_at_fault(editor):
    await editor.start(able("refusals"), model="play:crash")
    await editor.call("greenloop/refine", target(editor))
    found = await refusal(editor)
    assert (found["reason"], found["remedy"]) == ("failed", "")
    assert "greenloop.showLog" in found["message"]
    assert editor.got("window/showMessage") == []


async def test_what_could_not_even_begin(editor):
    await editor.start(able("refusals"))
    here = {"uri": editor.uri("test_m.py"), "position": {"line": 1, "character": 0}}
    assert await editor.execute("greenloop.refine", here) is None
    found = await refusal(editor)
    assert found == {
        "uri": editor.uri("test_m.py"),
        "reason": "usage",
        "message": "There is no test or function here.",
        "remedy": "",
    }
    assert "no test or function" in await refused_request(editor, "greenloop/refine", here)


async def test_others_get_the_message_as_ever(editor):
    await editor.start(able("runs"), model="play:refuse")
    await editor.call("greenloop/refine", target(editor))
    await editor.told("No sandbox can be used here. Install bubblewrap.")
    assert editor.got("greenloop/refused") == []


# -- review -------------------------------------------------------------------------------------------------------


@pytest.mark.story("the setting apply decides")
async def test_a_review_takes_the_place_of_the_question(editor):
    await editor.start(able("review", "runs"), apply="ask")
    reply = await editor.call("greenloop/refine", target(editor))
    assert (reply["solved"], reply["applied"]) == (True, False)
    told = await editor.wait(lambda m: m.get("method") == "greenloop/review", "a review")
    assert told["params"] == named(editor, attempt=2)
    await shown(editor, lambda run: run["offered"])
    for method in ("window/showMessageRequest", "window/showDocument", "window/showMessage", "workspace/applyEdit"):
        assert editor.got(method) == []
    await editor.execute("greenloop.apply", named(editor))
    await shown(editor, lambda run: run["applied"])
    assert editor.text("m.py") == "def double(x):\n    return x * 2\n"


async def test_a_review_can_be_discarded(editor):
    await editor.start(able("review", "runs"), apply="ask")
    await editor.call("greenloop/refine", target(editor))
    await editor.wait(lambda m: m.get("method") == "greenloop/review", "a review")
    await editor.execute("greenloop.discard", named(editor))
    await emptied(editor)
    assert editor.text("m.py") == FILES["m.py"]


async def test_what_needs_no_review_has_none(editor):
    await editor.start(able("review"), model="play:partial", apply="ask")
    await editor.call("greenloop/refine", target(editor))
    await editor.told("Not applied automatically")
    assert editor.got("greenloop/review") == []


async def test_a_client_without_dialogues_can_review(editor):
    await editor.start(able("review", base=without(EVERYTHING, "window")), apply="ask")
    await editor.call("greenloop/refine", target(editor))
    told = await editor.wait(lambda m: m.get("method") == "greenloop/review", "a review")
    assert json.dumps(told["params"])


# -- commands at a position ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["greenloop.runTest", "greenloop.refineAll"])
async def test_tests_are_run_at_a_position(editor, command):
    await editor.start(able())
    at = {"uri": editor.uri("test_m.py"), "position": {"line": 4, "character": 0}}
    await editor.execute(command, at)
    await editor.told("1 of 1 test fails" if command.endswith("All") else "1 failed")
    assert f"tests {TEST}" in (await editor.state())["calls"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"position": {"line": 1, "character": 0}}, "There is no test or function here."),
        ({"position": {"line": "x", "character": 0}}, "line"),
        ({"position": 3}, "Expected one object"),
        ({"position": {"line": 4, "character": 0}, "target": TEST}, "At most one"),
    ],
)
async def test_a_position_without_a_test(editor, more, why):
    await editor.start(able())
    params = {"command": "greenloop.runTest", "arguments": [{"uri": editor.uri("test_m.py"), **more}]}
    assert why in await refused_request(editor, "workspace/executeCommand", params)
