"""The page of messages: its generator finds the texts of every room."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

HOUSE = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("messages_doc", HOUSE / "scripts" / "messages_doc.py")
assert SPEC is not None
assert SPEC.loader is not None
messages_doc = importlib.util.module_from_spec(SPEC)


@pytest.fixture(scope="module", autouse=True)
def generator():
    SPEC.loader.exec_module(messages_doc)


@pytest.mark.parametrize(
    ("room", "least"),
    [
        ("cli", 150),
        ("lsp", 120),
        ("engine", 80),
        ("project", 150),
        ("greenloop_sandbox", 100),
        ("models", 60),
        ("vscode-client", 80),
    ],
)
def test_messages_are_found_in_every_room(room, least):
    assert len(messages_doc.group_messages_by_room()[room]) >= least


def test_values_are_placeholders_and_docstrings_are_left_out():
    texts = [message.text for message in messages_doc.group_messages_by_room()["cli"]]
    assert "{…} is not a folder." in texts
    assert not any("Raises `" in text for text in texts)


def test_the_page_is_up_to_date():
    assert messages_doc.DOCUMENT.read_text(encoding="utf-8") == messages_doc.make_page(), "run scripts/messages_doc.py"
