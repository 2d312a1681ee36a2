"""The command lines that users are told to type, by the way in which greenloop was installed."""

import re
import sys
from pathlib import Path

import pytest

from greenloop.project.environment import installation

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/u/.cache/uv/archive-v0/abc", "uvx --with {} greenloop fix 'a b.py'"),
        ("/home/u/.cache/uv/environments-v2/abc", "uvx --with {} greenloop fix 'a b.py'"),
        ("/home/u/.cache/pipx/0123", "pipx run \"greenloop[providers]\" fix 'a b.py'"),
        ("/home/u/.local/share/pipx/venvs/greenloop", "pipx inject greenloop {}"),
        ("/home/u/project/.venv", f"{sys.executable} -m pip install {{}}"),
    ],
)
def test_an_extra_is_added_in_its_exact_version_by_what_installed_greenloop(prefix, command):
    pinned = re.search(r"litellm==[\d.]+", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = installation.extra_command("providers", Path(prefix), ["fix", "a b.py"])
    assert found == command.format(pinned[0])


def test_the_engine_is_added_to_a_tool_of_uv(tmp_path):
    (tmp_path / "uv-receipt.toml").touch()
    assert installation.extra_command("local", tmp_path, []) == "uv tool install greenloop --with 'xllamacpp>=2026.10'"


def test_a_command_is_typed_as_greenloop_was():
    def typed(prefix: str) -> str:
        return installation.own_command("greenloop", "model", "pull", prefix=Path(prefix))

    assert typed("/home/u/.venv") == "greenloop model pull"
    assert typed("/c/uv/archive-v0/abc") == 'uvx "greenloop[local]" model pull'
