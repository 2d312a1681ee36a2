"""Translates messages about a notebook's module and tests into messages about its cells."""

from __future__ import annotations

import re
from typing import Any

from greenloop.plugins.notebooks.layout import Notebook


def label_text(notebook: Notebook, text: str) -> str:
    """A message with lines of the module and of the tests replaced by rows of cells, and tests by cells."""

    def label_line(match: re.Match[str]) -> str:
        position = notebook.position_of(int(match[1]) - 1)
        return match[0] if position is None else f"{notebook.path} cell {position.cell + 1} row {position.row + 1}"

    def label_test(match: re.Match[str]) -> str:
        return f"{notebook.path}:{labels[match[1]]}" if match[1] in labels else f"{notebook.path}::{match[1]}"

    for path in (notebook.tests, notebook.module):
        text = re.sub(rf"\b{re.escape(path)}:(\d+)", label_line, text)
    labels = {cell.test: number + 1 for number, cell in enumerate(notebook.cells)}
    text = re.sub(rf"\b{re.escape(notebook.tests)}::(\w+)", label_test, text)
    return text.replace(notebook.tests, notebook.path).replace(notebook.module, notebook.path)


def label_json(notebook: Notebook, value: Any) -> Any:
    """A JSON value translated likewise: in objects with `path` and lines, the lines become those of the cell.

    These objects also get `cell`, the cell's number (from 1), which the file's lines would not tell.
    """
    if isinstance(value, str):
        return label_text(notebook, value)
    if isinstance(value, list):
        return [label_json(notebook, each) for each in value]
    if not isinstance(value, dict):
        return value
    labelled = {label_text(notebook, name): label_json(notebook, each) for name, each in value.items()}
    if value.get("path") in (notebook.module, notebook.tests):
        labelled |= _cell_position(notebook, value)
    return labelled


def _cell_position(notebook: Notebook, value: dict[str, Any]) -> dict[str, Any]:
    """The cell and cell lines of a JSON object; a range that continues in the next cell ends with its first cell."""
    positions = {
        name: position
        for name in ("line", "start", "end")
        if isinstance(line := value.get(name), int)
        and line > 0
        and (position := notebook.position_of(line - 1)) is not None
    }
    if not positions:
        return {"cell": None}
    cell = min(position.cell for position in positions.values())
    last_row = len(notebook.cells[cell].parsed.rows)
    return {
        "cell": cell + 1,
        **{n: position.row + 1 if position.cell == cell else last_row for n, position in positions.items()},
    }
