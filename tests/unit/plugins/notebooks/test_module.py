"""Cells as a module and its tests."""

import ast

from cells import make_notebook, text_row
from greenloop.plugins.notebooks.module import compose

CELLS = (
    "%pylab\nimport math",
    "def add(a, b):\n    return a - b",
    "x = add(1, 2)",
    'data = [i for i in range(3)]\ntext = """a\n  b"""\nassert add(2, 3) == 5\nassert len(data) == 3',
    "assert slug(x) == data",
    "def later(): ...\nshow()",
)


def test_module_and_tests_share_the_rows_of_the_cells():
    nb = make_notebook(*CELLS)
    composed = compose(nb, 4)
    for number, first in enumerate(nb.first_rows[:5]):
        for offset, own in enumerate(CELLS[number].split("\n")):
            here = {text_row(composed.module, first + offset), text_row(composed.tests, first + offset)}
            assert any(own.strip() in each for each in here), (number, offset)
            assert nb.position_of(first + offset).cell == number
            assert nb.position_of(first + offset).row == offset


def test_what_is_checked_is_no_part_of_the_module():
    composed = compose(make_notebook(*CELLS), 4)
    assert "later" not in composed.module
    body = [ast.unparse(node) for node in ast.parse(composed.module).body]
    names_there = ["import math", "def add(a, b):\n    return a - b", "x = add(1, 2)", "data = [i for i in range(3)]"]
    assert body == names_there  # `data` is taken by a later cell, `text` is not
    tests = {node.name: [ast.unparse(each) for each in node.body] for node in ast.parse(composed.tests).body}
    assert tests["test_cell_4"][0] == "from nb_ipynb import add"
    assert tests["test_cell_4"][2] == "text = 'a\\n  b'"
    assert tests["test_cell_5"] == ["from nb_ipynb import data, slug, x", "assert slug(x) == data"]


def test_tests_of_pytest_stay_functions_of_their_own():
    nb = make_notebook(
        "def f(): ...", "import pytest\nCASES = [1]\n@pytest.fixture\ndef one(): ...\ndef test_f(one): f()\ntest_f(1)"
    )
    tests = ast.parse(compose(nb, 1).tests).body
    assert [type(node).__name__ for node in tests] == ["ImportFrom", "Import", "Assign", "FunctionDef", "FunctionDef"]
    assert ast.unparse(tests[0]) == "from nb_ipynb import f"


def test_what_only_jupyter_has_is_made_where_it_is_used():
    head = text_row(
        compose(make_notebook("from __future__ import annotations\ndisplay(await f())", path="sub/nb.ipynb"), 0).module,
        0,
    )
    assert head.startswith("from __future__ import annotations; __import__('os').chdir".replace("'", '"'))
    assert "display = print" in head
    assert "await_ = " in head
    assert text_row(compose(make_notebook("x = 1"), 0).module, 0) == ""
    code = compose(make_notebook("async def f():\n    return 7", "a = await f()\nb = await f()"), 1).module
    seen = {}
    exec(code, seen)
    assert (seen["a"], seen["b"]) == (7, 7)
