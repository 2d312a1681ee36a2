"""The extension for VS Code against the server: settings, commands, messages and version are the same on both sides."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from greenloop.lsp.connection import messages
from greenloop.lsp.server import create_server
from greenloop.plugins.agents import editor_requests
from greenloop.project.configuration import OTHER_NAMES
from greenloop.project.settings import keys

HOUSE = Path(__file__).parents[2]
CLIENT = HOUSE / "vscode-client"
MANIFEST = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
CONTRIBUTES = MANIFEST["contributes"]
SOURCES = {path: path.read_text(encoding="utf-8") for path in sorted((CLIENT / "src").rglob("*.ts"))}
CODE = "\n".join(SOURCES.values())
PAGE = (HOUSE / "docs/protocol.md").read_text(encoding="utf-8")
COMMANDS = {each["command"] for each in CONTRIBUTES["commands"]}
PROPERTIES = {name: each for page in CONTRIBUTES["configuration"] for name, each in page["properties"].items()}

# What VS Code users reach in another way, and how.
NOT_NEEDED_COMMANDS = {
    "greenloop.showAttempt": "code actions",
    "greenloop.compare": "the diff editor, by greenloop/attempt",
    "greenloop.open": "the button of the message; code actions",
    "greenloop.showLog": "the output channel; code actions",
    "greenloop.showTests": "code actions",
    "greenloop.answer": "code actions and window/showMessageRequest",
}
NOT_NEEDED_MESSAGES = {
    messages.REFINE: "the command greenloop.refine",
    messages.QUESTION: "window/showMessageRequest",
    messages.QUESTION_OVER: "window/showMessageRequest",
}


def block(head: str) -> str:
    """The object literal of protocol.ts that begins with this line."""
    text = SOURCES[CLIENT / "src/protocol.ts"]
    return text.split(head, 1)[1].split("} as const", 1)[0]


METHODS = set(re.findall(r'^ +\w+: "([^"]+)"', block("export const METHODS = {"), re.MULTILINE))


def test_settings_are_the_servers_own():
    script = [sys.executable, "scripts/vscode_settings.py", "--check"]
    assert subprocess.run(script, cwd=HOUSE, check=False).returncode == 0, "run scripts/vscode_settings.py"


def test_the_page_has_few_settings_that_an_editor_may_set_in_three_groups():
    # An editor cannot have a setting below another one that is a text.
    other = {key: name for name, key in OTHER_NAMES.items() if "." not in name}
    servers = {f"greenloop.{other.get(key, key)}" for key, _kind, _default, metadata in keys() if metadata["editor"]}
    assert set(PROPERTIES) < servers | {"greenloop.python", "greenloop.trace.server"}
    assert len(PROPERTIES) <= 40
    assert len(CONTRIBUTES["configuration"]) == 3


@pytest.mark.parametrize(
    "key",
    [
        "model",
        "escalation.models",
        "api.base",
        "api.key",
        "cost",
        "interpreter",
        "python",
        "sandbox.kind",
        "sandbox.image",
        "sandbox.runtime",
        "sandbox.network",
        "sandbox.env",
        "sandbox.expose",
    ],
)
def test_a_repository_cannot_set_who_sees_and_runs_code(key):
    assert PROPERTIES[f"greenloop.{key}"]["scope"] == "machine"


def test_what_a_repository_may_set_anyway_is_for_each_folder():
    mine = {f"greenloop.{key}" for key, _kind, _default, metadata in keys() if metadata["repository"] != "no"}
    assert {PROPERTIES[key]["scope"] for key in mine & set(PROPERTIES)} == {"resource"}


def test_every_setting_is_described():
    assert all(each["markdownDescription"].endswith(".") for each in PROPERTIES.values())


def test_the_clients_own_settings_and_no_others_are_kept_from_the_server():
    found = re.search(r"const OWN = /(.+)/;", SOURCES[CLIENT / "src/features/settings.ts"])
    assert found is not None
    kept = {key for key in PROPERTIES if re.search(found[1], key.removeprefix("greenloop."))}
    assert kept == {"greenloop.python", "greenloop.trace.server"}


def test_every_command_of_the_server_is_used_or_not_needed():
    servers = set(create_server().protocol.fm.commands)
    used = {each for each in servers if f'"{each}"' in CODE}
    assert used | set(NOT_NEEDED_COMMANDS) == servers
    assert not used & set(NOT_NEEDED_COMMANDS)


def test_no_command_is_both_the_servers_and_the_palettes():
    """The language client registers the server's itself, and a second registration would end the start."""
    assert not COMMANDS & set(create_server().protocol.fm.commands)


def test_every_command_of_the_palette_is_registered_and_the_other_way_round():
    registered = set(re.findall(r'registerCommand\(\s*"([^"]+)"', CODE))
    for text in SOURCES.values():
        if "registerCommand(id" in text:
            registered |= set(re.findall(r'^ +"(greenloop\.[\w.]+)":', text, re.MULTILINE))
    assert registered == COMMANDS


def test_everything_that_names_a_command_names_one_that_exists():
    elsewhere = json.dumps(
        {kind: each for kind, each in CONTRIBUTES.items() if kind not in ("commands", "configuration")}
    )
    named = set(re.findall(r'"command": "(greenloop\.[\w.]+)"', elsewhere))
    named |= set(re.findall(r"(?:command|onCommand):(greenloop\.[\w.]+)", elsewhere))
    assert "greenloop.choose.model" in named
    assert named <= COMMANDS


def test_messages_are_the_servers_own():
    values = [*vars(messages).values(), *vars(editor_requests).values()]
    servers = {value for value in values if isinstance(value, str) and value.startswith("greenloop/")}
    unused = {name for name, _why in NOT_NEEDED_MESSAGES.items() if name not in METHODS}
    assert METHODS | unused == servers
    assert set(re.findall(r"`(greenloop/\w+)`", PAGE)) >= METHODS


def test_no_message_is_named_but_in_the_protocol():
    for path, text in SOURCES.items():
        if path.name != "protocol.ts":
            assert not re.findall(r'"greenloop/\w+"', text), path


def test_abilities_are_those_that_the_page_names():
    text = SOURCES[CLIENT / "src/protocol.ts"].split("export const ABILITIES = {", 1)[1].split("}", 1)[0]
    table = PAGE.split("| capability |", 1)[1].split("\n\n", 1)[0]
    assert set(re.findall(r"(\w+): true", text)) == set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))


def test_versions_are_one():
    lock = json.loads((CLIENT / "package-lock.json").read_text(encoding="utf-8"))
    assert {lock["version"], lock["packages"][""]["version"]} == {MANIFEST["version"]}


def test_nothing_is_measured_behind_the_users_back():
    assert not re.search(r"telemetry|appinsights|isNewAppInstall|machineId|sessionId", CODE, re.IGNORECASE)
    assert "dependencies" not in MANIFEST


def test_one_file_asks_the_editors_model():
    asks = r"\bvscode\.lm\b|selectChatModels|sendRequest\(messages"
    assert [path.name for path, text in SOURCES.items() if re.search(asks, text)] == ["editorModel.ts"]


def rows_of(png: bytes) -> list[list[int]]:
    """The rows of a picture of 128 by 128, each 4 bytes a pixel."""
    data, at = b"", 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        data += png[at + 8 : at + 8 + size] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + size
    raw, rows = zlib.decompress(data), [[0] * 512]
    for start in range(0, len(raw), 513):
        kind, row, above = raw[start], list(raw[start + 1 : start + 513]), rows[-1]
        for i in range(512):
            left, up, corner = (row[i - 4] if i >= 4 else 0), above[i], (above[i - 4] if i >= 4 else 0)
            nearest = min((left, up, corner), key=lambda each: abs(left + up - corner - each))
            row[i] = (row[i] + (0, left, up, (left + up) // 2, nearest)[kind]) % 256
        rows.append(row)
    assert len(rows) == 129
    return rows[1:]


def test_the_icon_is_as_the_marketplace_wants_it():
    png = (CLIENT / MANIFEST["icon"]).read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    # 128 by 128, 8 bits of red, green, blue and alpha, not interlaced.
    assert struct.unpack(">IIBBBBB", png[16:29]) == (128, 128, 8, 6, 0, 0, 0)
    assert [row for row, pixels in enumerate(rows_of(png)) if not any(pixels[3::4])] == [], "rows without a picture"


def test_the_walkthrough_shows_what_is_there():
    (walkthrough,) = CONTRIBUTES["walkthroughs"]
    assert [step["id"] for step in walkthrough["steps"]] == ["install", "model", "sandbox", "sample"]
    for step in walkthrough["steps"]:
        media = step["media"]
        assert all((CLIENT / name).is_file() for name in (media.get("image") or {"": media.get("markdown")}).values())


def test_the_pictures_of_the_page_exist():
    named = re.findall(r"\]\((media/[^)]+)\)", (CLIENT / "README.md").read_text(encoding="utf-8"))
    assert len(named) >= 6
    assert [name for name in named if not (CLIENT / name).is_file()] == []
    themes = {name.rpartition("-")[2] for name in named}
    assert themes == {"light.png", "dark.png"}


def test_the_licence_is_the_houses():
    assert (CLIENT / "LICENSE").read_text(encoding="utf-8") == (HOUSE / "LICENSE").read_text(encoding="utf-8")
