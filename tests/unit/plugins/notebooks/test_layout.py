"""Names of a notebook's module."""

import re

import pytest

from greenloop.plugins.notebooks.layout import module_names


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
