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
        "markdownDescription": "Python that runs greenloop itself, with greenloop installed; empty: detected. "
        "The Python of your tests is `#greenloop.interpreter#`.",
    },
    "trace.server": {
        "type": "string",
        "enum": ["off", "messages", "verbose"],
        "default": "off",
        "scope": "window",
        "markdownDescription": "Show the messages between the editor and greenloop in an output channel. "
        "`verbose` also shows your source code.",
    },
}

# VS Code takes these from the user alone, never from the `.vscode` folder of a repository: who is sent the code and
# what that costs, what runs it, what it may reach, and what concerns the machine rather than the project.
USERS_OWN = re.compile(
    r"model(\.kind)?|escalation\.models|cost|interpreter|api\..+|embedded\..+"
    r"|sandbox\.(kind|image|runtime|network|env|expose)"
)

# The settings that users of the product can mean something by: the titles of the pages, and the keys on each, in order.
# All others are set in files and on the command line. docs/settings.md has every one.
PAGES: dict[str, tuple[str, ...]] = {
    "Refining": (
        "preset",
        "attempts",
        "seconds",
        "apply",
        "ask",
        "spec.design",
        "spec.write",
        "spec.human",
        "spec.constraints",
        "editor.runs",
        "editor.lens",
        "editor.save",
        "python",
        "trace.server",
    ),
    "Model": (
        "model",
        "model.kind",
        "tokens",
        "cost",
        "api.base",
        "api.key",
        "api.effort",
        "api.timeout",
        "escalation.models",
        "embedded.threads",
        "embedded.gpu",
        "embedded.idle",
    ),
    "Tests and sandbox": (
        "interpreter",
        "sandbox.kind",
        "sandbox.image",
        "sandbox.runtime",
        "sandbox.seconds",
        "sandbox.memory",
        "sandbox.processes",
        "sandbox.network",
        "sandbox.env",
        "sandbox.expose",
        "suite.seconds",
    ),
}

# The words of VS Code's page, where those of docs/settings.md are for files and terminals.
WORDS = {
    "preset": "How greenloop searches for fixes: `default`, or another preset (command *greenloop: Choose Preset*).",
    "attempts": "How many times a model may try; 0: the preset's number.",
    "seconds": "How many seconds a refinement may take. A quarter of them, at most 60, is reserved for the proof.",
    "ask": "How many times a refinement may ask you whether a generated test is right.",
    "spec.human": "Show each passing change, so that you can accept it or say what is wrong.",
    "editor.runs": "How many refinements run at the same time; others wait.",
    "editor.lens": "Show actions above tests and functions: run, refine, the last result.",
    "editor.save": "When a file is saved, run the tests that it affects in the sandbox.",
    "model": "The model that writes code: `local` (embedded), `ollama/llama3.2`, `openai/gpt-4o`, `editor` (the "
    "editor's own). Empty: the embedded one if it is downloaded, otherwise one of Ollama's. The command "
    "*greenloop: Choose Model* sets it.",
    "model.kind": "A `small` model gets small questions; a `capable` one gets the whole failure, and may look around "
    "in the project. `auto`: models on this machine below 14 billion parameters are small.",
    "tokens": "How many tokens a refinement may use, prompts and answers together.",
    "cost": "How many US dollars a refinement may cost; 0: no limit.",
    "escalation.models": "Models that take over, one after another, when attempts keep failing.",
    "sandbox.kind": "The sandbox of the tests. `auto`: bubblewrap, otherwise Docker or podman. `ray` splits long runs "
    "across the nodes of a Ray cluster. `none`: no isolation; it also needs `sandbox.unsafe` in greenloop's own file.",
    "sandbox.seconds": "How many seconds the tests of one attempt may take.",
    "sandbox.memory": "How much memory the tests may use, in MiB.",
    "sandbox.processes": "How many processes and threads the tests may use at the same time.",
    "sandbox.network": "Let tests reach the network; every result then says so.",
    "suite.seconds": "How many seconds the related tests may take; a change must not break these.",
}


def configuration() -> list[dict[str, Any]]:
    """`contributes.configuration`: the pages with their settings, in order."""
    servers = {key: (kind, default, metadata) for key, kind, default, metadata in settings.keys()}  # noqa: SIM118
    # VS Code allows no name below another one.
    names = {key: written for written, key in OTHER_NAMES.items() if "." not in written}
    pages = []
    for position, (title, keys) in enumerate(PAGES.items()):
        entries = [CLIENT_SETTINGS[key] if key in CLIENT_SETTINGS else _property(key, *servers[key]) for key in keys]
        properties = {
            f"{settings.APP}.{names.get(key, key)}": {**entry, "order": order}
            for order, (key, entry) in enumerate(zip(keys, entries, strict=True))
        }
        pages.append({"title": title, "order": position, "properties": properties})
    return pages


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
    entry["markdownDescription"] = WORDS.get(key, metadata["doc"])
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
