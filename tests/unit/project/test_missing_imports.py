"""Imports of names that a module lacks: from the standard library, and from modules that it imports from."""

from __future__ import annotations

import pytest

from greenloop.project import sources
from greenloop.project.missing_imports import find_imports
from project_files import write_files

TEXT = "from .errors import Missing\nfrom pkg.words import join\n\n\ndef f(x):\n    raise {name}(x)\n"


@pytest.fixture
def package(tmp_path):
    """A package of three modules, of which one is asked about."""
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    (tmp_path / "pkg" / "errors.py").write_text("class Missing(Exception): ...\nclass Closed(Exception): ...\n")
    (tmp_path / "pkg" / "words.py").write_text("from pkg.errors import Closed\n\ndef join(): ...\ndef Both(): ...\n")
    return tmp_path


def found(root, name, text=TEXT):
    text = text.format(name=name)
    return find_imports(text, "pkg/m.py", [name], root, lambda path: sources.read_text(root, path))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Closed", ["from .errors import Closed"]),  # it is defined there, and only imported elsewhere
        ("Both", ["from pkg.words import Both"]),
        ("Counter", ["from collections import Counter"]),
        ("Nowhere", []),
    ],
)
def test_where_a_name_comes_from(package, name, expected):
    assert found(package, name) == expected


def test_of_two_modules_none_is_chosen(package):
    (package / "pkg" / "words.py").write_text("def join(): ...\nclass Closed: ...\n")
    assert found(package, "Closed") == []


@pytest.mark.parametrize("text", ["def f(x):\n    raise {name}(x)\n", "from .errors import (\n{name}"])
def test_a_module_that_imports_nothing_or_cannot_be_parsed(package, text):
    assert found(package, "Closed", text) == ["from pkg.errors import Closed"]


def test_of_a_module_that_is_not_imported_yet(package):
    (package / "pkg" / "numbers.py").write_text("def half(): ...\n")
    assert found(package, "half") == ["from .numbers import half"]
    assert found(package, "half", TEXT.replace(".errors", "pkg.errors")) == ["from pkg.numbers import half"]


def test_none_where_two_modules_define_a_name_or_only_a_test_does(package):
    for file in ("one.py", "two.py", "test_it.py"):
        (package / "pkg" / file).write_text("def half(): ...\n")
    (package / "pkg" / "test_it.py").write_text("def tested(): ...\n")
    assert found(package, "half") == found(package, "tested") == []


def test_the_name_is_that_of_the_packages_own_folder(tmp_path):
    write_files(tmp_path, {"server/pkg/__init__.py": "", "server/pkg/errors.py": "class Closed: ...\n"})
    statements = find_imports(
        "raise Closed()\n", "server/pkg/m.py", ["Closed"], tmp_path, lambda path: sources.read_text(tmp_path, path)
    )
    assert statements == ["from pkg.errors import Closed"]
