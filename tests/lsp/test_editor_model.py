"""`model = "editor"`: an editor that streams, that refuses, that never answers, that is cancelled; and one without."""

import asyncio
import json

import pytest

from .conftest import EVERYTHING, Editor
from .test_presentation import target
from .test_views import TEST, able, named, refusal, shown

COMPLETE = "greenloop/complete"
INFO = "greenloop/modelInfo"


def streaming(editor, *pieces, **reply):
    """An editor whose model says these pieces, and then replies."""

    def answer(params):
        for piece in pieces:
            editor.notify("greenloop/completing", {"id": params["id"], "text": piece})
        return {"text": "".join(pieces), "model": "copilot/gpt", "promptTokens": 30, "completionTokens": 5, **reply}

    editor.answers[COMPLETE] = answer


async def refine(editor, *abilities, **options):
    await editor.start(able("model", "runs", *abilities), **{"model": "editor", **options})
    return editor.request("greenloop/refine", target(editor))


def withdrawn(editor):
    return [params["id"] for params in editor.got("$/cancelRequest")]


def ids(editor):
    return [m["id"] for m in editor.inbox if m and m.get("method") == COMPLETE]


async def test_it_is_asked_streams_and_is_named(editor):
    streaming(editor, "x ", "* 2")
    await editor.reply(await refine(editor))
    (asked,) = editor.got(COMPLETE)
    assert asked == {
        "id": 1,
        "messages": [{"role": "system", "content": "You mend."}, {"role": "user", "content": "Double x."}],
        "maxTokens": 100,
        "temperature": 0.5,
    }
    assert (await editor.state())["answers"] == [["x * 2", "copilot/gpt", "stop", ["x ", "* 2"]]]
    run = await shown(editor, lambda run: run["phase"] == "over")
    assert run["solved"]
    assert [(each["model"], each["tokens"], each["cost"]) for each in run["attempts"][1:]] == [
        ("copilot/gpt", 35, None)
    ]
    assert withdrawn(editor) == []


async def test_what_it_does_not_tell_is_estimated(editor):
    streaming(editor, "x * 2", model="", promptTokens=None, completionTokens=None)
    await editor.reply(await refine(editor))
    run = await shown(editor, lambda run: run["phase"] == "over")
    assert run["attempts"][1]["model"] == "editor"
    assert run["attempts"][1]["tokens"] > 0


async def test_pieces_that_nobody_waits_for_do_no_harm(editor):
    streaming(editor, "x * 2")
    number = await refine(editor)
    for odd in ({"id": 99, "text": "late"}, {"id": 1}, {"id": None, "text": "x"}, None, [], {"id": 1, "text": 3}):
        editor.notify("greenloop/completing", odd)
    assert (await editor.reply(number))["result"]["solved"]


async def test_an_answer_ends_where_it_was_told_to(editor):
    streaming(editor, "x * 2STOP and more")
    await editor.reply(await refine(editor))
    assert (await editor.state())["answers"][0][0] == "x * 2"


async def test_an_endless_answer_is_cut_and_withdrawn(editor):
    def endless(params):
        for _ in range(2000):
            editor.notify("greenloop/completing", {"id": params["id"], "text": "word " * 10})
        return Editor.SILENCE

    editor.answers[COMPLETE] = endless
    await editor.reply(await refine(editor))
    ((text, model, finish, told),) = (await editor.state())["answers"]
    assert (model, finish) == ("editor", "length")
    assert text == "".join(told)
    assert 100 < len(text.split()) < 2000
    await editor.wait(lambda _m: withdrawn(editor) == ids(editor), "its end")


@pytest.mark.parametrize(
    "reply", [None, 7, {}, {"text": None}, {"text": 3, "model": "x"}, {"text": ["a"], "promptTokens": -1}]
)
async def test_what_is_no_answer_is_said(editor, reply):
    editor.answers[COMPLETE] = reply
    await editor.reply(await refine(editor, "refusals"))
    found = await refusal(editor)
    assert (found["reason"], found["message"]) == ("model", "The editor's language model returned no text.")


async def test_its_own_sentence_is_what_the_user_reads(editor):
    editor.answers[COMPLETE] = PermissionError("Greenloop may not use Copilot:\nthe consent was \x1b[31mrefused")
    reply = (await editor.reply(await refine(editor, "refusals")))["result"]
    found = await refusal(editor)
    assert found == named(
        editor,
        reason="model",
        message="Greenloop may not use Copilot: the consent was refused.",
        remedy="Choose another of the editor's models, or name another model with the setting `model`.",
    )
    assert reply["reason"].startswith(found["message"])
    assert len(editor.got(COMPLETE)) == 1, "the editor repeats by itself"


async def test_silence_ends_after_api_timeout(editor):
    editor.answers[COMPLETE] = Editor.SILENCE
    await editor.reply(await refine(editor, "refusals", api={"timeout": 1}))
    assert (await refusal(editor))["message"] == "The editor's language model did not respond for 1 seconds."
    assert withdrawn(editor) == ids(editor)


async def test_cancelling_the_run_withdraws_the_request(editor):
    editor.answers[COMPLETE] = Editor.SILENCE
    number = await refine(editor)
    await editor.wait(lambda m: m.get("method") == COMPLETE, "the request")
    assert withdrawn(editor) == []
    assert await editor.execute("greenloop.cancel", named(editor)) == 1
    await editor.wait(lambda m: m.get("method") == "$/cancelRequest", "its end")
    assert withdrawn(editor) == ids(editor)
    assert (await editor.reply(number))["result"]["reason"] == "cancelled"
    # What the editor says to a request that was withdrawn does no harm.
    editor.send({"id": ids(editor)[0], "error": {"code": -32800, "message": "cancelled"}})
    state = await editor.state()
    assert state["cancelled"] == 1
    assert state["types"] == 0


async def test_an_editor_without_one_is_told_so_at_once(editor):
    await editor.start(able("refusals"), model="editor")
    await editor.call("greenloop/refine", target(editor))
    found = await refusal(editor)
    assert (found["reason"], found["message"]) == (
        "model",
        "This editor does not provide a language model.",
    )
    assert (await editor.state())["calls"] == []


async def test_also_where_only_a_role_names_it(editor):
    await editor.start(EVERYTHING, critic={"model": "editor"})
    await editor.call("greenloop/refine", target(editor))
    await editor.told("This editor does not provide a language model.")


# -- tools --------------------------------------------------------------------------------------------------------


def calling(editor, *turns, info=None):
    """An editor whose model takes tools, and answers with these objects in turn, the last one again and again."""
    left = list(turns)
    editor.answers[COMPLETE] = lambda _params: left.pop(0) if len(left) > 1 else left[0]
    editor.answers[INFO] = {"maxInputTokens": 64000, "tools": True} if info is None else info


SOLVED = {"text": "x * 2", "model": "copilot/gpt"}
READ = {"name": "read", "description": "Reads a file.", "parameters": {"type": "object"}}


async def test_a_model_with_tools_gets_them_and_the_results_of_its_calls(editor):
    call = {"id": "c7", "name": "read", "arguments": '{"path": "m.py"}'}
    calling(editor, {"text": "Let me look.", "toolCalls": [call], "completionTokens": 9, "new": 1}, SOLVED)
    await editor.reply(await refine(editor, "modelInfo"))
    assert editor.got(INFO) == [{}]
    first, second = editor.got(COMPLETE)
    assert first["tools"] == second["tools"] == [READ]
    assert second["messages"] == [
        *first["messages"],
        {"role": "assistant", "content": "Let me look.", "toolCalls": [call]},
        {"role": "tool", "content": "read ran", "toolCallId": "c7"},
    ]
    state = await editor.state()
    assert state["offer"] == [True, 64000]
    assert state["tool calls"] == [["c7", "read", '{"path": "m.py"}']]
    assert state["usages"] == [[9, "stop"]]
    assert state["answers"] == [["x * 2", "copilot/gpt", "stop", []]]


async def test_malformed_calls_are_read_as_far_as_possible(editor):
    odd = [
        {"name": "read", "arguments": {"path": "m.py"}},
        {"id": "", "name": "list"},
        {"id": 3, "name": "find", "arguments": "{broken", "type": "function"},
        {"id": "same", "name": "read", "arguments": None},
        {"id": "same", "name": "read", "arguments": "{}"},
        {"id": "nameless", "arguments": "{}"},
        {"id": "odd", "name": 7},
        None,
    ]
    calling(editor, {"toolCalls": odd}, SOLVED)
    await editor.reply(await refine(editor, "modelInfo"))
    assert (await editor.state())["tool calls"] == [
        ["call_1_0", "read", '{"path": "m.py"}'],
        ["call_1_1", "list", "{}"],
        ["call_1_2", "find", "{broken"],
        ["same", "read", "{}"],
        ["call_1_4", "read", "{}"],
    ]
    sent = editor.got(COMPLETE)[1]["messages"][2:]
    assert [each["id"] for each in sent[0]["toolCalls"]] == [each["toolCallId"] for each in sent[1:]]
    assert sent[0]["content"] == ""


@pytest.mark.parametrize("calls", [None, 7, {}, "read", [], [{"id": "c"}], [[]]])
async def test_neither_text_nor_a_call_is_said(editor, calls):
    calling(editor, {"text": None, "toolCalls": calls})
    await editor.reply(await refine(editor, "modelInfo", "refusals"))
    assert (await refusal(editor))["message"] == "The editor's language model returned no text."


async def test_calls_have_the_limit_of_texts(editor):
    call = {"id": "c", "name": "read", "arguments": json.dumps("word " * 10_000)}
    small = {"id": "d", "name": "read", "arguments": "{}"}
    calling(editor, {"text": "x * 2", "toolCalls": [small, call]}, SOLVED)
    await editor.reply(await refine(editor, "modelInfo"))
    state = await editor.state()
    assert state["tool calls"] == [["d", "read", "{}"]]
    assert [finish for _tokens, finish in state["usages"]] == ["length"]


@pytest.mark.parametrize(
    ("info", "offer"),
    [
        ({"maxInputTokens": 8000}, [False, 8000]),
        ({"maxInputTokens": None, "tools": True}, [True, 0]),
        ({"maxInputTokens": True, "tools": 1, "name": "x"}, [False, 0]),
        ({"maxInputTokens": -5}, [False, 0]),
        ([], [False, 0]),
        (None, [False, 0]),
        (PermissionError("No model."), [False, 0]),
    ],
)
async def test_what_the_editor_says_about_its_model_is_believed_where_it_can_be_read(editor, info, offer):
    calling(editor, SOLVED)
    editor.answers[INFO] = info
    assert (await editor.reply(await refine(editor, "modelInfo")))["result"]["solved"]
    assert (await editor.state())["offer"] == offer
    assert ("tools" in editor.got(COMPLETE)[0]) is offer[0]


async def test_cancelling_the_run_withdraws_the_question_about_its_model(editor):
    editor.answers[INFO] = Editor.SILENCE
    number = await refine(editor, "modelInfo")
    asked = await editor.wait(lambda m: m.get("method") == INFO, "the question")
    assert await editor.execute("greenloop.cancel", named(editor)) == 1
    await editor.wait(lambda m: m.get("method") == "$/cancelRequest", "its end")
    assert withdrawn(editor) == [asked["id"]]
    assert (await editor.reply(number))["result"]["reason"] == "cancelled"
    assert editor.got(COMPLETE) == []


async def test_an_older_editor_is_asked_as_before(editor):
    """It declares `model` alone; calls that it sends nevertheless are none."""
    calling(editor, {**SOLVED, "toolCalls": [{"id": "c", "name": "read", "arguments": "{}"}]})
    await editor.reply(await refine(editor))
    assert editor.got(INFO) == []
    (asked,) = editor.got(COMPLETE)
    assert set(asked) == {"id", "messages", "maxTokens", "temperature"}
    state = await editor.state()
    assert (state["offer"], state["tool calls"]) == ([False, 0], [])


async def test_empty_pieces_show_that_the_model_is_at_work(editor):
    """Calls are not streamed, so that nothing else may come for longer than `api.timeout`."""
    editor.answers[COMPLETE] = Editor.SILENCE
    number = await refine(editor, api={"timeout": 2})
    asked = await editor.wait(lambda m: m.get("method") == COMPLETE, "the request")
    for _ in range(6):
        await asyncio.sleep(0.4)
        editor.notify("greenloop/completing", {"id": asked["params"]["id"], "text": ""})
    editor.send({"id": asked["id"], "result": SOLVED})
    assert (await editor.reply(number))["result"]["solved"]
    assert (await editor.state())["answers"][0][3] == []


# -- the real engine ----------------------------------------------------------------------------------------------


@pytest.mark.needs("bubblewrap")
@pytest.mark.timeout(240)
async def test_a_real_run_by_the_editors_model(real, tmp_path):
    """The editor's model writes the wrong function first; the critic is another one, by a role of the settings."""
    bodies = ["    return x * 3\n", "    return x * 2\n"]
    script = tmp_path / "critic.jsonl"
    script.write_text(json.dumps("It multiplies by three.") + "\n")

    def answer(params):
        text = f"```python\ndef double(x):\n{bodies.pop(0) if len(bodies) > 1 else bodies[0]}```\n"
        real.notify("greenloop/completing", {"id": params["id"], "text": text})
        return {"text": text, "model": "fake/one", "promptTokens": None, "completionTokens": None}

    real.answers[COMPLETE] = answer
    options = {"preset": "self-debug", "sandbox": {"kind": "bubblewrap"}, "critic": {"model": f"scripted:{script}"}}
    await real.start(able("model", "runs"), model="editor", **options)
    number = real.request("greenloop/refine", target(real))
    reply = await real.wait(lambda m: m.get("id") == number and "method" not in m, "the end", seconds=180)
    assert reply["result"]["solved"], reply
    run = await shown(real, lambda run: run["phase"] == "over")
    assert run["target"] == TEST
    assert {each["model"] for each in run["attempts"][1:]} == {"fake/one"}
    assert len(real.got(COMPLETE)) == 2
    assert real.text("m.py") == "def double(x):\n    return x * 2\n"


@pytest.mark.needs("bubblewrap")
@pytest.mark.timeout(240)
async def test_a_real_run_that_is_cancelled_withdraws_it_too(real):
    real.answers[COMPLETE] = Editor.SILENCE
    options = {"model": "editor", "preset": "plain", "sandbox": {"kind": "bubblewrap"}}
    await real.start(able("model", "runs"), **options)
    number = real.request("greenloop/refine", target(real))
    await real.wait(lambda m: m.get("method") == COMPLETE, "the request", seconds=180)
    real.notify("$/cancelRequest", {"id": number})
    await real.wait(lambda m: m.get("method") == "$/cancelRequest", "its end")
    assert withdrawn(real) == ids(real)
    assert (await shown(real, lambda run: run["phase"] == "over"))["cancelled"]
