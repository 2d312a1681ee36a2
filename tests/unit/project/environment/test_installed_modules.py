"""Which top-level modules an environment has."""

from __future__ import annotations

import pytest

from greenloop.project.environment.installed_modules import has_other_module
from greenloop_sandbox import Environment

INSTALLED = {"numpy/__init__.py": "1", "six.py": "2", "yaml.cpython-311-x86_64-linux-gnu.so": "", "data/x.txt": ""}


@pytest.mark.parametrize(
    ("name", "data", "other"),
    [
        ("numpy", b"", True),
        ("numpy", b"1", False),  # the project itself, installed from here
        ("six", b"", True),
        ("yaml", b"", True),
        ("data", b"", False),
        ("nothing", b"", False),
    ],
)
def test_a_module_of_the_environment(tmp_path, name, data, other):
    site = tmp_path / "lib/python3.11/site-packages"
    for path, text in INSTALLED.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    environment = Environment(
        executable=tmp_path / "bin/python",
        prefix=tmp_path,
        base=tmp_path,
        version=(3, 11),
        source="x",
        has_pytest=True,
    )
    assert has_other_module(environment, name, data) is other
