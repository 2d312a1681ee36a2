#!/usr/bin/env python3
"""Writes the table of embedded models into docs/models.md; with --check only says if it is right (exit code 1)."""

from __future__ import annotations

import sys
from pathlib import Path

from greenloop.plugins.embedded import catalogue, hardware
from greenloop.plugins.embedded.catalogue import EmbeddedModel
from greenloop.plugins.embedded.settings import EmbeddedSettings

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "models.md"
BEGIN, END = "<!-- catalogue:begin -->\n", "<!-- catalogue:end -->\n"
HEAD = """\
| name | download | memory | license | trained for | from | tried |
|---|---|---|---|---|---|---|
"""
UNKNOWN = "see the hub"


def make_table() -> str:
    return HEAD + "".join(f"| {' | '.join(_cells(model))} |\n" for model in catalogue.read_catalogue())


def _cells(model: EmbeddedModel) -> tuple[str, ...]:
    memory = hardware.needed_memory(model, EmbeddedSettings())
    return (
        f"`{model.name}`",
        f"{model.size / 1e9:.1f} GB" if model.size else UNKNOWN,
        f"{memory / 1e9:.1f} GB" if model.size else f"download + {memory / 1e9:.1f} GB",
        f"{model.license}: {model.restriction}" if model.restriction else model.license,
        f"{model.context:,} tokens",
        f"[{model.hub}](https://huggingface.co/{model.hub})",
        "yes" if model.tried else "not tested",
    )


def insert_table(text: str) -> str:
    """The page's text with the table in its place. Raises `ValueError` where there is no place for it."""
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"{DOCUMENT} has no lines {BEGIN.strip()} and {END.strip()}")
    return before + BEGIN + make_table() + END + after


def main() -> int:
    text = DOCUMENT.read_text(encoding="utf-8")
    if sys.argv[1:] == ["--check"]:
        return int(text != insert_table(text))
    DOCUMENT.write_text(insert_table(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
