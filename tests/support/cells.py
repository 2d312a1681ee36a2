"""Notebooks for tests, as Jupyter writes them."""

from __future__ import annotations

import json

from greenloop.plugins.notebooks.layout import Cell, Notebook, module_names


def cell(source: str, number: int, kind: str = "code") -> dict:
    rows = source.splitlines(keepends=True)
    if kind != "code":
        return {"cell_type": kind, "id": f"text{number}", "metadata": {}, "source": rows}
    output = {"name": "stdout", "output_type": "stream", "text": ["ü\n"]}
    return {
        "cell_type": "code",
        "execution_count": number,
        "id": f"cell-{number}",
        "metadata": {},
        "outputs": [output],
        "source": rows,
    }


def notebook(*sources: str, **more) -> str:
    """The text of a notebook with a title and these code cells."""
    metadata = {"kernelspec": {"language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    cells = [cell("# Title\n", 0, "markdown"), *(cell(source, n) for n, source in enumerate(sources, 1))]
    table = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5, **more}
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"


def sources(text: str) -> list[str]:
    """The sources of the code cells."""
    return ["".join(each["source"]) for each in json.loads(text)["cells"] if each["cell_type"] == "code"]


def make_notebook(*texts, path="nb.ipynb"):
    module, tests = module_names(path)
    cells = tuple(Cell(source=text, label=n, id=f"cell-{n}") for n, text in enumerate(texts, 1))
    return Notebook(path=path, cells=cells, module=module, tests=tests)


def text_row(text, line):
    return text.split("\n")[line]
