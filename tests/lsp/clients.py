"""Fourteen real clients as the server meets them: what each declared, how it asks, replies and refuses.

`capabilities/*.json` is what they sent in `initialize`, byte for byte; how they behave was seen in the real editors.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from client_capabilities import captured_capabilities, captured_client_name, find_capability, missing_capabilities

from .conftest import HERE, Editor

CLAIMS = HERE / "clients.json"
EVERY_KIND = ["", "quickfix", "refactor", "refactor.extract", "refactor.inline", "refactor.rewrite", "source"]


@dataclass(frozen=True, kw_only=True)
class ClientBehaviour:
    """`asks` is what stands in the context of its code action requests beside the diagnostics.

    `says` makes its reply to an edit that went in, `refuses` to one that did not.
    `replies` has its way with other requests of the server: an exception is an error, `SILENCE` no reply.
    One that is not `answers` replies to nothing at all; one without `commands` sends none and asks for no actions.
    `real` names the editor itself where it is driven through the story too, in tests/editors.
    """

    title: str
    asks: Mapping[str, Any] = field(default_factory=dict)
    says: Callable[[], Any] = lambda: {"applied": True}
    refuses: Callable[[], Any] = lambda: {"applied": False}
    replies: Mapping[str, Any] = field(default_factory=dict)
    answers: bool = True
    commands: bool = True
    real: str = ""


CLIENTS = {
    "nvim-0.11.4": ClientBehaviour(
        title="Neovim 0.11", real="nvim-0.11", asks={"triggerKind": 1}, refuses=lambda: {"applied": True}
    ),
    "nvim-0.10.4": ClientBehaviour(title="Neovim 0.10", asks={"triggerKind": 1}, refuses=lambda: {"applied": True}),
    "nvim-0.7.2": ClientBehaviour(title="Neovim 0.7", real="nvim-0.7", refuses=lambda: {"applied": True}),
    "eglot-1.17-emacs30": ClientBehaviour(title="eglot 1.17", asks={"triggerKind": 1}),
    "eglot-1.9-emacs28": ClientBehaviour(title="eglot 1.9", real="eglot", says=lambda: None, refuses=lambda: None),
    "lspmode-9.0-emacs30": ClientBehaviour(title="lsp-mode 9"),
    "lspmode-8.0-emacs28": ClientBehaviour(
        title="lsp-mode 8", real="lsp-mode", says=lambda: ["t"], refuses=lambda: ["t"]
    ),
    "helix-25.01": ClientBehaviour(
        title="Helix 25",
        asks={"triggerKind": 1},
        replies={"window/showMessageRequest": Exception("MethodNotFound")},
    ),
    "kate-25.04": ClientBehaviour(title="Kate 25", asks={"only": ["quickfix", "refactor", "source"]}),
    "vim-lsp": ClientBehaviour(
        title="vim-lsp", asks={"only": EVERY_KIND}, replies={"window/showDocument": Editor.SILENCE}
    ),
    "yegappan-lsp-vim9": ClientBehaviour(title="yegappan/lsp", asks={"triggerKind": 1}),
    "ale-3.3-vim9.0": ClientBehaviour(title="ALE 3.3", answers=False),
    "jupyterlab": ClientBehaviour(title="JupyterLab", commands=False),
    "vscode-1.139": ClientBehaviour(title="VS Code", asks={"triggerKind": 1}),
}
FEATURES = (
    "code action",
    "command",
    "progress",
    "diagnostics",
    "related information",
    "hover",
    "edit",
    "undo",
    "apply later",
    "cancel",
    "lens",
    "messages",
    "show document",
    "tested",
)


class Client(Editor):
    """An editor that declares and behaves as one of the fourteen."""

    def __init__(self, process, root: Path, name: str) -> None:
        super().__init__(process, root)
        self.name, self.manners, self.capabilities = name, CLIENTS[name], captured_capabilities(name)
        self.client_name = captured_client_name(name)
        self.willing = True
        self.answers["workspace/applyEdit"] = self.apply_as_it_does
        for method in ("window/workDoneProgress/create", "client/registerCapability", "workspace/codeLens/refresh"):
            self.answers[method] = None
        self.answers["window/showDocument"] = {"success": True}
        self.answers["window/showMessageRequest"] = lambda params: params["actions"][0]
        self.answers |= self.manners.replies

    def has(self, path: str) -> Any:
        return find_capability(self.capabilities, path)

    def _answer(self, message) -> None:
        if self.manners.answers:
            super()._answer(message)

    def apply_as_it_does(self, params):
        if not self.willing:
            return self.manners.refuses()
        assert super().apply(params) == {"applied": True}
        return self.manners.says()

    async def offered(self, **where) -> list[dict[str, Any]]:
        """What this client's menu holds."""
        here = {"line": where.get("line", 3), "character": 6}
        uri = self.uri(where.get("name", "test_m.py"))
        shown = [item for item in self.shown(where.get("name", "test_m.py")) if item["range"]["start"] == here]
        context = {"diagnostics": shown, **self.manners.asks}
        params = {"textDocument": {"uri": uri}, "range": {"start": here, "end": here}, "context": context}
        return await self.call("textDocument/codeAction", params) or []

    async def chosen(self, title: str, **where) -> dict[str, Any]:
        """The entry whose title starts so, once it is there."""
        found = [entry for entry in await self.offered(**where) if entry["title"].startswith(title)]
        assert found, f"{title}: not in {[entry['title'] for entry in await self.offered(**where)]}"
        return found[0]

    async def choose(self, title: str, **where) -> dict[str, Any]:
        """Chooses an entry as this client does: the edit first, then the command."""
        entry = await self.chosen(title, **where)
        if "edit" in entry:
            Editor.apply(self, {"edit": entry["edit"]})
        command = entry["command"] if isinstance(entry.get("command"), dict) else entry
        if isinstance(command.get("command"), str):
            await self.execute(command["command"], *command["arguments"])
        return entry

    def asked_undeclared(self) -> list[str]:
        """What this client would have had to declare for the requests that the server sent, and did not."""
        asked = [message for message in self.inbox if message and "method" in message and "id" in message]
        return [
            path
            for each in asked
            for path in missing_capabilities(self.capabilities, each["method"], each.get("params") or {})
        ]

    def configure(self, **settings) -> None:
        self.notify("workspace/didChangeConfiguration", {"settings": {"greenloop": settings}})

    def undo(self, name: str, text: str) -> None:
        self.change(name, text)
