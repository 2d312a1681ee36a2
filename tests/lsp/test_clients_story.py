"""The whole story in each of fourteen clients: from the code action to the text after undo, and what was seen of it.

What each test sees must be what `clients.json` claims, of which docs/editors.md shows the table
(`GREENLOOP_CLIENTS_TABLE=FILE` writes what was seen instead; scripts/clients_table.py makes the page of it).
"""

import json
import os
import re
from pathlib import Path

import pytest

from .clients import CLAIMS, CLIENTS, FEATURES, Client
from .conftest import FILES, stand_in
from .stand_in import ASKED

DONE = "def double(x):\n    return x * 2\n"
SEEN = {}
# Read at once: the tests' environment is made private later.
WRITE = os.environ.get("GREENLOOP_CLIENTS_TABLE")


@pytest.fixture(params=CLIENTS)
async def clients(request, project, tmp_path):
    """Starts a client of this kind with a server of its own, as often as wanted."""
    started = []

    async def start():
        process = await stand_in(tmp_path)
        started.append(Client(process, project, request.param))
        return started[-1]

    yield start
    for client in started:
        if client.process.returncode is None:
            client.process.kill()
        await client.process.wait()
        client.reader.cancel()
        assert client.junk == b""


@pytest.fixture(scope="module", autouse=True)
def written():
    yield
    if WRITE:
        ordered = {each.title: SEEN[each.title] for each in CLIENTS.values() if each.title in SEEN}
        table = {title: {feature: seen[feature] for feature in FEATURES} for title, seen in ordered.items()}
        Path(WRITE).write_text(json.dumps(table, indent=2) + "\n", encoding="utf-8")


@pytest.mark.story("every editor gets what it can show", only=("vscode-1.139", "helix-25.01"))
async def test_the_whole_story(clients):
    client = await clients()
    seen = {"tested": "really and as declared" if client.manners.real else "as declared"}
    able = (await client.start(client.capabilities, model="play:hold"))["capabilities"]
    run = await begun(client, seen)
    await under_way(client, seen)
    await cancelled(client, seen, run)
    run = await begun(client, seen)
    await landed(client, seen, run)
    await taken_back(client, seen)
    await asked(client, seen)
    await shown(client, seen)
    await lenses(client, seen, able)
    await ended(client)
    again = await clients()
    await again.start(again.capabilities, model="play:solve")
    if again.manners.commands:
        await again.chosen("Refine until tests pass: test_double")
    await ended(again)
    assert set(seen) == set(FEATURES)
    SEEN[client.manners.title] = seen
    if not WRITE:
        assert seen == json.loads(CLAIMS.read_text(encoding="utf-8"))[client.manners.title]


async def ended(client):
    assert not client.asked_undeclared()
    assert await client.stop() == 0
    assert "Traceback" not in await client.errors()


async def begun(client, seen):
    """Starts a run as this client can; the number of a request that ends with it, where that was the only way."""
    target = {"uri": client.uri("test_m.py"), "position": {"line": 3, "character": 0}}
    if not client.manners.commands:
        seen["code action"] = seen["command"] = "no"
        return client.request("greenloop/refine", target)
    entry = await client.choose("Refine until tests pass: test_double")
    literals = client.has("textDocument.codeAction.codeActionLiteralSupport")
    assert ("kind" in entry) is (literals is not None)
    assert "isPreferred" not in entry
    assert "disabled" not in entry
    assert ("tags" in entry) is bool(client.has("textDocument.codeAction.tagSupport"))
    seen["code action"] = "yes" if literals is not None else "as a command"
    # It was answered, and at once: the run waits in its middle.
    seen["command"] = "yes"
    return client.request("greenloop/refine", target)


async def under_way(client, seen):
    red = await client.under_way()
    (case,) = [item for item in red if "attempt 1/" in item["source"]]
    assert (case["range"]["start"]["line"], case["code"]) == (4, "AssertionError")
    (summary,) = [item for item in red if item["source"] == "greenloop"]
    seen["diagnostics"] = "yes"
    if client.has("textDocument.publishDiagnostics.relatedInformation"):
        rows = [row["message"] for row in summary["relatedInformation"]]
        assert case["relatedInformation"]
        seen["related information"] = "yes"
    else:
        assert not any("relatedInformation" in item for item in red)
        rows = summary["message"].split("\n")[1:]
        seen["related information"] = "in the message"
    assert len(rows) == 2
    assert rows[1].startswith("attempt 1: 0/1 passed, AssertionError")
    hover = await client.hover()
    markdown = "markdown" in client.has("textDocument.hover.contentFormat")
    assert hover["kind"] == ("markdown" if markdown else "plaintext")
    assert ("```" in hover["value"]) is markdown
    assert "| attempt" in hover["value"]
    seen["hover"] = "Markdown" if markdown else "plain text"


async def cancelled(client, seen, number):
    if client.manners.commands:
        await client.choose("Cancel refinement: test_double")
        seen["cancel"] = "code action"
    else:
        client.notify("$/cancelRequest", {"id": number})
        seen["cancel"] = "no"
    assert (await client.reply(number)).get("result", {"reason": "cancelled"})["reason"] == "cancelled"
    await client.wait(lambda _m: client.shown() == [], "no diagnostics after the cancel")
    progress = client.got("$/progress")
    if client.has("window.workDoneProgress"):
        kinds = [report["value"]["kind"] for report in progress]
        assert (kinds[0], kinds[-1]) == ("begin", "end")
        seen["progress"] = "yes"
    else:
        assert not progress
        assert not client.got("window/workDoneProgress/create")
        await client.told("Refining test_double")
        seen["progress"] = "a message"
    assert client.text("m.py") == FILES["m.py"]


async def landed(client, seen, number):
    client.notify("test/go")
    result = (await client.reply(number))["result"]
    assert result["solved"]
    await client.told("Changed m.py:2" if result["applied"] else "Fix found: ")
    if client.has("workspace.applyEdit"):
        assert result["applied"]
        (sent,) = client.edits
        versioned = bool(client.has("workspace.workspaceEdit.documentChanges"))
        assert ("documentChanges" in sent["edit"]) is versioned
        assert ("changes" in sent["edit"]) is not versioned
        seen["edit"] = "versioned" if versioned else "unversioned"
    elif client.manners.commands:
        assert not result["applied"]
        assert "edit" in await client.choose("Apply refined double")
        seen["edit"] = "by the code action"
    else:
        seen["edit"] = "no"
        return
    assert client.text("m.py") == DONE
    assert client.shown() == []


async def taken_back(client, seen):
    """Undo, then the result once more: first as the client refuses an edit, then really."""
    if seen["edit"] == "no":
        seen["undo"] = seen["apply later"] = "no"
        return
    client.undo("m.py", FILES["m.py"])
    assert client.text("m.py") == FILES["m.py"]
    await client.chosen("Apply refined double")
    seen["undo"] = "yes"
    if client.has("workspace.applyEdit"):
        client.willing = False
        await client.choose("Apply refined double")
        await client.told("did not apply it")
        assert client.text("m.py") == FILES["m.py"]
        client.willing = True
    before = len(client.inbox)
    await client.choose("Apply refined double")
    if client.has("workspace.applyEdit"):
        said = lambda m: "Fixed: " in ((m or {}).get("params") or {}).get("message", "")  # noqa: E731
        await client.wait(lambda _m: any(map(said, client.inbox[before:])), "message that it is in now")
    assert client.text("m.py") == DONE
    assert not [entry for entry in await client.offered() if entry["title"].startswith("Apply")]
    seen["apply later"] = "yes"


async def asked(client, seen):
    """A question during a run."""
    client.change("m.py", FILES["m.py"])
    client.configure(model="play:asks", ask=1)
    number = client.request("greenloop/refine", {"uri": client.uri("m.py"), "position": {"line": 0, "character": 4}})
    if client.has("window.showMessage.messageActionItem") and client.client_name != "Neovim":
        question = await client.told(ASKED[0])
        assert question["method"] == "window/showMessageRequest"
        seen["messages"] = "shown and asked"
    elif client.manners.commands:
        await client.told(f"{ASKED[0]} To answer, use the code actions of double.")
        await client.choose(f"{ASKED[0]} Yes", name="m.py", line=0)
        seen["messages"] = "shown, asked by code actions"
    else:
        await client.told(ASKED[0])
        client.notify("$/cancelRequest", {"id": number})
        await client.reply(number)
        seen["messages"] = "shown"
        return
    assert (await client.reply(number))["result"]["solved"]
    assert (await client.state())["answers"] == [["Yes", None]]


async def shown(client, seen):
    """The attempts as a page, and lenses."""
    if client.manners.commands:
        await client.choose("Show attempts")
        if client.has("window.showDocument.support"):
            page = await client.wait(lambda m: m.get("method") == "window/showDocument")
            assert page["params"]["uri"].startswith("file:///")
            seen["show document"] = "yes"
        else:
            said = await client.told("The attempts are in ")
            assert Path(re.search(r" in (/.*\.md)", said["params"]["message"])[1]).is_file()
            seen["show document"] = "its path in a message"
    else:
        seen["show document"] = "no"


async def lenses(client, seen, able):
    if client.has("textDocument.codeLens") is None:
        seen["lens"] = "not declared"
    elif not able.get("codeLensProvider"):
        seen["lens"] = "no"
    else:
        found = await client.call("textDocument/codeLens", {"textDocument": {"uri": client.uri("test_m.py")}})
        # Each is whole: nothing to resolve, nothing but a command of the server.
        names = {lens["command"]["command"] for lens in found}
        assert "greenloop.refine" in names
        assert names <= set(able["executeCommandProvider"]["commands"])
        assert {lens["range"]["start"]["line"] for lens in found} == {3}
        seen["lens"] = "yes"
