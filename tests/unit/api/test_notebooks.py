"""A notebook through the façade: a target's module and tests, and a change of them back in the cells."""

from greenloop.api import notebook_targets, notebooks

SOURCES = ("def double(x):\n    return x + 1", "assert double(5) == 10")


def notebook():
    cells = tuple(notebooks.Cell(source=source, label=number) for number, source in enumerate(SOURCES, 1))
    module, tests = notebooks.module_names("nb.ipynb")
    return notebooks.Notebook(path="nb.ipynb", cells=cells, module=module, tests=tests)


def test_a_change_of_the_module_is_a_change_of_its_cell():
    book = notebook()
    checks = next(each for each in notebook_targets.list_targets(book) if each.test)
    prepared = notebook_targets.prepare(book, checks)
    module = prepared.composed.module
    assert set(prepared.buffers) == {book.module, book.tests}
    changed = notebooks.write_back(book, module, module.replace("x + 1", "x * 2"), prepared.cell_target.last_cell)
    assert [cell.source for cell in changed.cells] == [SOURCES[0].replace("x + 1", "x * 2"), SOURCES[1]]
