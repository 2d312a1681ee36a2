"""Cells as objects for programs."""

from cells import make_notebook
from greenloop.plugins.notebooks.cell_labels import label_json


def test_objects_for_programs():
    nb = make_notebook("def f():\n    return 1", "assert f()")
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
