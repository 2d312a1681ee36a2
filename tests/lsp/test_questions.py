"""Questions about designed tests: clients that answer, that cannot, that refuse, that stay silent."""

import pytest

from .conftest import EVERYTHING, without
from .stand_in import ASKED, OPTIONS

FIRST, SECOND = ASKED
NO_DIALOGUE = without(EVERYTHING, "window.showMessage")
OWN_DIALOGUE = {**EVERYTHING, "experimental": {"greenloop": {"questions": True}}}


def answering(*titles):
    """A person who chooses these options one after another; None dismisses the dialogue."""
    left = list(titles)
    return lambda _params: (title := left.pop(0)) and {"title": title}


async def begun(editor, capabilities=EVERYTHING, **options):
    await editor.start(capabilities, model="play:asks", **options)
    return editor.request("greenloop/refine", {"uri": editor.uri("m.py"), "position": {"line": 0, "character": 4}})


async def answers(editor, number):
    assert (await editor.reply(number))["result"]["solved"]
    return (await editor.state())["answers"]


async def reply_to(editor, question, **said):
    table = {"uri": editor.uri("m.py"), "target": "m.py::double", "question": question, **said}
    return await editor.reply(
        editor.request("workspace/executeCommand", {"command": "greenloop.answer", "arguments": [table]})
    )


def titles(actions):
    return [action["title"] for action in actions]


@pytest.mark.story("you are asked about generated tests")
async def test_a_client_that_answers(editor):
    editor.answers["window/showMessageRequest"] = answering("It is 10", "No")
    assert await answers(editor, await begun(editor)) == [["It is 10", None], ["No", None]]
    asked = editor.got("window/showMessageRequest")[0]
    assert asked["message"] == FIRST
    # No editor has a dialogue in which a value could be typed.
    assert [action["title"] for action in asked["actions"]] == ["Yes", "No", "It is 10", "Skip"]


async def test_one_that_is_dismissed_is_no_answer_and_the_next_is_asked(editor):
    editor.answers["window/showMessageRequest"] = answering(None, "Yes")
    assert await answers(editor, await begun(editor)) == [[None, None], ["Yes", None]]


async def test_no_more_than_the_setting_says(editor):
    editor.answers["window/showMessageRequest"] = answering("Yes")
    assert await answers(editor, await begun(editor, ask=1)) == [["Yes", None]]
    assert len(editor.got("window/showMessageRequest")) == 1


@pytest.mark.story("you are asked about generated tests")
@pytest.mark.parametrize("capabilities", [NO_DIALOGUE, without(NO_DIALOGUE, "textDocument.codeAction")])
async def test_a_client_that_cannot_ask_has_code_actions(editor, capabilities):
    number = await begun(editor, capabilities)
    await editor.told(f"{FIRST} To answer, use the code actions of double.")
    offered = titles(await editor.actions("m.py", 1))
    assert offered == [
        *(f"{FIRST} {option}" for option in ("Yes", "No", "It is 10", "Skip")),
        "Cancel refinement: double",
        "Show attempts: double",
    ]
    await editor.action(f"{FIRST} No", name="m.py", line=1)
    await editor.told(SECOND)
    await editor.action(f"{SECOND} It is 10", name="m.py", line=1)
    assert await answers(editor, number) == [["No", None], ["It is 10", None]]
    assert not editor.got("window/showMessageRequest")


async def test_one_that_declares_it_and_refuses_has_code_actions(editor):
    editor.answers["window/showMessageRequest"] = Exception("method not found")
    number = await begun(editor, ask=1)
    await editor.told("To answer, use")
    await editor.action(f"{FIRST} Yes", name="m.py", line=1)
    assert await answers(editor, number) == [["Yes", None]]


@pytest.mark.parametrize("capabilities", [EVERYTHING, NO_DIALOGUE, OWN_DIALOGUE])
async def test_one_that_never_answers_is_asked_once_and_the_run_goes_on(hurried, capabilities):
    hurried.answers["window/showMessageRequest"] = hurried.SILENCE
    number = await begun(hurried, capabilities)
    assert await answers(hurried, number) == [[None, None], [None, None]]
    asked = hurried.got("window/showMessageRequest") + hurried.got("greenloop/question")
    assert len(asked) + len([m for m in hurried.got("window/showMessage") if "To answer" in m["message"]]) == 1
    assert (await hurried.state())["types"] == 0


async def test_a_code_action_answers_while_the_dialogue_is_open(editor):
    editor.answers["window/showMessageRequest"] = editor.SILENCE
    number = await begun(editor, ask=1)
    await editor.told(FIRST)
    await editor.action(f"{FIRST} Yes", name="m.py", line=1)
    assert await answers(editor, number) == [["Yes", None]]


async def test_a_value_is_typed_by_the_command(editor):
    editor.answers["window/showMessageRequest"] = editor.SILENCE
    number = await begun(editor, ask=1)
    await editor.told(FIRST)
    wrong = await reply_to(editor, FIRST, value="10 +")
    assert wrong["error"]["code"] == -32602
    assert "'10 +' is not a Python value" in wrong["error"]["message"]
    await reply_to(editor, FIRST, value=" [10] ")
    assert await answers(editor, number) == [["The right value is …", "[10]"]]


async def test_a_client_with_a_dialogue_of_its_own(editor):
    number = await begun(editor, OWN_DIALOGUE, ask=1)
    asked = await editor.wait(lambda m: m.get("method") == "greenloop/question")
    about = {"uri": editor.uri("m.py"), "target": "m.py::double", "question": FIRST}
    assert asked["params"] == {**about, "options": list(OPTIONS), "seconds": 120.0}
    await reply_to(editor, FIRST, answer="The right value is …")
    await editor.wait(lambda m: m.get("method") == "greenloop/question" and m["params"]["options"] == [])
    await reply_to(editor, FIRST, value="10")
    assert await answers(editor, number) == [["The right value is …", "10"]]
    assert editor.got("greenloop/questionOver") == [about, about]
    assert not editor.got("window/showMessageRequest")


@pytest.mark.parametrize(
    "said", [{}, {"answer": "Yes", "value": "1"}, {"answer": "Perhaps"}, {"answer": 3}, {"value": "import os"}]
)
async def test_what_is_no_answer_leaves_the_question_open(editor, said):
    number = await begun(editor, NO_DIALOGUE, ask=1)
    await editor.told(FIRST)
    assert (await reply_to(editor, FIRST, **said))["error"]["code"] == -32602
    await reply_to(editor, FIRST, answer="Yes")
    assert await answers(editor, number) == [["Yes", None]]


async def test_cancelling_ends_the_question(editor):
    number = await begun(editor, NO_DIALOGUE)
    await editor.told(FIRST)
    assert await editor.execute("greenloop.cancel") == 1
    assert (await editor.reply(number))["result"]["reason"] == "cancelled"
    await reply_to(editor, FIRST, answer="Yes")
    await editor.told("That question is no longer open.")
    assert titles(await editor.actions("m.py", 1))[:2] == ["Refine until tests pass: double", "Show attempts: double"]


async def test_closing_the_document_ends_the_question(editor):
    editor.answers["window/showMessageRequest"] = editor.SILENCE
    number = await begun(editor, ask=1)
    await editor.told(FIRST)
    editor.notify("textDocument/didClose", {"textDocument": {"uri": editor.uri("m.py")}})
    await editor.reply(number)
    assert (await editor.state())["answers"] == [[None, None]]


async def test_typing_goes_on_while_a_question_is_open(editor):
    number = await begun(editor, NO_DIALOGUE, ask=1)
    await editor.told(FIRST)
    editor.change("m.py", "import os\n\n" + editor.text("m.py"))
    assert f"{FIRST} Yes" in titles(await editor.actions("m.py", 3))
    await editor.action(f"{FIRST} Yes", name="m.py", line=3)
    await editor.reply(number)
    assert (await editor.state())["answers"] == [["Yes", None]]
