"""Targets in a notebook."""

import pytest

from cells import make_notebook
from greenloop.core.errors import UsageError
from greenloop.core.records.spec import TargetKind
from greenloop.plugins.notebooks import adapter as books
from greenloop.plugins.notebooks import cell_targets
from greenloop_sandbox import Failure, Frame


def test_targets_by_what_is_typed():
    nb = make_notebook(
        "def f():\n    '''Doc.'''\nclass C:\n    def m(self): ...", "def f(): ...\nassert f()", "def test_g(): ..."
    )
    spelled = [cell_targets.format_target(nb, goal) for goal in cell_targets.list_targets(nb)]
    assert spelled == ["nb.ipynb::f", "nb.ipynb::C", "nb.ipynb::f", "nb.ipynb:2", "nb.ipynb::test_g"]
    assert cell_targets.parse_target(nb, ":2") == cell_targets.CellTarget(cell=1, last_cell=1, test=True)
    assert cell_targets.parse_target(nb, ":cell-2") == cell_targets.parse_target(nb, ":2")
    assert cell_targets.parse_target(nb, "::f") == cell_targets.CellTarget(cell=1, last_cell=1, name="f")
    method = books.prepare(nb, cell_targets.parse_target(nb, "::C.m")).target
    assert (method.kind, method.qualname, method.start) == (TargetKind.FUNCTION, "C.m", nb.first_rows[0] + 4)
    test = books.prepare(nb, cell_targets.parse_target(nb, ":3")).target
    assert test.selector == "test_nb_ipynb.py::test_g"


def test_a_function_is_run_as_far_as_checks_name_it():
    nb = make_notebook("def f(): ...", "x = f()", "assert f()", "y = 1", "assert y")
    assert cell_targets.parse_target(nb, "::f").last_cell == 2


def test_targets_at_a_row():
    nb = make_notebook(
        "class C:\n    def m(self):\n        ...\nx = 1", "x\nassert x", "def broken(:\n    x =", "def test_t(): ...\nx"
    )
    assert cell_targets.target_at(nb, 0, 2).name == "C.m"
    assert cell_targets.target_at(nb, 0, 3) is None
    assert cell_targets.target_at(nb, 1, 0) == cell_targets.CellTarget(cell=1, last_cell=1, test=True)
    assert cell_targets.target_at(nb, 2, 1).name == "broken"
    assert cell_targets.target_at(nb, 3, 0).name == "test_t"
    assert cell_targets.target_at(nb, 3, 1) is None
    assert cell_targets.target_at(nb, 9, 0) is None


def test_an_earlier_cell_must_parse_but_the_own_one_need_not():
    nb = make_notebook("x = (", "assert 1", "y = )")
    with pytest.raises(UsageError, match="Cell 1 of nb.ipynb cannot be read in row 1"):
        books.prepare(nb, cell_targets.CellTarget(cell=1, last_cell=1, test=True))


def failure(nb, cell, row, function="<module>"):
    line = nb.first_rows[cell] + row + 1
    frames = (Frame(path=nb.tests, line=9, function="test"), Frame(path=nb.module, line=line, function=function))
    return Failure(type="KeyError", message="'a'", frames=frames)


def test_only_what_no_function_of_the_notebook_can_cure_is_the_cells_own_fault():
    nb = make_notebook("def f(): ...", "table = {}\nvalue = table['a']", "y = f()\nz = y['a']", "assert z")
    asked = books.prepare(nb, cell_targets.CellTarget(cell=3, last_cell=3, test=True))
    fault = asked.fault([failure(nb, 1, 1)])
    assert fault.sentence == "Cell 2 of nb.ipynb fails in row 2: KeyError: 'a'"
    assert asked.fault([failure(nb, 2, 1)]) is None
    assert asked.fault([failure(nb, 1, 1), failure(nb, 2, 1)]) is None
    assert asked.fault([failure(nb, 0, 0, function="f")]) is None
    assert asked.fault([]) is None
