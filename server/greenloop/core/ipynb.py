"""The text of an .ipynb file: its Python cells, and the same text with other sources. Not a byte more changes.

A changed cell keeps its outputs, as in Jupyter. This module must not know what the cells say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from greenloop.core.diff import lines, newline_of
from greenloop.core.errors import UsageProblem
from greenloop.core.grid import Cell, Notebook

FORMAT = 4  # of nbformat
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, kw_only=True)
class File:
    """The text of a notebook's file with its code cells; `spans` says where each one's `source` value stands."""

    text: str
    cells: tuple[Cell, ...]
    spans: tuple[tuple[int, int], ...]

    def of(self, path: str, module: str, tests: str) -> Notebook:
        return Notebook(path=path, cells=self.cells, module=module, tests=tests)


def parse(text: str, path: str) -> File:
    """Raises `UsageProblem` for what is no notebook of nbformat 4 in Python."""
    text_after_mark = text.removeprefix("\ufeff")
    start = len(text) - len(text_after_mark)
    try:
        root = json.loads(text_after_mark)
    except (ValueError, RecursionError) as error:
        raise UsageProblem(f"{path} is no notebook: {error}.", remedy="Open it in Jupyter and save it.") from error
    version = root.get("nbformat") if isinstance(root, dict) else None
    if version != FORMAT or not isinstance(root.get("cells"), list):
        known = f"has nbformat {version}" if isinstance(version, int) else "is no notebook of Jupyter"
        raise UsageProblem(
            f"{path} {known}; only nbformat {FORMAT} can be read.",
            remedy="Save it with a newer Jupyter, or `jupyter nbconvert --to notebook --inplace` it.",
        )
    language = _language(root.get("metadata"))
    if language not in ("", "python", "ipython"):
        raise UsageProblem(f"{path} is written in {language}, not in Python.", remedy="Choose a Python notebook.")
    start = _cells_start(text, start)
    found: list[Cell] = []
    spans = []
    for position, raw in _elements(text, start):
        if isinstance(raw, dict) and raw.get("cell_type") == "code":
            span = _members(text, position).get("source")
            source = raw.get("source", "")
            joined = "".join(map(str, source)) if isinstance(source, list) else str(source)
            if span is not None:
                found.append(Cell(source=joined, label=len(found) + 1, id=str(raw.get("id", ""))))
                spans.append(span)
    return File(text=text, cells=tuple(found), spans=tuple(spans))


def _language(metadata: Any) -> str:
    table = metadata if isinstance(metadata, dict) else {}
    for section, key in (("kernelspec", "language"), ("language_info", "name")):
        inner = table.get(section)
        if isinstance(inner, dict) and isinstance(inner.get(key), str):
            return str(inner[key]).lower()
    return ""


def with_sources(file: File, sources: Mapping[int, str]) -> str:
    """The file's text with other sources for some cells (by position among the code cells)."""
    text = file.text
    for number in sorted(sources, reverse=True):
        start, end = file.spans[number]
        text = text[:start] + _value(file.text, start, end, sources[number]) + text[end:]
    return text


def again(file: File, notebook: Notebook) -> File:
    """The file with a notebook's cells in place of its own; they must be as many."""
    sources = {n: new.source for n, (old, new) in enumerate(zip(file.cells, notebook.cells, strict=True)) if old != new}
    text = with_sources(file, sources)
    return replace(parse(text, notebook.path), text=text)


def _value(text: str, start: int, end: int, source: str) -> str:
    """A source in the form that the cell's own has: one text, or a list of rows in the file's layout."""
    plain = text.isascii() and re.search(r"(?<!\\)(?:\\\\)*\\u[0-9a-fA-F]{4}", text) is not None
    old = text[start:end]
    if old.startswith('"'):
        return json.dumps(source, ensure_ascii=plain)
    rows = [json.dumps(row, ensure_ascii=plain) for row in lines(source)]
    if not rows:
        return "[]"
    laid = re.match(r"\[([ \t]*\r?\n[ \t]*)", old)
    if laid is not None:
        close = re.search(r"(\r?\n[ \t]*)\]$", old)
        return f"[{laid[1]}{f',{laid[1]}'.join(rows)}{close[1] if close else ''}]"
    key = text[:start].rpartition("\n")[2]
    if len(lines(text)) > 1 and not re.sub(r"\s", "", old).removeprefix("[").removesuffix("]"):
        indent = key[: len(key) - len(key.lstrip())]
        unit = (re.search(r"^\{\r?\n([ \t]+)", text.removeprefix("\ufeff")) or [" ", " "])[1]
        newline = newline_of(text)
        return f"[{newline}{indent}{unit}{f',{newline}{indent}{unit}'.join(rows)}{newline}{indent}]"
    return f"[{', '.join(rows)}]"


# -- where things stand in the text ---------------------------------------------------------------------------------


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _cells_start(text: str, at: int) -> int:
    return _members(text, _skip(text, at))["cells"][0]


def _members(text: str, at: int) -> dict[str, tuple[int, int]]:
    """Where the values of the object that begins at `at` stand; the last of equal keys counts, as in JSON."""
    found = {}
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _value_there, end = _DECODER.raw_decode(text, start)
        found[key] = (start, end)
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def _elements(text: str, at: int) -> list[tuple[int, Any]]:
    """Position and value of each element of the array that begins at `at`."""
    found = []
    at = _skip(text, at + 1)
    while text[at] != "]":
        value, end = _DECODER.raw_decode(text, at)
        found.append((at, value))
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found
