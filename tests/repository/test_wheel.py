"""The wheel holds what greenloop needs."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[2]
PACKAGE = HOUSE / "server/greenloop"


def built_in() -> list[str]:
    drafting = PACKAGE / "drafting"
    files = [*drafting.glob("prompts/*/*.txt"), *drafting.glob("feedback/*.txt")]
    return sorted(file.relative_to(drafting).as_posix().removeprefix("prompts/") for file in files)


def test_the_wheel_holds_every_prompt(tmp_path):
    words = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(HOUSE)]
    built = subprocess.run(words, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        held = set(wheel.namelist())
    wanted = {
        f"greenloop/drafting/{name}" if name.startswith("feedback/") else f"greenloop/drafting/prompts/{name}"
        for name in built_in()
    }
    assert wanted <= held
