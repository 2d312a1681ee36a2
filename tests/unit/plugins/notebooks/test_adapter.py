"""Notebooks: cells as a module and its tests on one grid of rows, changes back into cells, files kept byte for byte."""

import os

import pytest

from cells import make_notebook, notebook, sources
from greenloop.core.errors import UsageError, WorkspaceError
from greenloop.core.records.outcome import Outcome, StopReason, Verified
from greenloop.core.records.spec import TargetKind
from greenloop.plugins.notebooks import adapter as books
from greenloop.plugins.notebooks import cell_targets, target_adapter
from greenloop.plugins.notebooks.module import compose
from greenloop.project.sources import is_test_file

# -- module and tests -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["test.ipynb", "test_model.ipynb", "testing 1.ipynb", "x_test.ipynb"])
def test_the_module_of_a_notebook_is_no_test_file(path):
    nb = make_notebook("def f():\n    return 1", "assert f() == 2", path=path)
    assert [is_test_file(name) for name in (nb.module, nb.tests)] == [False, True]
    function, checks = (books.prepare(nb, goal).target for goal in cell_targets.list_targets(nb))
    assert (function.kind, checks.kind) == (TargetKind.FUNCTION, TargetKind.TEST)


def test_no_file_of_the_user_is_hidden(tmp_path):
    (tmp_path / "nb_ipynb.py").touch()
    (tmp_path / "test_nb_ipynb_.py").touch()
    assert books.free_module_names(tmp_path, "nb.ipynb") == ("nb_ipynb__.py", "test_nb_ipynb__.py")


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
    nb, text = books.load(tmp_path, "nb.ipynb")
    found = solved(nb, 1, lambda old: old.replace("return 1", "return 2"))
    asked = target_adapter.adapt(tmp_path, "nb.ipynb", ":2")
    assert asked.show(found).after == {"nb.ipynb:1": "def f():\n    return 2\n"}
    written = asked.to_files(found)
    assert sources(written.after["nb.ipynb"]) == ["def f():\n    return 2", "assert f() == 2", "x = 1"]
    assert target_adapter.of_run(tmp_path, found).to_files(found) == written
    (tmp_path / "nb.ipynb").write_text(notebook("x", "assert f() == 2"))
    with pytest.raises(WorkspaceError, match="nb.ipynb changed since the run"):
        target_adapter.of_run(tmp_path, found)


def test_names_for_people():
    nb = make_notebook("x = 1", "a\nassert x")
    said = f"test_nb_ipynb.py::test_cell_2 at nb_ipynb.py:{nb.first_rows[1] + 2} in nb_ipynb.py"
    assert books.label_text(nb, said) == "nb.ipynb:2 at nb.ipynb cell 2 row 2 in nb.ipynb"


def test_huge_files_are_refused(tmp_path):
    (tmp_path / "nb.ipynb").write_text(notebook("x"))
    os.truncate(tmp_path / "nb.ipynb", books.MAX_BYTES + 1)
    with pytest.raises(UsageError, match="larger than"):
        books.load(tmp_path, "nb.ipynb")
    with pytest.raises(UsageError, match="cannot be read"):
        books.load(tmp_path, "no.ipynb")
