"""Reads the code cells of an .ipynb file, and replaces their sources without changing any other byte.

A changed cell keeps its outputs, as in Jupyter. This module must not know what the cells contain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from greenloop.core.errors import UsageError
from greenloop.core.text.diff import main_line_end, split_lines
from greenloop.plugins.notebooks.layout import Cell, Notebook

FORMAT = 4  # of nbformat
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, kw_only=True)
class NotebookFile:
    """The text of a notebook's file with its code cells; `spans` are the positions of their `source` values."""

    text: str
    cells: tuple[Cell, ...]
    spans: tuple[tuple[int, int], ...]

    def to_notebook(self, path: str, module: str, tests: str) -> Notebook:
        return Notebook(path=path, cells=self.cells, module=module, tests=tests)


def parse(text: str, path: str) -> NotebookFile:
    """Parses a notebook's file. Raises `UsageError` if it is not a Python notebook of nbformat 4."""
    text_after_mark = text.removeprefix("\ufeff")
    start = len(text) - len(text_after_mark)
    try:
        root = json.loads(text_after_mark)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not a notebook: {error}.", remedy="Open it in Jupyter and save it.") from error
    version = root.get("nbformat") if isinstance(root, dict) else None
    if version != FORMAT or not isinstance(root.get("cells"), list):
        description = f"has nbformat {version}" if isinstance(version, int) else "is not a Jupyter notebook"
        raise UsageError(
            f"{path} {description}; only nbformat {FORMAT} can be read.",
            remedy="Save it with a newer Jupyter, or `jupyter nbconvert --to notebook --inplace` it.",
        )
    language = _language(root.get("metadata"))
    if language not in ("", "python", "ipython"):
        raise UsageError(f"{path} is written in {language}, not in Python.", remedy="Choose a Python notebook.")
    start, _end = _members(text, _skip_space(text, start))["cells"]
    cells: list[Cell] = []
    spans = []
    for position, raw_cell in _elements(text, start):
        if isinstance(raw_cell, dict) and raw_cell.get("cell_type") == "code":
            span = _members(text, position).get("source")
            source = raw_cell.get("source", "")
            joined = "".join(map(str, source)) if isinstance(source, list) else str(source)
            if span is not None:
                cells.append(Cell(source=joined, label=len(cells) + 1, id=str(raw_cell.get("id", ""))))
                spans.append(span)
    return NotebookFile(text=text, cells=tuple(cells), spans=tuple(spans))


def _language(metadata: Any) -> str:
    fields = metadata if isinstance(metadata, dict) else {}
    for section, key in (("kernelspec", "language"), ("language_info", "name")):
        section_fields = fields.get(section)
        if isinstance(section_fields, dict) and isinstance(section_fields.get(key), str):
            return str(section_fields[key]).lower()
    return ""


def with_sources(file: NotebookFile, sources: Mapping[int, str]) -> str:
    """The file's text with new sources for some cells (by position among the code cells)."""
    text = file.text
    for number in sorted(sources, reverse=True):
        start, end = file.spans[number]
        text = text[:start] + _encode_source(file.text, start, end, sources[number]) + text[end:]
    return text


def updated_text(file: NotebookFile, notebook: Notebook) -> NotebookFile:
    """The file with a notebook's cells in place of its own; their number must be the same."""
    sources = {n: new.source for n, (old, new) in enumerate(zip(file.cells, notebook.cells, strict=True)) if old != new}
    text = with_sources(file, sources)
    return replace(parse(text, notebook.path), text=text)


def _encode_source(text: str, start: int, end: int, source: str) -> str:
    """Formats a source like the cell's current one: one string, or a list of rows in the file's layout."""
    escapes_unicode = text.isascii() and re.search(r"(?<!\\)(?:\\\\)*\\u[0-9a-fA-F]{4}", text) is not None
    current = text[start:end]
    if current.startswith('"'):
        return json.dumps(source, ensure_ascii=escapes_unicode)
    rows = [json.dumps(row, ensure_ascii=escapes_unicode) for row in split_lines(source)]
    if not rows:
        return "[]"
    layout_match = re.match(r"\[([ \t]*\r?\n[ \t]*)", current)
    if layout_match is not None:
        closing = re.search(r"(\r?\n[ \t]*)\]$", current)
        return f"[{layout_match[1]}{f',{layout_match[1]}'.join(rows)}{closing[1] if closing else ''}]"
    last_row = text[:start].rpartition("\n")[2]
    if len(split_lines(text)) > 1 and not re.sub(r"\s", "", current).removeprefix("[").removesuffix("]"):
        indent = last_row[: len(last_row) - len(last_row.lstrip())]
        unit = (re.search(r"^\{\r?\n([ \t]+)", text.removeprefix("\ufeff")) or [" ", " "])[1]
        newline = main_line_end(text)
        return f"[{newline}{indent}{unit}{f',{newline}{indent}{unit}'.join(rows)}{newline}{indent}]"
    return f"[{', '.join(rows)}]"


# -- positions in the text ------------------------------------------------------------------------------------------


def _skip_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _members(text: str, position: int) -> dict[str, tuple[int, int]]:
    """Positions of the values in the object that begins at `at`; of duplicate keys the last counts, as in JSON."""
    positions = {}
    position = _skip_space(text, position + 1)
    while text[position] != "}":
        key, position = _DECODER.raw_decode(text, position)
        start = _skip_space(text, _skip_space(text, position) + 1)
        _value_there, end = _DECODER.raw_decode(text, start)
        positions[key] = (start, end)
        position = _skip_space(text, end)
        position = _skip_space(text, position + 1) if text[position] == "," else position
    return positions


def _elements(text: str, position: int) -> list[tuple[int, Any]]:
    """The position and value of each element of the array that begins at `at`."""
    elements = []
    position = _skip_space(text, position + 1)
    while text[position] != "]":
        value, end = _DECODER.raw_decode(text, position)
        elements.append((position, value))
        position = _skip_space(text, end)
        position = _skip_space(text, position + 1) if text[position] == "," else position
    return elements
