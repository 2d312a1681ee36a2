"""Notebooks: cells as a module and its tests on one grid of rows, changes back into cells, files kept byte for byte."""

import ast
import json
import random
import re

import pytest

from cells import notebook, sources
from greenloop.core.errors import UsageError, WorkspaceError
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.spec import TargetKind
from greenloop.core.records.verdict import Failure, Frame
from greenloop.notebook import adapter as books
from greenloop.notebook import cell_targets, ipynb
from greenloop.notebook.cell_labels import label_json
from greenloop.notebook.cell_source import Kind, read
from greenloop.notebook.layout import Cell, Notebook, module_names
from greenloop.notebook.module import compose
from greenloop.notebook.write_back import write_back
from greenloop.project.sources import is_test_file


def book(*texts, path="nb.ipynb"):
    module, tests = module_names(path)
    cells = tuple(Cell(source=text, label=n, id=f"cell-{n}") for n, text in enumerate(texts, 1))
    return Notebook(path=path, cells=cells, module=module, tests=tests)


def row(text, line):
    return text.split("\n")[line]


# -- magics -----------------------------------------------------------------------------------------------------------


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
    kinds = [Kind.IMPORT, Kind.CHECK, Kind.CHECK, Kind.TEST, Kind.TEST, Kind.CALL]
    assert [part.kind for part in read(cell).parts] == kinds


# -- module and tests -------------------------------------------------------------------------------------------------

CELLS = (
    "%pylab\nimport math",
    "def add(a, b):\n    return a - b",
    "x = add(1, 2)",
    'data = [i for i in range(3)]\ntext = """a\n  b"""\nassert add(2, 3) == 5\nassert len(data) == 3',
    "assert slug(x) == data",
    "def later(): ...\nshow()",
)


def test_module_and_tests_share_the_rows_of_the_cells():
    nb = book(*CELLS)
    composed = compose(nb, 4)
    for number, first in enumerate(nb.first_rows[:5]):
        for offset, own in enumerate(CELLS[number].split("\n")):
            here = {row(composed.module, first + offset), row(composed.tests, first + offset)}
            assert any(own.strip() in each for each in here), (number, offset)
            assert nb.position_of(first + offset).cell == number
            assert nb.position_of(first + offset).row == offset


def test_what_is_checked_is_no_part_of_the_module():
    composed = compose(book(*CELLS), 4)
    assert "later" not in composed.module
    body = [ast.unparse(node) for node in ast.parse(composed.module).body]
    names_there = ["import math", "def add(a, b):\n    return a - b", "x = add(1, 2)", "data = [i for i in range(3)]"]
    assert body == names_there  # `data` is taken by a later cell, `text` is not
    tests = {node.name: [ast.unparse(each) for each in node.body] for node in ast.parse(composed.tests).body}
    assert tests["test_cell_4"][0] == "from nb_ipynb import add"
    assert tests["test_cell_4"][2] == "text = 'a\\n  b'"
    assert tests["test_cell_5"] == ["from nb_ipynb import data, slug, x", "assert slug(x) == data"]


def test_tests_of_pytest_stay_functions_of_their_own():
    nb = book(
        "def f(): ...", "import pytest\nCASES = [1]\n@pytest.fixture\ndef one(): ...\ndef test_f(one): f()\ntest_f(1)"
    )
    tests = ast.parse(compose(nb, 1).tests).body
    assert [type(node).__name__ for node in tests] == ["ImportFrom", "Import", "Assign", "FunctionDef", "FunctionDef"]
    assert ast.unparse(tests[0]) == "from nb_ipynb import f"


def test_what_only_jupyter_has_is_made_where_it_is_used():
    head = row(
        compose(book("from __future__ import annotations\ndisplay(await f())", path="sub/nb.ipynb"), 0).module, 0
    )
    assert head.startswith("from __future__ import annotations; __import__('os').chdir".replace("'", '"'))
    assert "display = print" in head
    assert "await_ = " in head
    assert row(compose(book("x = 1"), 0).module, 0) == ""
    code = compose(book("async def f():\n    return 7", "a = await f()\nb = await f()"), 1).module
    seen = {}
    exec(code, seen)
    assert (seen["a"], seen["b"]) == (7, 7)


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("nb.ipynb", r"nb_ipynb\.py"),
        ("a b/my-book 1.ipynb", r"a b/my_book_1_\w{6}_ipynb\.py"),
        ("01.ipynb", r"nb_01_\w{6}_ipynb\.py"),
        ("täst.ipynb", r"t_st_\w{6}_ipynb\.py"),
    ],
)
def test_names_can_be_imported(path, module):
    assert re.fullmatch(module, module_names(path)[0])


def test_no_two_notebooks_have_the_same_names():
    paths = ["a-b", "a_b", "a b", "01", "nb_01", "数据", "分析", "test", "nb_test"]
    assert len({name for path in paths for name in module_names(f"{path}.ipynb")}) == 2 * len(paths)


@pytest.mark.parametrize("path", ["test.ipynb", "test_model.ipynb", "testing 1.ipynb", "x_test.ipynb"])
def test_the_module_of_a_notebook_is_no_test_file(path):
    nb = book("def f():\n    return 1", "assert f() == 2", path=path)
    assert [is_test_file(name) for name in (nb.module, nb.tests)] == [False, True]
    function, checks = (books.prepare(nb, goal).target for goal in cell_targets.list_targets(nb))
    assert (function.kind, checks.kind) == (TargetKind.FUNCTION, TargetKind.TEST)


def test_no_file_of_the_user_is_hidden(tmp_path):
    (tmp_path / "nb_ipynb.py").touch()
    (tmp_path / "test_nb_ipynb_.py").touch()
    assert books.free_module_names(tmp_path, "nb.ipynb") == ("nb_ipynb__.py", "test_nb_ipynb__.py")


# -- and back ---------------------------------------------------------------------------------------------------------


def back(nb, change, last):
    before = compose(nb, last).module
    after = change(before)
    assert after != before
    found = write_back(nb, before, after, last)
    return None if found is None else [cell.source for cell in found.cells]


def test_a_change_lands_in_its_cell_and_magics_come_back():
    nb = book("%pylab\nimport math", "def f():\n    !ls\n    return 1", "assert f() == 2")
    text = back(
        nb, lambda old: old.replace("return 1", "x = 2\n    return x").replace("math\n", "math\nimport re\n"), 2
    )
    assert text == ["%pylab\nimport math\nimport re", "def f():\n    !ls\n    x = 2\n    return x", "assert f() == 2"]


def test_a_rewritten_magic_is_still_the_magic():
    nb = book("def f():\n    !ls\n    return 1")
    assert back(nb, lambda old: old.replace("def f():", "def f(x):").replace("1", "2"), 0) == [
        "def f(x):\n    !ls\n    return 2"
    ]


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_helper_stands_in_the_cell_of_its_function(end):
    nb = book("a = 1", "def f():\n    return 1" + end, "assert f() == 2")
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
    nb = book("a = 1", stub + end, *later)
    wanted = ["a = 1", f"{stub}\n{body}{end}", *later]
    assert back(nb, lambda old: old.replace(stub, f"{stub}\n{body}"), len(later) + 1) == wanted
    found = write_back(nb, nb.text, book(*wanted).text, -1)
    assert [cell.source for cell in found.cells] == wanted


def test_what_is_added_or_taken_away_at_the_end_of_a_cell_stays_there():
    short, long = ("x = 1", "y = 2"), ("x = 1\n\nz = 3", "y = 2")
    for old, new in ((short, long), (long, short)):
        found = write_back(book(*old), book(*old).text, book(*new).text, -1)
        assert tuple(cell.source for cell in found.cells) == new


def test_a_body_without_its_function_lands_nowhere():
    assert write_back(book("x = 1", ""), book("x = 1", "").text, "\n\n    return 1\nx = 1\n\n\n\n", -1) is None


def test_what_belongs_to_no_cell_goes_on_top_of_the_target():
    nb = book("a = 1", "%%time\nassert f() == 2", "x = 1")
    at_the_end = back(nb, lambda old: old + "\n\ndef f():\n    return 2\n", 1)
    assert at_the_end == ["a = 1", "%%time\ndef f():\n    return 2\n\n\nassert f() == 2", "x = 1"]
    at_the_start = back(book("%%bash\nls", "x = f()", "assert x"), lambda old: "import re\n" + old, 2)
    assert at_the_start == ["%%bash\nls", "x = f()", "import re\n\n\nassert x"]


def test_an_import_stands_above_the_function_that_needs_it():
    """A cell between that one and the asserts may call it already."""
    nb = book("x = 1", "def f(s):\n    return s", "y = f('a')", "assert y == 'b'")
    body = 're.sub("a", "b", s)'
    text = back(nb, lambda old: "import re" + old.replace("return s", f"return {body}"), 3)
    assert text == ["x = 1", f"import re\n\n\ndef f(s):\n    return {body}", "y = f('a')", "assert y == 'b'"]


@pytest.mark.parametrize("head", ["%%time", "\n%%time -n 1", "from __future__ import annotations"])
def test_what_must_come_first_in_a_cell_stays_first(head):
    nb = book(f"{head}\ndef f():\n    return 1", "assert f() == 2")
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
    nb = book("a = 1", "b = 2", "assert a")
    assert back(nb, lambda old: old.replace("a = 1\n\n\nb = 2", "c = 3"), 2) is None


def test_any_change_within_cells_comes_back_exactly():
    chance = random.Random(7)
    for _round in range(300):
        cells = [[f"v{chance.randrange(9)} = {n}" for n in range(chance.randrange(1, 5))] for _cell in range(4)]
        nb = book(*("\n".join(cell) for cell in cells))
        number = chance.randrange(3)
        wanted = [list(cell) for cell in cells]
        at = chance.randrange(len(wanted[number]))
        wanted[number][at : at + chance.randrange(2)] = [f"w{n} = 0" for n in range(chance.randrange(1, 4))]
        after = book(*("\n".join(cell) for cell in wanted)).text
        found = write_back(nb, nb.text, after, 3)
        assert [cell.source.split("\n") for cell in found.cells] == wanted


# -- files ------------------------------------------------------------------------------------------------------------


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


# -- targets ----------------------------------------------------------------------------------------------------------


def test_targets_by_what_is_typed():
    nb = book(
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
    nb = book("def f(): ...", "x = f()", "assert f()", "y = 1", "assert y")
    assert cell_targets.parse_target(nb, "::f").last_cell == 2


def test_targets_at_a_row():
    nb = book(
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
    nb = book("x = (", "assert 1", "y = )")
    with pytest.raises(UsageError, match="Cell 1 of nb.ipynb cannot be read in row 1"):
        books.prepare(nb, cell_targets.CellTarget(cell=1, last_cell=1, test=True))


def failure(nb, cell, row, function="<module>"):
    line = nb.first_rows[cell] + row + 1
    frames = (Frame(path=nb.tests, line=9, function="test"), Frame(path=nb.module, line=line, function=function))
    return Failure(type="KeyError", message="'a'", frames=frames)


def test_only_what_no_function_of_the_notebook_can_cure_is_the_cells_own_fault():
    nb = book("def f(): ...", "table = {}\nvalue = table['a']", "y = f()\nz = y['a']", "assert z")
    asked = books.prepare(nb, cell_targets.CellTarget(cell=3, last_cell=3, test=True))
    fault = asked.fault([failure(nb, 1, 1)])
    assert fault.sentence == "Cell 2 of nb.ipynb fails in row 2: KeyError: 'a'"
    assert asked.fault([failure(nb, 2, 1)]) is None
    assert asked.fault([failure(nb, 1, 1), failure(nb, 2, 1)]) is None
    assert asked.fault([failure(nb, 0, 0, function="f")]) is None
    assert asked.fault([]) is None


# -- outcomes ---------------------------------------------------------------------------------------------------------


def outcome(before, after):
    return Outcome(
        solved=True,
        verified=Verified.VERIFIED,
        reason=StopReason.SOLVED,
        message="",
        attempts=(),
        before=before,
        after=after,
    )


def solved(nb, last, change):
    before = compose(nb, last).module
    return outcome({nb.module: before}, {nb.module: change(before)})


def test_an_outcome_is_kept_and_found_again(tmp_path):
    text = notebook("def f():\n    return 1", "assert f() == 2", "x = 1")
    (tmp_path / "nb.ipynb").write_text(text)
    nb, _text = books.load(tmp_path, "nb.ipynb")
    found = solved(nb, 1, lambda old: old.replace("return 1", "return 2"))
    asked = books.prepare(nb, cell_targets.parse_target(nb, ":2"))
    assert asked.outcome_by_cell(found).after == {"nb.ipynb:1": "def f():\n    return 2\n"}
    written = asked.outcome_for_file(found, text)
    assert sources(written.after["nb.ipynb"]) == ["def f():\n    return 2", "assert f() == 2", "x = 1"]
    assert books.recover_outcome(tmp_path, found) == written
    (tmp_path / "nb.ipynb").write_text(notebook("x", "assert f() == 2"))
    with pytest.raises(WorkspaceError, match="nb.ipynb changed since the run"):
        books.recover_outcome(tmp_path, found)


def test_names_for_people():
    nb = book("x = 1", "a\nassert x")
    said = f"test_nb_ipynb.py::test_cell_2 at nb_ipynb.py:{nb.first_rows[1] + 2} in nb_ipynb.py"
    assert books.label_text(nb, said) == "nb.ipynb:2 at nb.ipynb cell 2 row 2 in nb.ipynb"


def test_objects_for_programs():
    nb = book("def f():\n    return 1", "assert f()")
    first, second = (n + 1 for n in nb.first_rows)
    value = {
        "cases": [{"id": "test_nb_ipynb.py::test_cell_2", "path": "test_nb_ipynb.py", "line": second}],
        "regions": [{"path": "nb_ipynb.py", "name": "f", "start": first, "end": first + 1, "created": False}],
        "over the gap": {"path": "nb_ipynb.py", "start": first, "end": second},
        "whole": {"path": "nb_ipynb.py", "line": None},
        "other": {"path": "m.py", "line": 3, "seconds": 0.5},
    }
    assert label_json(nb, value) == {
        "cases": [{"id": "nb.ipynb:2", "path": "nb.ipynb", "line": 1, "cell": 2}],
        "regions": [{"path": "nb.ipynb", "name": "f", "start": 1, "end": 2, "created": False, "cell": 1}],
        "over the gap": {"path": "nb.ipynb", "start": 1, "end": 2, "cell": 1},
        "whole": {"path": "nb.ipynb", "line": None, "cell": None},
        "other": {"path": "m.py", "line": 3, "seconds": 0.5},
    }


def test_a_kept_target_is_titled_by_its_notebook(tmp_path):
    (tmp_path / "nb.ipynb").write_text(notebook("def f(): return 1", "assert f()"))
    assert books.target_title(tmp_path, "test_nb_ipynb.py::test_cell_2") == "nb.ipynb:2"
    assert books.target_title(tmp_path, "nb_ipynb.py::f") == "nb.ipynb::f"
    assert books.target_title(tmp_path, "test_m.py::test_a") == "test_m.py::test_a"
    (tmp_path / "nb_ipynb.py").write_text("")
    assert books.target_title(tmp_path, "nb_ipynb.py::f") == "nb_ipynb.py::f"
    (tmp_path / "nb_ipynb.py").unlink()
    (tmp_path / "nb.ipynb").rename(tmp_path / "other.ipynb")
    assert books.target_title(tmp_path, "nb_ipynb.py::f") == "nb_ipynb.py::f"


def test_huge_files_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(books, "MAX_BYTES", 100)
    (tmp_path / "nb.ipynb").write_text(notebook("x"))
    with pytest.raises(UsageError, match="larger than"):
        books.load(tmp_path, "nb.ipynb")
    with pytest.raises(UsageError, match="cannot be read"):
        books.load(tmp_path, "no.ipynb")
