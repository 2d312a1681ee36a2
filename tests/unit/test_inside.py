"""Finding the files that live inside the wall, wherever greenloop was installed from."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from greenloop import inside
from greenloop.core.errors import CannotVerify

REPOSITORY = Path(__file__).resolve().parents[2]


def test_in_a_checkout_and_an_editable_install():
    # Both import the package from server/greenloop itself.
    assert inside.folder() == REPOSITORY / "sandbox"
    assert inside.folder(REPOSITORY / "server" / "greenloop") == REPOSITORY / "sandbox"


def test_in_a_wheel(tmp_path):
    package = tmp_path / "site-packages" / "greenloop"
    shutil.copytree(REPOSITORY / "sandbox", package / "_sandbox")
    assert inside.folder(package) == package / "_sandbox"


def test_the_wheel_is_told_to_carry_them():
    assert '"sandbox" = "greenloop/_sandbox"' in (REPOSITORY / "pyproject.toml").read_text()


def test_nowhere(tmp_path):
    with pytest.raises(CannotVerify) as caught:
        inside.folder(tmp_path / "greenloop")
    assert caught.value.remedy


@pytest.mark.parametrize("name", sorted(inside.sources()))
def test_it_is_written_for_the_oldest_python(name):
    ast.parse(inside.sources()[name], feature_version=(3, 9))


def test_what_goes_inside():
    assert {"protocol.py", "runner.py", "plugin.py", "examples.py", "tracing.py", "watching.py"} <= set(
        inside.sources()
    )
    assert {"pytest", "_pytest", "pluggy", "iniconfig"} <= set(inside.borrowed_packages())
    assert inside.protocol() is inside.protocol()
