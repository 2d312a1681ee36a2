"""Files of notebooks, kept byte for byte."""

import json

import pytest

from cells import notebook
from greenloop.core.errors import UsageError
from greenloop.plugins.notebooks import ipynb


@pytest.mark.parametrize(
    "form",
    [
        lambda table: json.dumps(table, indent=1, ensure_ascii=False) + "\n",
        lambda table: json.dumps(table, indent=4, ensure_ascii=True),
        json.dumps,
        lambda table: json.dumps(table, indent="\t", ensure_ascii=False).replace("\n", "\r\n"),
        lambda table: "\ufeff" + json.dumps(table, indent=2, ensure_ascii=False, separators=(",", " : ")),
    ],
)
def test_only_the_source_of_a_changed_cell_changes(form):
    table = json.loads(notebook('x = "ü\\u2028"\ny = 1', "", "z = 2"))
    table["cells"][3]["source"] = "z = 2"  # as one text
    text = form(table)
    file = ipynb.parse(text, "nb.ipynb")
    assert [cell.source for cell in file.cells] == ['x = "ü\\u2028"\ny = 1', "", "z = 2"]
    assert ipynb.with_sources(file, {}) == text
    new = ['x = "é"\n', "a = 1\nb = 2\n", "z = 3\n"]
    changed = json.loads(text.removeprefix("\ufeff"))
    for number, source in enumerate(new, 1):
        changed["cells"][number]["source"] = source.splitlines(keepends=True) if number < 3 else source
    assert ipynb.with_sources(file, dict(enumerate(new))) == form(changed)


def test_two_notebooks_in_one_text_is_none():
    for text in ("[]", "{}", "null", '{"nbformat": 4}', '{"nbformat": 4, "cells": 3}', "{", "[" * 100_000):
        with pytest.raises(UsageError):
            ipynb.parse(text, "nb.ipynb")


def test_odd_cells_are_passed_over():
    table = json.loads(notebook("x = 1"))
    table["cells"] += [3, None, {"cell_type": "code"}, {"cell_type": "code", "source": ["a", 1]}]
    assert [cell.source for cell in ipynb.parse(json.dumps(table), "nb.ipynb").cells] == ["x = 1", "a1"]
