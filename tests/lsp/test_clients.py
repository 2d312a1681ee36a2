"""The captured capabilities of real editors, each through the one path with pytest-lsp's client."""

import json
import sys
from pathlib import Path

import pytest_lsp
from lsprotocol import types as lsp
from lsprotocol.converters import get_converter
from pytest_lsp import ClientServerConfig, LanguageClient

from .conftest import FILES, HERE, SOURCES, edited

PROFILES = sorted(path.stem for path in (HERE / "capabilities").glob("*.json"))


def capabilities(profile):
    captured = json.loads((HERE / "capabilities" / f"{profile}.json").read_text(encoding="utf-8"))
    return captured["capabilities"]


@pytest_lsp.fixture(
    params=PROFILES,
    config=ClientServerConfig(
        server_command=[sys.executable, str(HERE / "stand_in.py")], server_env={"PYTHONPATH": str(SOURCES)}
    ),
)
async def client(request, lsp_client: LanguageClient, tmp_path: Path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    lsp_client.root, lsp_client.profile = tmp_path, capabilities(request.param)
    lsp_client.texts = dict(FILES)
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
    await lsp_client.shutdown_session()


def put(client, edit):
    """Applies an edit to m.py and reports it."""
    changes = edit.changes or {change.text_document.uri: change.edits for change in edit.document_changes}
    ((uri, edits),) = changes.items()
    assert uri == (client.root / "m.py").as_uri()
    client.texts["m.py"] = edited(client.texts["m.py"], get_converter().unstructure(edits))
    item = lsp.VersionedTextDocumentIdentifier(uri=uri, version=1)
    whole = lsp.TextDocumentContentChangeWholeDocument(text=client.texts["m.py"])
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


async def test_from_red_to_green(client: LanguageClient):
    action, *_run = await actions(client)
    command = action if isinstance(action, lsp.Command) else action.command
    parameters = {"uri": (client.root / "test_m.py").as_uri(), "position": {"line": 3, "character": 0}}
    assert list(command.arguments) == [parameters]
    result = await client.protocol.send_request_async("greenloop/refine", parameters)
    assert result.solved
    declares = client.profile.get("workspace", {}).get("applyEdit")
    assert result.applied is bool(declares)
    literals = "codeActionLiteralSupport" in client.profile["textDocument"].get("codeAction", {})
    if not declares and not literals:
        # JupyterLab has no code actions at all: there is no way to change its text.
        assert not [item for item in await actions(client) if item.title.startswith("Apply")]
        return
    if not declares:
        # Kate and ALE declare no workspace/applyEdit: the action itself carries the edit.
        offered = [item for item in await actions(client) if item.title.startswith("Apply refined double")]
        put(client, offered[0].edit)
    assert client.texts["m.py"] == "def double(x):\n    return x * 2\n"
    assert bool(client.progress_reports) is bool(client.profile.get("window", {}).get("workDoneProgress"))
    hover = await client.text_document_hover_async(
        lsp.HoverParams(
            text_document=lsp.TextDocumentIdentifier(uri=(client.root / "m.py").as_uri()),
            position=lsp.Position(line=0, character=5),
        )
    )
    declared = client.profile["textDocument"]["hover"]["contentFormat"]
    assert hover.contents.kind.value == ("markdown" if "markdown" in declared else "plaintext")
    assert not client.diagnostics[(client.root / "test_m.py").as_uri()]
