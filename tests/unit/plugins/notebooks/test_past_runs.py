"""What the history says of runs in notebooks, in terms of the notebooks."""

from cells import notebook
from greenloop.plugins.notebooks import past_runs


def test_a_kept_target_is_titled_by_its_notebook(tmp_path):
    (tmp_path / "nb.ipynb").write_text(notebook("def f(): return 1", "assert f()"))
    assert past_runs.title(tmp_path, "test_nb_ipynb.py::test_cell_2") == "nb.ipynb:2"
    assert past_runs.title(tmp_path, "nb_ipynb.py::f") == "nb.ipynb::f"
    assert past_runs.title(tmp_path, "test_m.py::test_a") == "test_m.py::test_a"
    (tmp_path / "nb_ipynb.py").write_text("")
    assert past_runs.title(tmp_path, "nb_ipynb.py::f") == "nb_ipynb.py::f"
    (tmp_path / "nb_ipynb.py").unlink()
    (tmp_path / "nb.ipynb").rename(tmp_path / "other.ipynb")
    assert past_runs.title(tmp_path, "nb_ipynb.py::f") == "nb_ipynb.py::f"
