"""What is asked for beside runs: the download of the embedded model, and the doctor's page."""

import pytest

from .conftest import EVERYTHING, opened, without
from .test_attempts import opened as page_of
from .test_views import able


@pytest.fixture
async def bare(project, tmp_path):
    """Without a model; a download, and the doctor, wait for `test/go`."""
    async for editor in opened(project, tmp_path, "--without-model", "--slowly", "--examined"):
        yield editor


def progress(editor, kind):
    return [params["value"] for params in editor.got("$/progress") if params["value"]["kind"] == kind]


async def begun(editor, title, count=1):
    """The token of the newest progress of that title."""
    starts = lambda: [p for p in editor.got("$/progress") if p["value"].get("title") == title]  # noqa: E731
    await editor.wait(lambda _m: len(starts()) >= count, title)
    return starts()[-1]["token"]


DOWNLOAD = "Downloading the embedded model"


async def test_the_model_is_fetched_with_megabytes_and_a_message(bare):
    await bare.start(able())
    await bare.execute("greenloop.pullModel")
    await begun(bare, DOWNLOAD)
    await bare.execute("greenloop.pullModel")
    await bare.told("The embedded model is already being downloaded.")
    await bare.call("test/go")
    await bare.told("The embedded model is ready.")
    await bare.call("test/settled")
    (begin,), (end,) = progress(bare, "begin"), progress(bare, "end")
    assert (begin["cancellable"], begin["percentage"]) == (True, 0)
    told = [(each.get("message"), each["percentage"]) for each in (begin, *progress(bare, "report"))]
    assert told[-1] == ("1074 of 1074 MB", 100)
    assert ("1 of 1074 MB", 0) in told
    assert end["message"] == "ready"
    await bare.execute("greenloop.pullModel")
    await bare.told("The embedded model is already installed: /models/weights.gguf")
    found = await bare.call("greenloop/choices")
    assert next(each for each in found["models"] if each["name"] == "local")["needs"] != "pull"


@pytest.mark.story("the embedded model is fetched on request")
async def test_a_download_is_cancelled_by_its_progress_and_can_go_on(bare):
    await bare.start(able())
    await bare.execute("greenloop.pullModel")
    bare.notify("window/workDoneProgress/cancel", {"token": await begun(bare, DOWNLOAD)})
    await bare.told("Download cancelled. The part downloaded so far is kept.")
    await bare.call("test/settled")
    assert progress(bare, "end")[-1]["message"] == "cancelled"
    await bare.execute("greenloop.pullModel")
    await begun(bare, DOWNLOAD, 2)
    await bare.call("test/go")
    await bare.told("The embedded model is ready.")


async def test_cancel_without_argument_cancels_it_and_others_do_not(bare):
    await bare.start(able())
    await bare.execute("greenloop.pullModel")
    await begun(bare, DOWNLOAD)
    assert await bare.execute("greenloop.cancel", {"uri": bare.uri("m.py")}) == 0
    assert await bare.execute("greenloop.cancel") == 1
    await bare.told("Download cancelled. The part downloaded so far is kept.")
    await bare.call("test/settled")
    state = await bare.state()
    assert (state["tasks"], state["tokens"]) == (0, 0)


async def test_without_progress_it_is_fetched_all_the_same(bare):
    await bare.start(without(EVERYTHING, "window.workDoneProgress"))
    await bare.call("test/go")
    await bare.execute("greenloop.pullModel")
    await bare.told("The embedded model is ready.")
    assert bare.got("$/progress") == []


async def test_a_server_that_ends_in_a_download_ends(bare):
    await bare.start(able())
    await bare.execute("greenloop.pullModel")
    await begun(bare, DOWNLOAD)
    assert await bare.stop() == 0


@pytest.mark.story("the doctor examines the installation")
async def test_the_doctor_opens_a_read_only_page(bare):
    bare.answers["window/showDocument"] = {"success": True}
    await bare.start(able("model"), model="editor")
    await bare.execute("greenloop.doctor")
    await begun(bare, "Checking the installation")
    await bare.execute("greenloop.doctor", {"uri": bare.uri("m.py")})
    await bare.told("A health check is already running.")
    await bare.call("test/go")
    text = (await page_of(bare)).read_text()
    assert "# greenloop doctor" in text
    assert "Read-only" in text
    assert "`A fix cannot run yet: interpreter, sandbox missing.`" in text
    assert "| ok | model | `editor` | `EditorAbilities(model=True, keys=False) ¦ 'x'` |  |" in text
    assert "| no | sandbox | `play` | `broken` | `Mend it.` |" in text
    assert "| ok | workspace |" in text


async def test_without_a_folder_the_doctor_examines_the_machine(bare):
    """The second step of a first user, who has opened nothing yet."""
    bare.answers["window/showDocument"] = {"success": True}
    nothing = {"processId": None, "rootUri": None, "workspaceFolders": None}
    options = {"initializationOptions": {"model": "play:solve"}}
    await bare.call("initialize", {**nothing, **options, "capabilities": able("refusals")})
    bare.notify("initialized", {})
    await bare.call("test/go")
    await bare.execute("greenloop.doctor")
    text = (await page_of(bare)).read_text()
    assert "| ok | model | `play:solve` |" in text
    assert "| no | workspace |  | `no folder is open` | `Open the folder of a project.` |" in text
    assert "| interpreter |" not in text
    assert bare.got("greenloop/refused") == []


async def test_an_editor_that_opens_nothing_is_told_where_the_page_is(bare):
    await bare.start(without(EVERYTHING, "window.showDocument"))
    await bare.call("test/go")
    await bare.execute("greenloop.doctor")
    await bare.told("The findings are in")
