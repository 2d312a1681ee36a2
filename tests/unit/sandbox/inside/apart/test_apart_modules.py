"""Modules of the workspace are found where an import would find them."""

from __future__ import annotations

import ast

import pytest

from two_sides import apart

modules = apart["apart_modules"]


def test_functions_and_classes_are_named_in_order_and_equal_names_are_numbered():
    text = """
def f(): pass
class C:
    def f(self):
        def inner(): pass
    class D: pass
if True:
    def f(): pass
try: pass
except ValueError:
    async def g(): pass
"""
    assert [*modules.named_nodes(ast.parse(text))] == ["f", "C", "C.f", "C.D", "f#1", "g"]


@pytest.mark.parametrize(
    ("name", "found"),
    [("pkg", "pkg/__init__.py"), ("other", "other.py"), ("space", ""), ("gone", "")],
    ids=["package", "module", "folder", "none"],
)
def test_a_changed_file_is_the_one_that_an_import_finds(tmp_path, name, found):
    changed = {str(tmp_path / path) for path in ("pkg/__init__.py", "pkg.py", "other.py", "space/m.py")}
    assert modules.changed_file(name, [str(tmp_path)], changed) == (str(tmp_path / found) if found else "")
    folder = modules.new_folder(name, [str(tmp_path)], changed)
    assert (folder is not None) == (name in ("pkg", "space"))
