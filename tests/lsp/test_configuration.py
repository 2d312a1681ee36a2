"""The editor's settings: of each folder its own, replaced and not only added to, taken back, and of folders that go."""

import pytest

from .conftest import EVERYTHING, FILES, without

PULLING = {**EVERYTHING, "workspace": {**EVERYTHING["workspace"], "workspaceFolders": True}}
PUSHING = without(EVERYTHING, "workspace.configuration")


def target(editor, root=None):
    uri = (root / "test_m.py").as_uri() if root else editor.uri("test_m.py")
    return {"uri": uri, "position": {"line": 3, "character": 0}}


async def refine(editor, root=None):
    """The settings of a run from here: folder, preset, interpreter, attempts."""
    await editor.call("greenloop/refine", target(editor, root))
    return (await editor.state())["settings"][-1]


@pytest.fixture
def second(tmp_path):
    root = tmp_path / "second"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    return root


def answering(editor, **by_folder):
    """Answers by the folder's name (`rest`: for files outside of all)."""

    def answer(params):
        names = [item["scopeUri"].rsplit("/", 1)[1] if item.get("scopeUri") else "rest" for item in params["items"]]
        return [by_folder.get(name) for name in names]

    editor.answers["workspace/configuration"] = answer


async def begin(editor, *folders, capabilities=PULLING, **options):
    """Starts with several folders, and waits until their settings were asked for."""
    await editor.call(
        "initialize",
        {
            "processId": None,
            "rootUri": folders[0].as_uri(),
            "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name} for folder in folders],
            "capabilities": capabilities,
            "initializationOptions": {"model": "play:stuck", **options},
        },
    )
    editor.notify("initialized", {})
    await asked(editor)


async def asked(editor, times=1):
    """Waits until the settings were asked for so often, and the answer has arrived."""
    await editor.wait(lambda m: len(editor.got("workspace/configuration")) >= times, "being asked")
    await editor.state()


def folders(editor, added=(), removed=()):
    def named(roots):
        return [{"uri": root.as_uri(), "name": root.name} for root in roots]

    editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": named(added), "removed": named(removed)}})


@pytest.mark.story("each folder has its own settings")
async def test_each_folder_has_its_own_in_one_request(editor, project, second):
    project = project.rename(project.parent / "first")
    answering(editor, first={"interpreter": "/a/python"}, second={"interpreter": "/b/python", "attempts": 7})
    await begin(editor, project, second)
    (only,) = editor.got("workspace/configuration")
    scopes = [item.get("scopeUri") for item in only["items"]]
    assert (sorted(scopes[:-1]), scopes[-1]) == (sorted([project.as_uri(), second.as_uri()]), None)
    assert {item["section"] for item in only["items"]} == {"greenloop"}
    assert await refine(editor, project) == ["first", "default", "/a/python", 0]
    assert await refine(editor, second) == ["second", "default", "/b/python", 7]


async def test_asked_again_the_answer_replaces_the_earlier_one(editor, second):
    answering(editor, second={"attempts": 7, "preset": "plain"})
    await begin(editor, second)
    assert await refine(editor, second) == ["second", "plain", "", 7]
    answering(editor, second={"preset": "plain"})
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    await asked(editor, 2)
    assert await refine(editor, second) == ["second", "plain", "", 0]
    answering(editor, second=None)
    editor.notify("workspace/didChangeConfiguration", {"settings": {}})
    await asked(editor, 3)
    assert await refine(editor, second) == ["second", "default", "", 0]


async def test_a_refused_question_changes_nothing(editor, second):
    answering(editor, second={"attempts": 7})
    await begin(editor, second)
    editor.answers["workspace/configuration"] = Exception("not now")
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    await asked(editor, 2)
    assert await refine(editor, second) == ["second", "default", "", 7]


@pytest.mark.parametrize(
    "payload",
    [
        {"greenloop": {"attempts": 7}},
        {"greenloop.attempts": 7, "greenloop": {"attempts": 7}},
        {"attempts": 7},
        {"greenloop": {"attempts": 7}, "python": {"analysis": {}}},
    ],
    ids=["section", "both", "bare", "everybody's"],
)
async def test_pushed(editor, second, payload):
    await editor.call("initialize", simple(editor, second))
    editor.notify("initialized", {})
    editor.notify("workspace/didChangeConfiguration", {"settings": payload})
    assert await refine(editor, second) == ["second", "default", "", 7]
    # Another server's settings say nothing about ours.
    editor.notify("workspace/didChangeConfiguration", {"settings": {"pylsp": {"plugins": {}}}})
    assert await refine(editor, second) == ["second", "default", "", 7]


@pytest.mark.parametrize("nothing", [None, {"greenloop": None}, {"greenloop": {}}])
async def test_pushed_and_taken_back(editor, second, nothing):
    await editor.call("initialize", simple(editor, second, attempts=3))
    editor.notify("initialized", {})
    editor.notify("workspace/didChangeConfiguration", {"settings": {"greenloop": {"attempts": 7, "preset": "plain"}}})
    assert await refine(editor, second) == ["second", "plain", "", 7]
    editor.notify("workspace/didChangeConfiguration", {"settings": {"greenloop": {"attempts": 5}}})
    assert await refine(editor, second) == ["second", "default", "", 5]
    editor.notify("workspace/didChangeConfiguration", {"settings": nothing})
    # What was given at the start holds again.
    assert await refine(editor, second) == ["second", "default", "", 3]


def simple(editor, root, **options):
    return {
        "processId": None,
        "rootUri": root.as_uri(),
        "capabilities": PUSHING,
        "initializationOptions": {"model": "play:stuck", **options},
    }


@pytest.mark.story("a repository chooses no model and no sandbox")
async def test_the_repository_has_its_list_and_the_editor_nearly_all(editor, second):
    (second / "pyproject.toml").write_text('[tool.greenloop]\npreset = "plain"\nmodel = "play:solve"\ntokens = 1000\n')
    answering(editor, second={"sandbox": {"unsafe": True, "kind": "none"}})
    await begin(editor, second)
    assert (await refine(editor, second))[1] == "plain"
    await editor.told("'model' in pyproject.toml is ignored")
    await editor.told("'sandbox.unsafe' in the editor is ignored")


@pytest.mark.story("a bad setting is told and never fatal")
async def test_a_bad_value_is_told_once_and_the_earlier_one_holds(editor, second):
    answering(editor, second={"attempts": "many", "presett": "plain"})
    await begin(editor, second)
    await editor.told("did you mean 'preset'")
    assert (await refine(editor, second))[3] == 0
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    await asked(editor, 2)
    assert sum("'attempts'" in each["message"] for each in editor.got("window/showMessage")) == 1


async def test_asked_again_before_the_first_answer_a_run_waits_for_the_second(editor, second):
    """Many clients tell of a change right after the handshake."""
    editor.answers["workspace/configuration"] = editor.SILENCE
    await begin(editor, second)
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    await asked(editor, 2)
    first, again = [m["id"] for m in editor.inbox if m and m.get("method") == "workspace/configuration"]
    editor.send({"id": first, "result": [None, None]})
    editor.root = second
    number = editor.request("greenloop/refine", target(editor))
    await editor.state()
    editor.send({"id": again, "result": [{"attempts": 7}, None]})
    await editor.reply(number)
    assert (await editor.state())["settings"][-1][3] == 7


async def test_a_folder_with_another_name_is_the_same_folder(editor, project, second):
    """It comes and goes in one message."""
    answering(editor)
    await begin(editor, project, second)
    folders(editor, added=[second], removed=[second])
    await asked(editor, 2)
    assert second.as_uri() in [item.get("scopeUri") for item in editor.got("workspace/configuration")[1]["items"]]


async def test_a_folder_that_is_added_is_asked_about(editor, project, second):
    answering(editor, second={"attempts": 7})
    await begin(editor, project)
    folders(editor, added=[second])
    await asked(editor, 2)
    assert second.as_uri() in [item.get("scopeUri") for item in editor.got("workspace/configuration")[1]["items"]]
    assert await refine(editor, second) == ["second", "default", "", 7]


async def test_of_a_folder_that_is_removed_nothing_is_left(editor, project, second):
    """Its run ends, its diagnostics go; those of the other folder stay."""
    answering(editor)
    await begin(editor, project, second, model="play:hold")
    editor.root = project
    first = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    editor.root = second
    number = editor.request("greenloop/refine", target(editor))
    await editor.under_way()
    folders(editor, removed=[second])
    assert (await editor.reply(number))["result"]["reason"] == "cancelled"
    await editor.diagnosed(lambda items: not items)
    assert await editor.hover("m.py") is None
    editor.root = project
    assert editor.shown()
    await editor.call("test/go")
    assert (await editor.reply(first))["result"]["solved"]


async def test_results_of_a_folder_that_is_removed_go_too(editor, project, second):
    answering(editor)
    await begin(editor, project, second)
    editor.root = second
    await editor.call("greenloop/refine", target(editor))
    assert editor.shown()
    folders(editor, removed=[second])
    await editor.diagnosed(lambda items: not items)
    folders(editor, added=[second])
    await asked(editor, 2)
    assert not [each for each in await editor.actions() if each["title"].startswith("Apply")]
