from __future__ import annotations

import re

import pytest

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.plugins.types.checkers import configured_checkers, find_checker
from greenloop_sandbox.records import Environment


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({}, []),
        ({"mypy.ini": "[mypy]\nstrict = true\n"}, [("mypy", "mypy.ini", False)]),
        ({"mypy.ini": "[mypy]\nfiles = src\n"}, [("mypy", "mypy.ini", True)]),
        ({"setup.cfg": "[mypy]\n"}, [("mypy", "setup.cfg", False)]),
        ({"setup.cfg": "[flake8]\n"}, []),
        ({"pyproject.toml": "[tool.mypy]\npackages = ['a']\n"}, [("mypy", "pyproject.toml", True)]),
        ({"pyproject.toml": "[tool.basedpyright]\n"}, [("basedpyright", "pyproject.toml", True)]),
        (
            {"pyrightconfig.json": "{}"},
            [("pyright", "pyrightconfig.json", True), ("basedpyright", "pyrightconfig.json", True)],
        ),
        ({"pyproject.toml": "[tool", "mypy.ini": "mypy"}, []),
    ],
)
def test_what_files_configure(tmp_path, files, names):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert [(each.name, each.configuration, each.has_paths) for each in configured_checkers(tmp_path)] == names


@pytest.fixture
def environment(tmp_path):
    """An environment with pyright alone."""
    package = tmp_path / "venv" / "lib" / "python3.11" / "site-packages" / "pyright"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    prefix = tmp_path / "venv"
    return Environment(
        executable=prefix / "bin" / "python",
        prefix=prefix,
        base=prefix,
        version=(3, 11),
        source="test",
        has_pytest=True,
    )


def test_the_installed_one_is_taken(tmp_path, environment):
    (tmp_path / "pyproject.toml").write_text("[tool.mypy]\n[tool.pyright]\n")
    assert find_checker(tmp_path, environment).name == "pyright"


@pytest.mark.parametrize(
    ("text", "error", "remedy"),
    [
        ("", UsageError, r"Add `\[tool.mypy\]`"),
        ("[tool.mypy]\n", CannotVerifyError, "Install it there: .*/venv/bin/python -m pip install mypy"),
    ],
)
def test_none_that_can_be_used(tmp_path, environment, text, error, remedy):
    (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(error) as raised:
        find_checker(tmp_path, environment)
    assert re.match(remedy, raised.value.remedy)
