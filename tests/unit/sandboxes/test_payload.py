"""Finding the files that live inside the wall, wherever greenloop was installed from."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.sandboxes import payload

REPOSITORY = Path(__file__).resolve().parents[3]


def test_in_a_checkout_and_an_editable_install():
    # Both import the package from server/greenloop itself.
    assert payload.folder() == REPOSITORY / "sandbox"
    assert payload.folder(REPOSITORY / "server" / "greenloop") == REPOSITORY / "sandbox"


def test_in_a_wheel(tmp_path):
    package = tmp_path / "site-packages" / "greenloop"
    shutil.copytree(REPOSITORY / "sandbox", package / "_sandbox")
    assert payload.folder(package) == package / "_sandbox"


def test_the_wheel_is_told_to_carry_them():
    assert '"sandbox" = "greenloop/_sandbox"' in (REPOSITORY / "pyproject.toml").read_text()


def test_nowhere(tmp_path):
    with pytest.raises(CannotVerifyError) as caught:
        payload.folder(tmp_path / "greenloop")
    assert caught.value.remedy


@pytest.mark.parametrize("name", sorted(payload.sources()))
def test_it_is_written_for_the_oldest_python(name):
    ast.parse(payload.sources()[name], feature_version=(3, 9))


def test_what_goes_inside():
    assert {
        "protocol.py",
        "supervisor.py",
        "plugin.py",
        "doctest_cases.py",
        "function_tracer.py",
        "line_tracer.py",
    } <= set(payload.sources())
    assert {"pytest", "_pytest", "pluggy", "iniconfig"} <= set(payload.borrowed_packages())
    assert payload.protocol() is payload.protocol()
