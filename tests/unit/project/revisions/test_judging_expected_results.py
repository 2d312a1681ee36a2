from __future__ import annotations

import pytest

from greenloop.project.revisions.judging import find_role

FILES = {
    "m.py": 'RATES = open("rates.json").read()\n',
    "test_m.py": 'WANTED = open("wanted.json"), open("rates.json")\n',
}


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("rates.json", ""),
        ("wanted.json", "data that test_m.py reads"),
        ("golden/page.html", "expected results"),
        ("page.snap", "expected results"),
        ("nobody.json", ""),
    ],
)
def test_data_that_only_tests_name_is_theirs(tmp_path, path, role):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert find_role(path, tmp_path, FILES.get, ("test_*.py",)) == role


@pytest.mark.parametrize(
    ("addopts", "path", "role"),
    [
        ("", "docs/test_guide.txt", "a test file"),
        ("", "README.md", ""),
        ("-q --doctest-glob=README.md", "README.md", "a test file"),
        ("--doctest-glob '*.rst'", "docs/guide.rst", "a test file"),
        ("--doctest-glob '*.rst'", "README.md", ""),
        ("--doctest-glob=*", "m.py", ""),
    ],
)
def test_texts_whose_examples_pytest_runs_are_tests(tmp_path, addopts, path, role):
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = {addopts}\n")
    assert find_role(path, tmp_path, FILES.get, ("test_*.py",)) == role
