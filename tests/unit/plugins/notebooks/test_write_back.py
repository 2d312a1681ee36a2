"""Changes back into cells."""

import random

import pytest

from cells import make_notebook
from greenloop.plugins.notebooks.module import compose
from greenloop.plugins.notebooks.write_back import write_back


def back(nb, change, last):
    before = compose(nb, last).module
    after = change(before)
    assert after != before
    found = write_back(nb, before, after, last)
    return None if found is None else [cell.source for cell in found.cells]


def test_a_change_lands_in_its_cell_and_magics_come_back():
    nb = make_notebook("%pylab\nimport math", "def f():\n    !ls\n    return 1", "assert f() == 2")
    text = back(
        nb, lambda old: old.replace("return 1", "x = 2\n    return x").replace("math\n", "math\nimport re\n"), 2
    )
    assert text == ["%pylab\nimport math\nimport re", "def f():\n    !ls\n    x = 2\n    return x", "assert f() == 2"]


def test_a_rewritten_magic_is_still_the_magic():
    nb = make_notebook("def f():\n    !ls\n    return 1")
    assert back(nb, lambda old: old.replace("def f():", "def f(x):").replace("1", "2"), 0) == [
        "def f(x):\n    !ls\n    return 2"
    ]


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_helper_stands_in_the_cell_of_its_function(end):
    nb = make_notebook("a = 1", "def f():\n    return 1" + end, "assert f() == 2")
    changed = back(
        nb, lambda old: old.replace("def f", "def g():\n    return 2\n\n\ndef f").replace("return 1", "return g()"), 2
    )
    assert changed[1] == "def g():\n    return 2\n\n\ndef f():\n    return g()" + end
    assert changed[::2] == ["a = 1", "assert f() == 2"]


@pytest.mark.parametrize("later", [(), ("assert f() == 1",), ("", "x = f()\n\n")])
@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("body", ["    return 1", "\n    return 1", "\n\n    x = 1\n\n    return x"])
def test_a_body_that_was_not_there_stands_below_its_docstring(body, end, later):
    """Blank rows may be the function's own or those between two cells; a body is never another cell's."""
    stub = 'def f():\n    """One."""'
    nb = make_notebook("a = 1", stub + end, *later)
    wanted = ["a = 1", f"{stub}\n{body}{end}", *later]
    assert back(nb, lambda old: old.replace(stub, f"{stub}\n{body}"), len(later) + 1) == wanted
    found = write_back(nb, nb.text, make_notebook(*wanted).text, -1)
    assert [cell.source for cell in found.cells] == wanted


def test_what_is_added_or_taken_away_at_the_end_of_a_cell_stays_there():
    short, long = ("x = 1", "y = 2"), ("x = 1\n\nz = 3", "y = 2")
    for old, new in ((short, long), (long, short)):
        found = write_back(make_notebook(*old), make_notebook(*old).text, make_notebook(*new).text, -1)
        assert tuple(cell.source for cell in found.cells) == new


def test_a_body_without_its_function_lands_nowhere():
    assert (
        write_back(make_notebook("x = 1", ""), make_notebook("x = 1", "").text, "\n\n    return 1\nx = 1\n\n\n\n", -1)
        is None
    )


def test_what_belongs_to_no_cell_goes_on_top_of_the_target():
    nb = make_notebook("a = 1", "%%time\nassert f() == 2", "x = 1")
    at_the_end = back(nb, lambda old: old + "\n\ndef f():\n    return 2\n", 1)
    assert at_the_end == ["a = 1", "%%time\ndef f():\n    return 2\n\n\nassert f() == 2", "x = 1"]
    at_the_start = back(make_notebook("%%bash\nls", "x = f()", "assert x"), lambda old: "import re\n" + old, 2)
    assert at_the_start == ["%%bash\nls", "x = f()", "import re\n\n\nassert x"]


def test_an_import_stands_above_the_function_that_needs_it():
    """A cell between that one and the asserts may call it already."""
    nb = make_notebook("x = 1", "def f(s):\n    return s", "y = f('a')", "assert y == 'b'")
    body = 're.sub("a", "b", s)'
    text = back(nb, lambda old: "import re" + old.replace("return s", f"return {body}"), 3)
    assert text == ["x = 1", f"import re\n\n\ndef f(s):\n    return {body}", "y = f('a')", "assert y == 'b'"]


@pytest.mark.parametrize("head", ["%%time", "\n%%time -n 1", "from __future__ import annotations"])
def test_what_must_come_first_in_a_cell_stays_first(head):
    nb = make_notebook(f"{head}\ndef f():\n    return 1", "assert f() == 2")
    before = compose(nb, 1).module
    at = next(n for n, each in enumerate(before.split("\n")) if head.split("\n")[-1] in each and n >= nb.first_rows[0])
    for helper in (["g = 2", "", ""], ["", "", "g = 2"]):
        after = before.split("\n")
        after[at:at] = helper
        found = write_back(nb, before, "\n".join(after).replace("return 1", "return g"), 1)
        assert found.cells[0].source.startswith(head)
        assert [line for line in found.cells[0].source[len(head) :].split("\n") if line] == [
            "g = 2",
            "def f():",
            "    return g",
        ]


def test_a_change_over_several_cells_is_refused():
    nb = make_notebook("a = 1", "b = 2", "assert a")
    assert back(nb, lambda old: old.replace("a = 1\n\n\nb = 2", "c = 3"), 2) is None


def test_any_change_within_cells_comes_back_exactly():
    chance = random.Random(7)
    for _round in range(300):
        cells = [[f"v{chance.randrange(9)} = {n}" for n in range(chance.randrange(1, 5))] for _cell in range(4)]
        nb = make_notebook(*("\n".join(cell) for cell in cells))
        number = chance.randrange(3)
        wanted = [list(cell) for cell in cells]
        at = chance.randrange(len(wanted[number]))
        wanted[number][at : at + chance.randrange(2)] = [f"w{n} = 0" for n in range(chance.randrange(1, 4))]
        after = make_notebook(*("\n".join(cell) for cell in wanted)).text
        found = write_back(nb, nb.text, after, 3)
        assert [cell.source.split("\n") for cell in found.cells] == wanted
