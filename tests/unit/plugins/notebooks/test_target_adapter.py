"""Notebooks by the port of the engine, as the command line uses it."""

from __future__ import annotations

from cells import notebook
from greenloop.engine import target_adapters
from greenloop.plugins.notebooks import target_adapter
from greenloop.plugins.notebooks.adapter import NotebookTarget


def test_a_notebook_is_found_by_its_name_and_everything_else_is_unadapted(tmp_path):
    (tmp_path / "nb.ipynb").write_text(notebook("def f(): return 1", "assert f()"))
    assert target_adapters.find_adapter("m.py") is None
    assert target_adapters.adapt(tmp_path, "m.py", "::f") is target_adapters.UNADAPTED
    assert target_adapters.find_adapter("nb.ipynb") is target_adapter
    adapted = target_adapters.adapt(tmp_path, "nb.ipynb", ":2")
    assert isinstance(adapted, NotebookTarget)
    target, text = adapted.locate()
    assert (target.selector, adapted.label(target.selector)) == ("test_nb_ipynb.py::test_cell_2", "nb.ipynb:2")
    assert "def f(): return 1" in text
    assert target_adapters.title(tmp_path, target.selector) == "nb.ipynb:2"
    assert target_adapters.title(tmp_path, "test_m.py::test_a") == "test_m.py::test_a"
    assert target_adapters.label_past(tmp_path, target.selector, "in nb_ipynb.py:3") == "in nb.ipynb"


def test_the_sandbox_gets_module_and_tests_in_place_of_the_file(tmp_path):
    text = notebook("def f(): return 1", "assert f()")
    (tmp_path / "nb.ipynb").write_text(text)
    adapted = target_adapter.adapt(tmp_path, "nb.ipynb", ":2")
    files = adapted.to_sandbox({"m.py": b"x", "nb.ipynb": text.replace("return 1", "return 2").encode()})
    assert set(files) == {"m.py", "nb_ipynb.py", "test_nb_ipynb.py"}
    assert b"return 2" in files["nb_ipynb.py"]
    assert adapted.to_sandbox({"m.py": b"x"}) == {"m.py": b"x", **adapted.buffers}
