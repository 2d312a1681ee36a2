"""What is said of a notebook's module and tests, said of its cells."""

from __future__ import annotations

import re
from typing import Any

from greenloop.core.grid import Notebook


def named(notebook: Notebook, text: str) -> str:
    """A text for people, with lines of the module and of the tests as rows of cells, and tests as cells."""

    def cell(found: re.Match[str]) -> str:
        place = notebook.place(int(found[1]) - 1)
        return found[0] if place is None else f"{notebook.path} cell {place.cell + 1} row {place.row + 1}"

    for path in (notebook.tests, notebook.module):
        text = re.sub(rf"\b{re.escape(path)}:(\d+)", cell, text)
    labels = {each.test: number + 1 for number, each in enumerate(notebook.cells)}
    tests = re.compile(rf"\b{re.escape(notebook.tests)}::(\w+)")
    text = tests.sub(
        lambda m: f"{notebook.path}:{labels[m[1]]}" if m[1] in labels else f"{notebook.path}::{m[1]}", text
    )
    return text.replace(notebook.tests, notebook.path).replace(notebook.module, notebook.path)


def told(notebook: Notebook, value: Any) -> Any:
    """A JSON value for programs in the same way: where an object has `path` and lines, the lines are the cell's own.

    And it has `cell`, whose number (from 1) no line of the file would tell.
    """
    if isinstance(value, str):
        return named(notebook, value)
    if isinstance(value, list):
        return [told(notebook, each) for each in value]
    if not isinstance(value, dict):
        return value
    here = {name: told(notebook, each) for name, each in value.items()}
    if value.get("path") in (notebook.module, notebook.tests):
        here |= _of_cell(notebook, value)
    return here


def _of_cell(notebook: Notebook, value: dict[str, Any]) -> dict[str, Any]:
    """The lines of an object in its cell; one that goes on in the next cell ends with its own."""
    places = {
        name: place
        for name in ("line", "start", "end")
        if isinstance(line := value.get(name), int) and line > 0 and (place := notebook.place(line - 1)) is not None
    }
    if not places:
        return {"cell": None}
    cell = min(place.cell for place in places.values())
    last = len(notebook.cells[cell].reading.rows)
    return {"cell": cell + 1, **{n: place.row + 1 if place.cell == cell else last for n, place in places.items()}}
