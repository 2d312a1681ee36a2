"""Cells in an editor by the port `CompositeFile`: targets, and changes of the grid as changes of cells."""

from __future__ import annotations

import pytest

from cells import make_notebook
from greenloop.core.errors import UsageError
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.plugins.notebooks.in_editor import EditorNotebook

BROKEN, CHECKS = "def double(x):\n    return x + 1", "assert double(5) == 10"


@pytest.fixture
def notebook():
    return EditorNotebook(make_notebook(BROKEN, CHECKS))


def change(text):
    return text.replace("x + 1", "x * 2")


def outcome(before, after):
    return Outcome(
        solved=True,
        verified=Verified.VERIFIED,
        reason=StopReason.SOLVED,
        message="nb_ipynb.py:4",
        attempts=(),
        before=before,
        after=after,
    )


def test_a_change_of_the_grid_is_a_change_of_its_cell(notebook):
    grid = notebook.prepare_tests(None)[0].texts()["nb_ipynb.py"]
    assert notebook.changes(grid, change(grid)) == [(0, BROKEN, change(BROKEN))]
    assert notebook.changes(grid, grid) == []


def test_targets_by_line_and_by_name(notebook):
    function, check = notebook.target_at(3), notebook.target_at(7)
    assert (function.qualname, check.qualname) == ("double", "test_cell_2")
    assert notebook.find_target("nb_ipynb.py", "double") == function
    assert [heading.qualname for heading in notebook.headings()] == ["double", "test_cell_2"]


def test_an_outcome_changes_the_grid_of_all_cells(notebook):
    prepared = notebook.prepare(notebook.target_at(3))
    module = prepared.composed.module
    shown = prepared.in_editor(outcome({"nb_ipynb.py": module}, {"nb_ipynb.py": change(module)}))
    assert shown.before == {"nb_ipynb.py": prepared.notebook.text}
    assert shown.after == {"nb_ipynb.py": change(prepared.notebook.text)}
    assert shown.message == "nb.ipynb cell 1 row 2"
    assert prepared.change_in_editor({"nb_ipynb.py": module}) == {}
    assert prepared.line_name("nb_ipynb.py", 4, {}) == "nb.ipynb cell 1 row 2"
    assert notebook.in_editor(outcome({"nb_ipynb.py": "other"}, {"nb_ipynb.py": module})) is None


def test_a_target_that_is_gone_is_named(notebook):
    target = notebook.target_at(3)
    with pytest.raises(UsageError, match=r"nb\.ipynb has no double any more\."):
        EditorNotebook(make_notebook("x = 1", CHECKS)).prepare(target)
    with pytest.raises(UsageError, match=r"nb\.ipynb has no checks\."):
        EditorNotebook(make_notebook(BROKEN)).prepare_tests(None)
