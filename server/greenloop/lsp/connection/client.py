"""The editor at the other end of the connection: what it declared, requests and notifications to it.

Each request is sent only where declared, has a timeout, and may fail. A failure is an ordinary result (None, False): an
editor that lacks a capability never ends a run.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from greenloop.core.errors import GreenloopError
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.jsonrpc import Protocol
from greenloop.lsp.connection.messages import REFUSED
from greenloop.serving.stdio import Outbox

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


log = logging.getLogger(__name__)
T = TypeVar("T")

# Seconds. Editors answer automatically in milliseconds; users need time to read.
SOON = 10.0
PERSON = 600.0
# Seconds after which an unanswered request leads to a log line: see `log_while_waiting`.
LOGGED_AT = (0.2, 1.0)
# Seconds between the reply to a command and the messages that it leads to: see `after_reply`.
AFTER_REPLY = 0.1


async def with_timeout(request: Awaitable[T], seconds: float, what: str) -> T | None:
    """The reply, or None where it is an error or does not come in time.

    Shielded: a cancelled caller must not cancel the request, because its reply may still come.
    """
    future = asyncio.ensure_future(request)
    future.add_done_callback(lambda done: None if done.cancelled() else done.exception())
    try:
        # Not `wait_for`: before Python 3.12 it loses a cancellation that comes together with the reply.
        async with asyncio.timeout(seconds):
            return await asyncio.shield(future)
    except TimeoutError:
        log.info("The editor did not answer %s within %g s", what, seconds)
        future.cancel()
    except JsonRpcException as error:
        log.info("The editor refused %s: %s", what, error.code)
    return None


async def after_reply() -> None:
    """Waits until the editor has read a reply that was just sent.

    Emacs stops reading at the reply it waits for: lsp-mode 8 loses what came in the same chunk, and eglot 1.9 leaves it
    unread until more comes. Called before any message that a command leads to.
    """
    await asyncio.sleep(AFTER_REPLY)


class Client:
    """The editor: what it declared at the handshake, and what can be sent to it."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self.capabilities = Capabilities()
        # Set once the connection is open.
        self.outbox: Outbox | None = None

    @property
    def is_behind(self) -> bool:
        """The editor reads slowly: optional messages should wait."""
        return self.outbox is not None and self.outbox.behind

    @property
    def progress(self) -> Any:
        """The progress tokens of pygls."""
        return self._server.work_done_progress

    # -- notifications ----------------------------------------------------------------------------------------------

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Sends one of greenloop's own notifications."""
        self._server.protocol.notify(method, params)

    def log(self, text: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        self._server.window_log_message(lsp.LogMessageParams(type=kind, message=text))

    def show_message(self, text: str, kind: lsp.MessageType = lsp.MessageType.Info) -> None:
        self._server.window_show_message(lsp.ShowMessageParams(type=kind, message=text))

    def show_warning(self, text: str) -> None:
        self.show_message(text, lsp.MessageType.Warning)

    def report_refusal(
        self,
        message: str,
        *,
        reason: str,
        remedy: str = "",
        uri: str = "",
        target: str = "",
        kind: lsp.MessageType = lsp.MessageType.Error,
    ) -> None:
        """Reports a refusal and its remedy: as greenloop's notification where declared, else as a message."""
        if not self.capabilities.refusals:
            self.show_message(" ".join(filter(None, (message, remedy))), kind)
            return
        fields = {"uri": uri, **({"target": target} if target else {})}
        self.notify(REFUSED, {**fields, "reason": reason, "message": message, "remedy": remedy})

    def report_error(self, error: GreenloopError, *, uri: str = "", target: str = "") -> None:
        """Reports an error as a refusal."""
        message, remedy = clean_for_display(str(error)), clean_for_display(error.remedy)
        self.report_refusal(message, reason=error.kind, remedy=remedy, uri=uri, target=target)

    def publish_diagnostics(self, uri: str, items: Sequence[lsp.Diagnostic], version: int | None = None) -> None:
        self._server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(
                uri=uri,
                diagnostics=list(items),
                version=version if self.capabilities.diagnostic_versions else None,
            )
        )

    def log_while_waiting(self, request: asyncio.Future[Any], what: str) -> None:
        """Sends a log line or two while the editor does not answer, so that eglot reads the rest (`after_reply`)."""

        def write_log() -> None:
            if not request.done():
                self.log(f"Waiting for the editor to answer {what}", lsp.MessageType.Log)

        for delay in LOGGED_AT:
            asyncio.get_running_loop().call_later(delay, write_log)

    # -- requests ---------------------------------------------------------------------------------------------------

    async def request(self, method: str, params: Mapping[str, Any]) -> Any:
        """The reply to one of greenloop's own requests. Raises `JsonRpcException` where the editor refuses."""
        return await cast("Protocol", self._server.protocol).request(method, params)

    async def ask(self, question: str, options: Sequence[str], *, seconds: float = PERSON) -> str | None:
        """The chosen option; None where the editor cannot ask or the user does not answer."""
        if not self.capabilities.questions:
            return None
        return await with_timeout(self.choose(question, options), seconds, "a question")

    async def choose(self, question: str, options: Sequence[str]) -> str | None:
        """The chosen option, None for any other reply; no timeout. Raises `JsonRpcException` if the editor refuses."""
        reply = await self._server.window_show_message_request_async(
            lsp.ShowMessageRequestParams(
                type=lsp.MessageType.Info,
                message=question,
                actions=[lsp.MessageActionItem(title=option) for option in options],
            )
        )
        title = getattr(reply, "title", None)
        return title if title in options else None

    async def show_document(self, uri: str, line: int | None = None) -> bool:
        """Opens a document, at a 1-based line. False where the editor cannot, or does not confirm that it did."""
        await after_reply()
        if not self.capabilities.show_document:
            return False
        start = lsp.Position(line=line - 1, character=0) if line else None
        request = self._server.window_show_document_async(
            lsp.ShowDocumentParams(
                uri=uri, external=False, take_focus=True, selection=lsp.Range(start=start, end=start) if start else None
            )
        )
        return bool(getattr(await with_timeout(request, SOON, "to show a document"), "success", False))

    async def open_progress(self) -> str | None:
        """A new progress token that the editor accepted; None where it did not."""
        await after_reply()
        if not self.capabilities.progress:
            return None
        token, is_accepted, is_over = str(uuid.uuid4()), False, False
        tokens = self.progress.tokens

        async def create() -> bool:
            await self.progress.create_async(token)
            if is_over:
                tokens.pop(token, None)
            return True

        try:
            is_accepted = bool(await with_timeout(create(), SOON, "for progress"))
        finally:
            is_over = True
            if not is_accepted:
                # A cancellation or timeout may coincide with the reply.
                tokens.pop(token, None)
        return token if is_accepted else None

    async def apply_edit(self, edit: lsp.WorkspaceEdit, label: str, seconds: float) -> Any:
        """The editor's reply, which may come before or without the change; None where none comes in time."""
        params = lsp.ApplyWorkspaceEditParams(edit=edit, label=label)
        return await with_timeout(self._server.workspace_apply_edit_async(params), seconds, "for an edit")

    async def refresh_lenses(self) -> None:
        """Asks the editor to request code lenses again."""
        if self.capabilities.refresh_lenses:
            await with_timeout(self._server.workspace_code_lens_refresh_async(None), SOON, "to refresh code lenses")

    async def request_settings(self, folder_uris: Sequence[str]) -> Sequence[Any] | None:
        """The editor's `greenloop` sections: one for each of these folders, and one for files outside them.

        None where the editor cannot provide them.
        """
        if not self.capabilities.configuration:
            return None
        items = [lsp.ConfigurationItem(scope_uri=scope, section="greenloop") for scope in (*folder_uris, None)]
        params = lsp.ConfigurationParams(items=items)
        reply = await with_timeout(self._server.workspace_configuration_async(params), SOON, "for its configuration")
        return reply if isinstance(reply, Sequence) and not isinstance(reply, str) else None

    async def register_for(self, method: str, options: Any) -> None:
        """Asks the editor to send the notifications of a method."""
        registration = lsp.Registration(id=str(uuid.uuid4()), method=method, register_options=options)
        params = lsp.RegistrationParams(registrations=[registration])
        await with_timeout(self._server.client_register_capability_async(params), SOON, "to register")
