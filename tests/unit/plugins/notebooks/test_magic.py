"""What `%%refine` makes of executed cells and of a result, without IPython's help; tests/sandbox runs the magic itself."""

from greenloop.plugins.notebooks import magic
from greenloop.plugins.notebooks.layout import Cell, Notebook, module_names
from greenloop.plugins.notebooks.module import compose
from greenloop.plugins.notebooks.write_back import write_back


def book(*texts):
    module, tests = module_names(magic.CONFIG_NAME)
    cells = tuple(Cell(source=text, label=n) for n, text in enumerate(texts, 1))
    return Notebook(path=magic.CONFIG_NAME, cells=cells, module=module, tests=tests)


def test_only_what_changed_comes_on_top():
    """Not what reads otherwise as Python: timed statements, awaits, shell lines in functions."""
    earlier = ("%time y = slow(1)", "r = await g()", "def show():\n    !ls", 'x = """\x0c\n"""\ndef f():\n    return 1')
    nb = book(*earlier, "assert f() == 2")
    before = compose(nb, 4).module
    changed = write_back(nb, before, before.replace("return 1", "return 2"), 4)
    assert magic.added_statements(nb, changed) == "def f():\n    return 2\n\n\nassert f() == 2"


def test_a_cell_that_was_only_refined_is_no_context():
    earlier = {1: "import os", 2: "%%refine\nx = f()\nassert x", 4: " %%refine attempts=2\ndef f(): ...", 5: "y = 1"}
    assert magic.find_context_cells(earlier) == {1: "import os", 5: "y = 1"}


def test_cells_are_named_as_jupyter_numbers_them():
    nb = book("import os", "x = 1 / 0", "assert x")
    said = f"Cell 2 of {nb.path} fails in row 1; see {nb.path} cell 1 row 1, {nb.path}:3, {nb.path}::f"
    told = magic._label_executed(nb, [4, 7], said)
    assert told == f"In [7] fails in row 1; see In [4] row 1, the cell, {nb.path}::f"
