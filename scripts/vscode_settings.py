#!/usr/bin/env python3
"""Writes the settings of vscode-client/package.json from the server's own; with --check only says if they agree."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from greenloop.project import settings
from greenloop.project.configuration import OTHER_NAMES

MANIFEST = Path(__file__).resolve().parents[1] / "vscode-client" / "package.json"
LIMITS = (("least", "minimum"), ("most", "maximum"))
TYPES = {int: "integer", float: "number", bool: "boolean", str: "string"}

# The client's own, which the server never sees.
CLIENT_SETTINGS: dict[str, dict[str, Any]] = {
    "python": {
        "type": "string",
        "default": "",
        "scope": "machine",
        "markdownDescription": "Python that runs greenloop itself, with greenloop installed in it; empty: found. "
        "The Python of your tests is `#greenloop.interpreter#`.",
    },
    "trace.server": {
        "type": "string",
        "enum": ["off", "messages", "verbose"],
        "default": "off",
        "scope": "window",
        "markdownDescription": "Show the messages between the editor and greenloop in an output channel. "
        "`verbose` shows your sources too.",
    },
}

# VS Code takes these from the user alone, never from the `.vscode` folder of a repository: who is sent the code and
# what that costs, what runs it, what it may reach, and what concerns the machine rather than the project.
USERS_OWN = re.compile(
    r"(.+\.)?model(\.kind)?|escalation\.models|cost|interpreter|api\..+|embedded\..+|history\..+"
    r"|sandbox\.(kind|image|runtime|network|env|expose)"
)

# Title of a page, and the first words of the keys on it.
PAGES: tuple[tuple[str, frozenset[str]], ...] = (
    ("Sandbox", frozenset({"sandbox", "suite", "interpreter"})),
    ("Models", frozenset({"api", *settings.ROLES, "escalation", "embedded"})),
    ("Prompts and feedback", frozenset({"prompt", "answer", "feedback", "ladder"})),
    ("Tests from docstrings", frozenset({"spec", "ask"})),
)
FIRST = "greenloop"


def configuration() -> list[dict[str, Any]]:
    """`contributes.configuration`: pages in order, and on each the keys in the order of the server's class."""
    pages: dict[str, dict[str, Any]] = {title: {} for title in (FIRST, *(title for title, _heads in PAGES))}
    entries = {
        key: _property(key, kind, default, metadata)
        for key, kind, default, metadata in settings.keys()  # noqa: SIM118 - a module, no dict
        if metadata["editor"]
    }
    for key, entry in {**_named_for_vscode(entries), **CLIENT_SETTINGS}.items():
        head = key.split(".")[0]
        title = next((title for title, heads in PAGES if head in heads), FIRST)
        pages[title][f"{settings.APP}.{key}"] = {**entry, "order": len(pages[title])}
    return [
        {"title": title, "order": position, "properties": properties}
        for position, (title, properties) in enumerate(pages.items())
    ]


def _named_for_vscode(entries: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The entries by names of which none lies below another one, which VS Code does not allow."""
    names = {key: written for written, key in OTHER_NAMES.items() if "." not in written}
    return {names.get(key, key): entry for key, entry in entries.items()}


def _property(key: str, kind: Any, default: Any, metadata: Mapping[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "string"}
    if get_origin(kind) is Literal:
        entry["enum"] = list(get_args(kind))
    elif get_origin(kind) is list:
        (item,) = get_args(kind)
        words = {"enum": list(get_args(item))} if get_origin(item) is Literal else {}
        limits = {name: metadata[word] for word, name in LIMITS if metadata[word] is not None}
        entry = {"type": "array", "items": {"type": "string" if words else TYPES[item], **words, **limits}}
    else:
        entry["type"] = TYPES[kind]
    for word, name in LIMITS:
        if metadata[word] is not None and get_origin(kind) is not list:
            entry[name] = _number(metadata[word])
    entry["default"] = _number(default)
    entry["scope"] = "machine" if USERS_OWN.fullmatch(key) else "resource"
    entry["markdownDescription"] = metadata["doc"]
    return entry


def _number(value: Any) -> Any:
    """Without the `.0` that JSON needs no more than a reader."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def insert_settings(manifest: str) -> str:
    """The manifest with these settings in place of those it has; everything else stays to the letter."""
    text = json.dumps(configuration(), indent=2, ensure_ascii=False).replace("\n", "\n    ")
    match = re.search(r'^    "configuration": ', manifest, re.MULTILINE)
    if match is None:
        raise SystemExit(f'{MANIFEST} has no "configuration" among its "contributes".')
    _old, end = json.JSONDecoder().raw_decode(manifest, match.end())
    return manifest[: match.end()] + text + manifest[end:]


def main() -> int:
    manifest = MANIFEST.read_text(encoding="utf-8")
    if sys.argv[1:] == ["--check"]:
        return int(json.loads(manifest)["contributes"].get("configuration") != configuration())
    MANIFEST.write_text(insert_settings(manifest), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
