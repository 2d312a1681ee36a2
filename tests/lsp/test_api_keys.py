"""Keys that the client keeps: asked for by a run that needs one, handed to the provider, and never seen again."""

import pytest

from openai_api import answer, refuse, serve

from .conftest import Editor, opened
from .test_presentation import target
from .test_views import able, named, refusal

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(120)]
SECRET = "sk-very-secret-0123456789"
OPTIONS = {"model": "openai/once", "api": {"key": "GREENLOOP_TEST_KEY", "retries": 0}}


@pytest.fixture
async def api():
    async with serve() as api:
        api.script = [answer("x * ", "2")]
        yield api


def asked_at(api, **more):
    return {**OPTIONS, **more, "api": {**OPTIONS["api"], "base": api.base}}


async def refined(editor, api, *abilities, **options):
    await editor.start(able("keys", "refusals", *abilities), **asked_at(api, **options))
    return await editor.call("greenloop/refine", target(editor))


@pytest.mark.story("a key goes to its provider and nowhere else", only=("debug",))
@pytest.mark.parametrize("level", ["info", "debug"])
async def test_the_key_goes_to_the_provider_and_nowhere_else(project, api, tmp_path, monkeypatch, level):
    monkeypatch.setenv("GREENLOOP_LOG", level)
    async for editor in opened(project, tmp_path):
        await handed_over(editor, api, tmp_path, level)


async def handed_over(editor, api, tmp_path, level):
    editor.answers["greenloop/key"] = {"key": f" {SECRET}\n"}
    assert (await refined(editor, api))["solved"]
    assert editor.got("greenloop/key") == [{"provider": "openai", "variable": "GREENLOOP_TEST_KEY"}]
    assert api.headers[0]["authorization"] == f"Bearer {SECRET}"
    await editor.stop()
    errors = await editor.errors()
    assert "greenloop/key" in errors or level == "info"
    said = repr(editor.inbox) + errors
    for path in tmp_path.rglob("*"):
        if path.is_file():
            said += path.read_bytes().decode("latin-1")
    assert SECRET not in said


async def test_two_questions_at_once_ask_for_it_once(editor, api):
    editor.answers["greenloop/key"] = {"key": SECRET}
    assert (await refined(editor, api, model="openai/twice"))["solved"]
    assert len(api.requests) == 2
    assert len(editor.got("greenloop/key")) == 1


async def test_each_run_asks_anew(editor, api):
    editor.answers["greenloop/key"] = {"key": SECRET}
    await refined(editor, api)
    await editor.execute("greenloop.discard", named(editor))
    await editor.call("greenloop/refine", target(editor))
    assert len(editor.got("greenloop/key")) == 2


@pytest.mark.parametrize("reply", [{"key": None}, {"key": ""}, {"key": 3}, {}, None, "x", ValueError("no")])
async def test_without_one_the_cure_is_named(editor, api, reply):
    editor.answers["greenloop/key"] = reply
    assert not (await refined(editor, api))["solved"]
    found = await refusal(editor)
    assert (found["reason"], found["message"]) == ("model", "There is no key for openai/once.")
    assert found["remedy"] == (
        "Give the editor a key for openai, or put one into the environment variable GREENLOOP_TEST_KEY."
    )
    assert api.requests == []


async def test_a_wrong_key_is_the_editors_to_change(editor, api):
    api.script = [refuse(401, f"Incorrect API key provided: {SECRET}.", type="invalid_request_error")]
    editor.answers["greenloop/key"] = {"key": SECRET}
    await refined(editor, api)
    found = await refusal(editor)
    assert found["message"] == "openai did not accept the key for openai/once."
    assert found["remedy"] == "Give the editor another key for openai."
    assert SECRET not in repr(editor.inbox)


async def test_a_run_that_is_cancelled_withdraws_the_question(editor, api):
    editor.answers["greenloop/key"] = Editor.SILENCE
    await editor.start(able("keys"), **asked_at(api))
    number = editor.request("greenloop/refine", target(editor))
    asked = await editor.wait(lambda m: m.get("method") == "greenloop/key", "the question", seconds=60)
    await editor.execute("greenloop.cancel", named(editor))
    await editor.wait(lambda m: m.get("method") == "$/cancelRequest" and m["params"]["id"] == asked["id"], "its end")
    assert (await editor.reply(number))["result"]["reason"] == "cancelled"


async def test_a_client_that_keeps_none_is_not_asked(editor, api):
    await editor.start(able("refusals"), **asked_at(api))
    await editor.call("greenloop/refine", target(editor))
    assert (await refusal(editor))["message"].startswith("The environment variable GREENLOOP_TEST_KEY")
    assert editor.got("greenloop/key") == []
