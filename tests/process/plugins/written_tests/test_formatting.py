"""The project's own formatter, started on new code."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from greenloop.plugins.written_tests.formatting import configured_formatter, format_code

CODE = "def test_one():\n    assert f('a') == {'b': 1}\n"


def install(folder: Path, program: str, name: str = "black") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!{sys.executable}\nimport sys\ncode = sys.stdin.read()\n{program}\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("[tool.black]\n")
    return folder


def on_path(monkeypatch, folder: Path) -> None:
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"pyproject.toml": "[tool.ruff.lint]\n"}, "ruff"),
        ({"pyproject.toml": "[tool.black]\n[tool.ruff]\n"}, "black"),
        ({".ruff.toml": ""}, "ruff"),
        ({"ruff.toml": "", "tests/pyproject.toml": "[tool.black]\n"}, "black"),
        ({".pre-commit-config.yaml": "repos:\n- hooks:\n  - id: ruff-format\n"}, "ruff"),
        ({".pre-commit-config.yaml": "repos:\n- hooks:\n  - id: black\n"}, "black"),
        ({".pre-commit-config.yaml": "repos:\n- hooks:\n  - id: blacken-docs\n  - id: ruff\n"}, ""),
        ({"pyproject.toml": "[tool.isort]\n"}, ""),
        ({"pyproject.toml": "[tool.black\n"}, ""),
        ({"pyproject.toml": "tool = 1\n"}, ""),
        ({}, ""),
    ],
)
def test_the_formatter_that_the_project_configures(tmp_path, files, name):
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    assert configured_formatter(tmp_path, "tests/test_m.py") == name


def test_ruff_as_the_project_configures_it(root):
    (root / "pyproject.toml").write_text("[tool.ruff]\nline-length = 30\n")
    assert format_code(CODE, root, "tests/test_m.py") == ('def test_one():\n    assert f("a") == {"b": 1}\n')


def test_a_file_that_the_project_excludes_stays_plain(root):
    (root / "pyproject.toml").write_text("[tool.ruff]\nextend-exclude = ['tests']\n")
    assert format_code(CODE, root, "tests/test_m.py") == CODE


def test_black_is_told_the_file_and_does_not_see_the_workspace(root, tmp_path, monkeypatch):
    seen = tmp_path / "seen"
    program = (
        f"import os; open({str(seen)!r}, 'w').write(repr((sys.argv[1:], os.getcwd(), os.environ.get('PYTHONPATH'))))"
    )
    tool = install(tmp_path / "bin", f"{program}\nprint(code.replace(chr(39), chr(34)), end='')")
    on_path(monkeypatch, tool.parent)
    monkeypatch.setenv("PYTHONPATH", str(root))
    assert format_code(CODE, root, "test_m.py") == CODE.replace("'", '"')
    words = ["--quiet", "--stdin-filename", str(root / "test_m.py"), "-"]
    assert seen.read_text() == repr((words, str(tool.parent), None))


@pytest.mark.parametrize(
    "program",
    ["sys.exit(1)", "print(code.replace('1', '2'))", "pass", "print('def (')", "sys.stdout.buffer.write(b'\\xff')"],
)
def test_a_formatter_that_fails_or_changes_the_meaning_is_ignored(root, tmp_path, monkeypatch, program):
    on_path(monkeypatch, install(tmp_path / "bin", program).parent)
    assert format_code(CODE, root, "test_m.py") == CODE


def test_a_formatter_that_takes_too_long_is_ignored(root, tmp_path, monkeypatch):
    on_path(monkeypatch, install(tmp_path / "bin", "import time; time.sleep(60)").parent)
    assert format_code(CODE, root, "test_m.py", seconds=0.5) == CODE
