"""The page of messages: its generator finds the texts of every room."""

from __future__ import annotations

import importlib.util
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("messages_doc", HOUSE / "scripts" / "messages_doc.py")
assert SPEC is not None
assert SPEC.loader is not None
messages_doc = importlib.util.module_from_spec(SPEC)


LEAST = {
    "cli": 120,
    "lsp": 120,
    "engine": 80,
    "project": 150,
    "greenloop_sandbox": 100,
    "models": 20,
    "plugins": 1000,
    "vscode-client": 80,
}


def test_messages_are_found_in_every_room_and_the_page_is_up_to_date():
    SPEC.loader.exec_module(messages_doc)
    rooms = messages_doc.group_messages_by_room()
    assert [room for room, least in LEAST.items() if len(rooms[room]) < least] == []
    # Values are placeholders, and docstrings are left out.
    texts = [message.text for message in rooms["cli"]]
    assert "{…} is not a folder." in texts
    assert not any("Raises `" in text for text in texts)
    assert messages_doc.DOCUMENT.read_text(encoding="utf-8") == messages_doc.make_page(rooms), (
        "run scripts/messages_doc.py"
    )
