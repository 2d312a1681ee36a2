"""What real clients declared in `initialize`, byte for byte, and what must be declared for a request to be sent."""

import json
from collections.abc import Mapping
from pathlib import Path

CAPTURED = Path(__file__).resolve().parents[1] / "lsp" / "capabilities"
# What a client must have declared to be asked.
DECLARES = {
    "workspace/applyEdit": "workspace.applyEdit",
    "workspace/configuration": "workspace.configuration",
    "workspace/codeLens/refresh": "workspace.codeLens.refreshSupport",
    "window/workDoneProgress/create": "window.workDoneProgress",
    "window/showDocument": "window.showDocument.support",
    "window/showMessageRequest": "window.showMessage.messageActionItem",
}


def captured_capabilities(name):
    """The capabilities of one of the captured clients, such as `helix-25.01`."""
    return _captured(name)["capabilities"]


def captured_client_name(name):
    """The name by which one of the captured clients introduces itself; "" where it has none."""
    return (_captured(name).get("clientInfo") or {}).get("name", "")


def _captured(name):
    return json.loads((CAPTURED / f"{name}.json").read_text(encoding="utf-8"))


def captured_clients():
    return sorted(path.stem for path in CAPTURED.glob("*.json"))


def find_capability(capabilities, path):
    """What a dotted path leads to; None where it leads nowhere."""
    for name in path.split("."):
        capabilities = capabilities.get(name) if isinstance(capabilities, Mapping) else None
    return capabilities


def missing_capabilities(capabilities, method, params):
    """What a client would have had to declare for a request of the server, and did not."""
    if method == "client/registerCapability":
        needed = [f"{each['method'].replace('/', '.')}.dynamicRegistration" for each in params["registrations"]]
    else:
        needed = [DECLARES.get(method, method)]
    return [path for path in needed if not find_capability(capabilities, path)]
