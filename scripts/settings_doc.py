#!/usr/bin/env python3
"""Writes docs/settings.md from the settings and the presets; with --check only says if it is right (exit code 1)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from greenloop.engine.presets import load_own_presets
from greenloop.project import settings
from greenloop.project.configuration import LABORATORY

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "settings.md"

HEAD = """\
# Settings

You need not set anything: greenloop finds the model, the sandbox and the Python of your tests.
To change a default, write it into your own file, for example `~/.config/greenloop/config.toml`:

```toml
model = "ollama/qwen2.5-coder:7b"
attempts = 10
sandbox.kind = "docker"
```

Keys may be nested or dotted in TOML and JSON.
In the environment, `sandbox.kind` is `GREENLOOP_SANDBOX_KIND`; on the command line, `--set sandbox.kind=docker`.

Later sources win:

1. the defaults below
2. `[tool.greenloop]` in the workspace's `pyproject.toml`, where the column "repository" allows it
3. your own file, `$XDG_CONFIG_HOME/greenloop/config.toml`
4. the editor's configuration (`initializationOptions`, section `greenloop`)
5. the environment
6. the command line

A repository is not trusted: it may only choose a preset and lower limits.
An editor may set everything except EXCEPT: only your own file may take that risk.
Each workspace folder may have different settings from the editor, and its newest answer replaces the one before.
An unknown key or bad value gives a warning and leaves the earlier value; on the command line it is an error.

| key | type | default | repository | meaning |
|---|---|---|---|---|
"""
PRESETS = """
## Presets

A preset names a prompt, context, feedback and search part.
Limits and acceptance are the same for all of them.
The presets of published systems come with [the laboratory](../lab/README.md).

"""
ALLOWED = {"no": "", "yes": "may set it", "lower": "may lower it"}
TYPES = {int: "whole number", float: "number", bool: "true or false", str: "text"}


def make_page() -> str:
    entries = [each for each in settings.keys() if not each[0].startswith(LABORATORY)]  # noqa: SIM118
    # The settings of plugins stand with the others of their section.
    sections = list(dict.fromkeys(key.partition(".")[0] for key, *_ in entries))
    rows = (_row(*entry) for entry in sorted(entries, key=lambda each: sections.index(each[0].partition(".")[0])))
    presets = (f"- `{each.name}`: {each.description}" for each in load_own_presets().values() if not each.blind)
    refused = [f"`{key}`" for key, _kind, _default, metadata in entries if not metadata["editor"]]
    return HEAD.replace("EXCEPT", " and ".join(refused)) + "\n".join(rows) + "\n" + PRESETS + "\n".join(presets) + "\n"


def _row(key: str, kind: Any, default: Any, metadata: Mapping[str, Any]) -> str:
    doc = str(metadata["doc"]).replace("|", "\\|")
    bounds = [f", at {word} {metadata[word]:g}" for word in ("least", "most") if metadata[word] is not None]
    name = _type(kind) + "".join(bounds)
    return f"| `{key}` | {name} | {_value(default)} | {ALLOWED[metadata['repository']]} | {doc} |"


def _type(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return " or ".join(f"`{each}`" if each else "empty" for each in get_args(kind))
    if get_origin(kind) is not list:
        return TYPES[kind]
    (item,) = get_args(kind)
    return f"list of {_type(item)}" if get_origin(item) is Literal else f"list of {TYPES[item]}s"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if value in ("", []):
        return ""
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        return int(not DOCUMENT.exists() or DOCUMENT.read_text(encoding="utf-8") != make_page())
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_text(make_page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
