"""Which files a candidate may change, and the words that say why not."""

from __future__ import annotations

import pytest

from greenloop.project.editable import why_not_editable

MASKED = (".env*", "*.pem", "secrets.*", "!shown/secrets.json")


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "w"
    (root / "src" / "pkg").mkdir(parents=True)
    (root / "src" / "pkg" / "core.py").touch()
    (root / "env39").mkdir()
    (root / "env39" / "pyvenv.cfg").touch()
    (root / "other.ini").write_text("[pytest]\naddopts = -q\n")
    (root / "app.ini").write_text("[server]\nport = 1\n")
    (tmp_path / "outside").mkdir()
    (root / "link").symlink_to(tmp_path / "outside")
    return root


@pytest.mark.parametrize(
    "path",
    [
        "src/pkg/core.py",
        "src/pkg/new.py",
        "new/folder/x.py",
        "data/rates.json",
        "app.ini",
        "limits.toml",
        "README.md",
        "src/pkg/settings.toml",
        "src/contest/x.py",
        "latest/x.py",
        "shown/secrets.json",
        "src/testing.py",
    ],
)
def test_what_may_change(root, path):
    assert why_not_editable(path, root, patterns=None, masked=MASKED) == ""


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("", "is outside the workspace"),
        ("/etc/passwd", "is outside the workspace"),
        ("../x.py", "is outside the workspace"),
        ("src/../../x.py", "is outside the workspace"),
        ("link/x.py", "leads outside the workspace"),
        ("a\0b", "cannot be a file here"),
        ("x" * 999, "cannot be a file here"),
        ("src", "cannot be a file here"),
        ("src/pkg/core.py/x.py", "cannot be a file here"),
        (".env", "is hidden"),
        ("src/.cache/x.py", "is hidden"),
        ("secrets.json", "is hidden"),
        ("key.pem", "is hidden"),
        ("env39/lib/x.py", "belongs to an environment or a build"),
        ("node_modules/x.js", "belongs to an environment or a build"),
        ("acme-1.0.dist-info/METADATA", "belongs to an environment or a build"),
        ("build/x.py", "belongs to an environment or a build"),
        ("test_m.py", "belongs to the tests, which stay as they are"),
        ("src/m_test.py", "belongs to the tests, which stay as they are"),
        ("tests/helper.py", "belongs to the tests, which stay as they are"),
        ("src/test/data.json", "belongs to the tests, which stay as they are"),
        ("src/unit-tests/x.py", "belongs to the tests, which stay as they are"),
        ("testdata/x.csv", "belongs to the tests, which stay as they are"),
        ("conftest.py", "is configuration, which stays as it is"),
        ("src/pkg/conftest.py", "is configuration, which stays as it is"),
        ("pytest.ini", "is configuration, which stays as it is"),
        ("pyproject.toml", "is configuration, which stays as it is"),
        ("sub/pyproject.toml", "is configuration, which stays as it is"),
        ("mypy.ini", "is configuration, which stays as it is"),
        ("other.ini", "is configuration, which stays as it is"),
        ("setup.cfg", "is configuration, which stays as it is"),
        ("src/pkg/x.pth", "is configuration, which stays as it is"),
        ("sitecustomize.py", "is configuration, which stays as it is"),
        ("nb.ipynb", "is a notebook, of which only the cells of a target may change"),
    ],
)
def test_what_may_not(root, path, why):
    assert why_not_editable(path, root, patterns=None, masked=MASKED) == why


def test_the_patterns_of_the_project_tell_its_tests(root):
    assert why_not_editable("check_m.py", root, patterns=("check_*.py",), masked=()).startswith("belongs to the tests")
    assert why_not_editable("test_m.py", root, patterns=("check_*.py",), masked=()) == ""
