"""A repository cannot register anything, wherever in it a package lies."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ENTRIES = """\
[greenloop.commands]
evil = evil_greenloop.command

[greenloop.parts]
feedback = evil_greenloop
"""
ASK = "from greenloop.core import registry as r; print(r.has_part('feedback', 'command'), 'command' in r.list_parts('feedback'))"


def install(folder: Path) -> None:
    """A package as pip installs it, which leaves a file if any of it is imported."""
    metadata, package = folder / "evil-1.0.dist-info", folder / "evil_greenloop"
    for each in (metadata, package):
        each.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRIES)
    for name in ("__init__", "command"):
        (package / f"{name}.py").write_text(f"open({str(folder / 'imported')!r}, 'w')\nSUMMARY = 'evil'\n")


@pytest.mark.parametrize("place", [".", ".venv"])
def test_a_workspaces_distribution_registers_nothing(tmp_path, place):
    scheme = {"base": str(tmp_path / place), "platbase": str(tmp_path / place)}
    folder = tmp_path if place == "." else Path(sysconfig.get_path("purelib", "venv", vars=scheme))
    install(folder)
    environment = {**os.environ, "PYTHONPATH": str(folder), "VIRTUAL_ENV": str(tmp_path / ".venv")}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    command = run("-m", "greenloop", "evil")
    assert command.returncode == 2
    assert "invalid choice: 'evil'" in command.stderr
    assert "evil" not in run("-m", "greenloop", "--help").stdout
    assert run("-c", ASK).stdout == "False False\n"
    assert not (folder / "imported").exists()


def test_the_same_distribution_counts_in_greenloops_own_environment(tmp_path):
    """So that the test above does not pass for another reason."""
    install(tmp_path)
    words = [sys.executable, "-c", f"import site; site.getsitepackages = lambda: [{str(tmp_path)!r}]\n{ASK}"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    asked = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert asked.stdout == "True True\n", asked.stderr
    assert (tmp_path / "imported").exists()
