"""Cells as Python."""

import pytest

from greenloop.plugins.notebooks.cell_source import LineKind, read


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline", "# %matplotlib inline"),
        ("!ls 'it", "# !ls 'it"),
        ("!pip install a \\\n  b\nx = 1", "# !pip install a \\\n# b\nx = 1"),
        ("df.head?", "# df.head?"),
        ("?df", "# ?df"),
        ("files = !ls", "# files = !ls"),
        ("if x:\n    !ls", "if x:\n    pass  # !ls"),
        ("%time y = f(1)", "y = f(1)"),
        ("%timeit f(1)", "# %timeit f(1)"),
        ("%%time\nx = 1", "# %%time\nx = 1"),
        ("%%refine 3\nassert x", "# %%refine 3\nassert x"),
        ("%%bash\nls (\n", "# %%bash\n# ls ("),
        ('s = """\n%s\n!x\n"""\n%y', 's = """\n%s\n!x\n"""\n# %y'),
        ("x = (a\n  % b)\n!y", "x = (a\n  % b)\n# !y"),
        ("x = a \\\n  % b\n!y", "x = a \\\n  % b\n# !y"),
        ("x = 'a # b'  # it's\n!y", "x = 'a # b'  # it's\n# !y"),
        ("r = await f(\n  'ü')", "r = await_(f(\n  'ü'))"),
        ("x = await a + await b", "x = await_(a) + await_(b)"),
        ("async def f():\n    await g()", "async def f():\n    await g()"),
        ("a == b?", "a == b?"),
        ("", ""),
    ],
)
def test_magics_become_comments_row_for_row(cell, python):
    assert "\n".join(read(cell).rows) == python
    assert len(read(cell).rows) == max(len(cell.splitlines()), 1)


def test_a_cell_that_does_not_parse_says_where():
    assert read("x = 1\ny = (\n").syntax_error == (1, "'(' was never closed")


@pytest.mark.parametrize("cell", ["x\nasync with a: b", "x\nasync for a in b: c", "x\ny = [a async for a in b]"])
def test_what_only_jupyter_runs_is_told(cell):
    assert read(cell).syntax_error == (1, "only Jupyter runs this outside of an async function")


def test_statements_by_kind():
    cell = "import a\nx = 1; assert x\nfor i in x:\n    assert i\n@fixture\ndef data(): ...\ndef test_y(): ...\nf()"
    kinds = [LineKind.IMPORT, LineKind.CHECK, LineKind.CHECK, LineKind.TEST, LineKind.TEST, LineKind.CALL]
    assert [part.kind for part in read(cell).parts] == kinds
