"""The program of the package's README: it runs tests in a sandbox without anything of greenloop."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "sandbox" / "greenloop_sandbox" / "README.md"
(PROGRAM,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
# The rest of greenloop is not importable for it.
ALONE = 'import sys\nsys.modules["greenloop"] = None\n'


@pytest.mark.needs("bubblewrap")
def test_it_prints_the_outcome_of_each_case(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "m.py").write_text("def double(n):\n    return n + n\n")
    (project / "test_m.py").write_text(
        "import os\nfrom m import double\n\n\ndef test_two():\n    assert double(2) == 4\n\n\n"
        "def test_hidden():\n    assert open('.env').read()\n"
    )
    (project / ".env").write_text("KEY=1")
    program = tmp_path / "program.py"
    program.write_text(ALONE + PROGRAM)
    finished = subprocess.run(
        [sys.executable, str(program), str(project), "test_m.py"], capture_output=True, text=True, check=False
    )
    assert finished.stderr == ""
    first, *rows = finished.stdout.splitlines()
    assert re.fullmatch(r"\d+ sealed records", first)
    outcomes = [row.split()[:2] for row in rows if row.startswith(("passed ", "failed "))]
    assert outcomes == [["passed", "test_m.py::test_two"], ["failed", "test_m.py::test_hidden"]]
