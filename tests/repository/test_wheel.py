"""The wheel holds what greenloop needs, and nothing of the laboratory."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[2]
PACKAGES = (HOUSE / "server/greenloop", HOUSE / "sandbox/greenloop_sandbox")


def test_the_wheel_holds_every_prompt_and_table_and_names_the_pytest_plugin(tmp_path):
    words = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(HOUSE)]
    built = subprocess.run(words, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        held = set(wheel.namelist())
        entry_points = wheel.read(next(name for name in held if name.endswith("entry_points.txt"))).decode()
    wanted = {
        file.relative_to(package.parent).as_posix()
        for package in PACKAGES
        for pattern in ("*.txt", "*.toml", "py.typed", "inside/**/*.py")
        for file in package.rglob(pattern)
    }
    assert wanted
    assert wanted <= held
    assert [name for name in held if name.startswith(("greenloop_lab", "lab/", "benchmarks/"))] == []
    assert "greenloop_lab" not in entry_points
    assert "[greenloop.commands]\nacp = greenloop.plugins.agents.commands.acp\n" in entry_points
    assert "[pytest11]\ngreenloop = greenloop.plugins.pipelines.pytest_plugin\n" in entry_points
