"""The captured capabilities of real editors, each through the one path with pytest-lsp's client.

It reads everything that comes with the protocol's own types. How each client asks, replies and refuses, which these
types cannot express, is in test_clients_story.py.
"""

import asyncio
import sys
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from lsprotocol.converters import get_converter
from pytest_lsp import ClientServerConfig, LanguageClient

from client_capabilities import captured_capabilities, find_capability

from .clients import CLIENTS
from .conftest import FILES, HERE, SOURCES, edited

DONE = "def double(x):\n    return x * 2\n"


@pytest_lsp.fixture(
    params=CLIENTS,
    config=ClientServerConfig(
        server_command=[sys.executable, str(HERE / "stand_in.py")], server_env={"PYTHONPATH": SOURCES}
    ),
)
async def client(request, lsp_client: LanguageClient, tmp_path: Path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    lsp_client.root, lsp_client.profile = tmp_path, captured_capabilities(request.param)
    lsp_client.texts, lsp_client.versions = dict(FILES), dict.fromkeys(FILES, 0)
    lsp_client.changed = asyncio.Event()
    converter = lsp_client.protocol._converter
    # lsprotocol decodes a CodeAction that has a command as a Command.
    converter.register_structure_hook(
        lsp.Command | lsp.CodeAction,
        lambda item, _: converter.structure(
            item, lsp.Command if isinstance(item.get("command"), str) else lsp.CodeAction
        ),
    )

    @lsp_client.feature(lsp.WORKSPACE_APPLY_EDIT)
    def apply(params: lsp.ApplyWorkspaceEditParams):
        put(lsp_client, params.edit)
        return lsp.ApplyWorkspaceEditResult(applied=True)

    @lsp_client.feature(lsp.WINDOW_SHOW_MESSAGE_REQUEST)
    def ask(_params: lsp.ShowMessageRequestParams):
        return None

    @lsp_client.feature(lsp.CLIENT_REGISTER_CAPABILITY)
    def register(_params: lsp.RegistrationParams):
        return None

    await lsp_client.initialize_session(
        lsp.InitializeParams(
            capabilities=converter.structure(lsp_client.profile, lsp.ClientCapabilities),
            root_uri=tmp_path.as_uri(),
            initialization_options={"model": "play:solve"},
        )
    )
    for name, text in FILES.items():
        item = lsp.TextDocumentItem(uri=(tmp_path / name).as_uri(), language_id="python", version=0, text=text)
        lsp_client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=item))
    yield
    # It waits for the process without a limit of its own.
    async with asyncio.timeout(20):
        await lsp_client.shutdown_session()


def put(client, edit):
    """Applies an edit to m.py and reports it."""
    changes = edit.changes or {change.text_document.uri: change.edits for change in edit.document_changes}
    ((uri, edits),) = changes.items()
    assert uri == (client.root / "m.py").as_uri()
    change(client, edited(client.texts["m.py"], get_converter().unstructure(edits)))


def change(client, text):
    """m.py reads so now."""
    client.texts["m.py"] = text
    client.changed.set()
    client.versions["m.py"] += 1
    uri = (client.root / "m.py").as_uri()
    item = lsp.VersionedTextDocumentIdentifier(uri=uri, version=client.versions["m.py"])
    whole = lsp.TextDocumentContentChangeWholeDocument(text=text)
    client.text_document_did_change(lsp.DidChangeTextDocumentParams(text_document=item, content_changes=[whole]))


async def actions(client):
    here = lsp.Position(line=3, character=6)
    return await client.text_document_code_action_async(
        lsp.CodeActionParams(
            text_document=lsp.TextDocumentIdentifier(uri=(client.root / "test_m.py").as_uri()),
            range=lsp.Range(start=here, end=here),
            context=lsp.CodeActionContext(diagnostics=[]),
        )
    )


async def choose(client, title):
    """As a person does: the edit of the action, else its command."""
    found = await actions(client)
    action = next((item for item in found if item.title.startswith(title)), None)
    assert action is not None, [item.title for item in found]
    if getattr(action, "edit", None) is not None:
        put(client, action.edit)
        return
    command = action if isinstance(action, lsp.Command) else action.command
    params = lsp.ExecuteCommandParams(command=command.command, arguments=command.arguments)
    await client.workspace_execute_command_async(params)


async def diagnosed(client, holds):
    """Waits until what test_m.py shows is such."""
    uri = (client.root / "test_m.py").as_uri()
    async with asyncio.timeout(20):
        while not holds(client.diagnostics.get(uri, [])):
            await client.protocol.wait_for_notification_async(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return client.diagnostics[uri]


def target(client):
    return {"uri": (client.root / "test_m.py").as_uri(), "position": {"line": 3, "character": 0}}


@pytest.mark.story("any client's library gets through", only=("vscode-1.139",))
async def test_from_red_to_green(client: LanguageClient):
    action, *_run = await actions(client)
    command = action if isinstance(action, lsp.Command) else action.command
    assert list(command.arguments) == [target(client)]
    result = await client.protocol.send_request_async("greenloop/refine", target(client))
    assert result.solved
    declares = find_capability(client.profile, "workspace.applyEdit")
    assert result.applied is bool(declares)
    literals = find_capability(client.profile, "textDocument.codeAction.codeActionLiteralSupport")
    if not declares and not literals:
        # JupyterLab has no code actions at all: there is no way to change its text.
        assert not [item for item in await actions(client) if item.title.startswith("Apply")]
        return
    if not declares:
        # Kate and ALE declare no workspace/applyEdit: the action itself carries the edit.
        await choose(client, "Apply refined double")
    assert client.texts["m.py"] == DONE
    assert bool(client.progress_reports) is bool(find_capability(client.profile, "window.workDoneProgress"))
    hover = await client.text_document_hover_async(
        lsp.HoverParams(
            text_document=lsp.TextDocumentIdentifier(uri=(client.root / "m.py").as_uri()),
            position=lsp.Position(line=0, character=5),
        )
    )
    content = find_capability(client.profile, "textDocument.hover.contentFormat")
    assert hover.contents.kind.value == ("markdown" if "markdown" in content else "plaintext")
    assert not client.diagnostics[(client.root / "test_m.py").as_uri()]
    # Undo, and the same result once more.
    change(client, FILES["m.py"])
    client.changed.clear()
    await choose(client, "Apply refined double")
    async with asyncio.timeout(20):
        await client.changed.wait()
    assert client.texts["m.py"] == DONE


async def test_cancelled_on_the_way(client: LanguageClient):
    settings = {"greenloop": {"model": "play:hold"}}
    client.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(settings=settings))
    request = asyncio.ensure_future(client.protocol.send_request_async("greenloop/refine", target(client)))
    red = await diagnosed(client, lambda items: any("attempt 1/" in item.source for item in items))
    (case,) = [item for item in red if "attempt 1/" in item.source]
    assert (case.range.start.line, case.code, case.severity) == (4, "AssertionError", lsp.DiagnosticSeverity.Error)
    related = find_capability(client.profile, "textDocument.publishDiagnostics.relatedInformation")
    assert bool(case.related_information) is bool(related)
    await choose(client, "Cancel refinement: test_double")
    async with asyncio.timeout(20):
        result = await request
    assert (result.solved, result.reason) == (False, "cancelled")
    await diagnosed(client, lambda items: not items)
    assert client.texts == FILES
    kinds = [report.kind for reports in client.progress_reports.values() for report in reports]
    assert (
        [kinds[0], kinds[-1]] == ["begin", "end"]
        if kinds
        else not find_capability(client.profile, "window.workDoneProgress")
    )
