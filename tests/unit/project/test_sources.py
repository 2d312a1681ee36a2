"""Sources: their encoding, and pytest's patterns."""

from __future__ import annotations

import pytest

from greenloop.project import sources
from project_files import write_files


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"x = 1\n", "x = 1\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (b"x = '\xff'\n", "x = '\ufffd'\n"),
        (b"# coding: nonsense\n", "# coding: nonsense\n"),
    ],
)
def test_decode(data, text):
    assert sources.decode(data) == text


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest.ini", "[pytest]\npython_files = check_*.py\n  spec_*.py\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\npython_files = 'check_*.py spec_*.py'\n"),
        ("pyproject.toml", "[tool.pytest]\npython_files = ['check_*.py', 'spec_*.py']\n"),
        ("pytest.toml", "[pytest]\npython_files = ['check_*.py', 'spec_*.py']\n"),
        ("tox.ini", "[pytest]\npython_files = check_*.py spec_*.py\n"),
        ("setup.cfg", "[tool:pytest]\npython_files = check_*.py spec_*.py\n"),
    ],
)
def test_patterns_are_read_from_every_place_pytest_reads(tmp_path, file, text):
    write_files(tmp_path, {file: text})
    assert sources.file_patterns(tmp_path) == ("check_*.py", "spec_*.py")


@pytest.mark.parametrize("text", ["[tool.pytest", "tool = 3", "[tool]\npytest = 1", "\xff"])
def test_a_broken_configuration_means_the_defaults(tmp_path, text):
    write_files(tmp_path, {"pyproject.toml": text.encode("latin-1")})
    assert sources.file_patterns(tmp_path) == sources.TEST_FILES
