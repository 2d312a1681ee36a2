#!/usr/bin/env python3
"""Writes the table of clients into docs/editors.md from what the tests saw; with --check only says if it is right.

`GREENLOOP_CLIENTS_TABLE=tests/lsp/clients.json pytest tests/lsp/test_clients_story.py` writes what they see.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "editors.md"
CLAIMS = ROOT / "tests" / "lsp" / "clients.json"
BEGIN, END = "<!-- clients:begin -->\n", "<!-- clients:end -->\n"

HEAD = """\
`scripts/clients_table.py` makes this table of what `tests/lsp/test_clients_story.py` sees.
*As declared*: the whole story with what the client really declares, and its way of asking and replying.
*Really*: the editor itself is driven through it as well, in `tests/editors`.

"""
FOOT = """
- *unversioned*: the client declares no versions for edits; the server compares the texts itself.
- *by the code action*: the client takes no edit from a server; *Apply refined …* carries it.
- Vim with ALE 3.3, Helix 25.01 and Kate 22.12 are driven really, too, but before a release only.
- *in the message*: what others show as related information stands in the diagnostic's text.
- *not declared*: the client may show lenses all the same (Neovim before 0.11 and lsp-mode do).
- JupyterLab asks for no code actions and sends no commands: it shows what a run says, and cannot start one.
"""


def make_table(claims: Mapping[str, Mapping[str, str]]) -> str:
    """One row a client, one column a feature."""
    features = list(next(iter(claims.values())))
    rows = [["client", *features], *([name, *(results[each] for each in features)] for name, results in claims.items())]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines) + "\n"


def insert_table(text: str) -> str:
    """The page's text with the table in its place. Raises `ValueError` where there is no place for it."""
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"{DOCUMENT} has no lines {BEGIN.strip()} and {END.strip()}")
    claims = json.loads(CLAIMS.read_text(encoding="utf-8"))
    return before + BEGIN + HEAD + make_table(claims) + FOOT + END + after


def main() -> int:
    text = DOCUMENT.read_text(encoding="utf-8")
    if sys.argv[1:] == ["--check"]:
        return int(text != insert_table(text))
    DOCUMENT.write_text(insert_table(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
