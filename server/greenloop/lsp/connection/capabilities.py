"""Reads the capabilities that the editor declared. One fact that none of them tells is decided by its name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lsprotocol import types as lsp

# Capabilities of greenloop's own that are called here as in the protocol.
OWN = ("runs", "refusals", "review", "model", "keys", "tests")
# Clients whose dialogue for `window/showMessageRequest` takes the keys that the user is typing into a text.
MODAL = frozenset({"Neovim"})


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """The declared capabilities that this server uses. All false: a client that declares nothing.

    `questions`: the client can ask while the user types.
    """

    apply_edit: bool = False
    document_changes: bool = False
    create_files: bool = False
    action_literals: bool = False
    llm_tag: bool = False
    markdown_hover: bool = False
    related_information: bool = False
    diagnostic_versions: bool = False
    progress: bool = False
    show_document: bool = False
    questions: bool = False
    typed_answers: bool = False
    runs: bool = False
    refusals: bool = False
    review: bool = False
    model: bool = False
    model_info: bool = False
    keys: bool = False
    tests: bool = False
    refresh_lenses: bool = False
    configuration: bool = False
    watch_configuration: bool = False
    saves: bool = False
    watch_files: bool = False


def read_capabilities(capabilities: lsp.ClientCapabilities, client_name: str = "") -> Capabilities:
    def declared(path: str) -> Any:
        value: Any = capabilities
        for name in path.split("."):
            value = getattr(value, name, None)
            if value is None:
                return None
        return value

    return Capabilities(
        apply_edit=bool(declared("workspace.apply_edit")),
        document_changes=bool(declared("workspace.workspace_edit.document_changes")),
        create_files=lsp.ResourceOperationKind.Create
        in (declared("workspace.workspace_edit.resource_operations") or ()),
        action_literals=declared("text_document.code_action.code_action_literal_support") is not None,
        llm_tag=lsp.CodeActionTag.LlmGenerated in (declared("text_document.code_action.tag_support.value_set") or ()),
        markdown_hover=lsp.MarkupKind.Markdown in (declared("text_document.hover.content_format") or ()),
        related_information=bool(declared("text_document.publish_diagnostics.related_information")),
        diagnostic_versions=bool(declared("text_document.publish_diagnostics.version_support")),
        progress=bool(declared("window.work_done_progress")),
        show_document=bool(declared("window.show_document.support")),
        typed_answers=_experimental(capabilities, "questions"),
        model_info=_experimental(capabilities, "modelInfo"),
        **{name: _experimental(capabilities, name) for name in OWN},
        questions=declared("window.show_message.message_action_item") is not None and client_name not in MODAL,
        refresh_lenses=bool(declared("workspace.code_lens.refresh_support")),
        configuration=bool(declared("workspace.configuration")),
        saves=bool(declared("text_document.synchronization.did_save")),
        watch_files=bool(declared("workspace.did_change_watched_files.dynamic_registration")),
        watch_configuration=bool(declared("workspace.did_change_configuration.dynamic_registration")),
    )


def _experimental(capabilities: lsp.ClientCapabilities, name: str) -> bool:
    """True if a client declares a capability of greenloop's own: `{"experimental": {"greenloop": {name: true}}}`."""
    experimental = capabilities.experimental
    own_section = experimental.get("greenloop") if isinstance(experimental, Mapping) else None
    return isinstance(own_section, Mapping) and own_section.get(name) is True
