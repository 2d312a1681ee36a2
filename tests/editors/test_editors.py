"""Real editors, the real server and sandbox, a scripted model: code action, diagnostics, edit, hover, undo."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = {
    "m.py": "def double(x):\n    return x + 1\n",
    "test_m.py": "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n",
}
NVIM = ["nvim", "--headless", "-u", "NONE", "-n", "-c", f"luafile {HERE / 'nvim.lua'}"]
EGLOT = ["emacs", "-q", "--batch", "-l", str(HERE / "eglot.el")]


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(
    "command",
    [pytest.param(NVIM, marks=pytest.mark.needs("nvim")), pytest.param(EGLOT, marks=pytest.mark.needs("emacs"))],
)
def test_action_edit_undo(command, tmp_path, bare_python):
    said = play(command, tmp_path, bare_python)
    assert "test_double" in said["offered"]
    assert "15" in said["red"]
    assert said["text"] == "def double(x):\n    return x * 2\n"
    assert "m.py:2 fixed, verified" in said["message"]
    assert "AssertionError" in said["hover"]
    assert said["undone"] == FILES["m.py"]
    assert said.get("answered", 0) < 5
    assert {name: (tmp_path / "w" / name).read_text() for name in FILES} == FILES


def play(command, tmp_path, python):
    root = tmp_path / "w"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    answers = [f"```python\ndef double(x):\n    return {value}\n```" for value in ("x * 3", "x * 2")]
    (tmp_path / "answers").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    settings = {
        "interpreter": str(python),
        "preset": "plain",
        "model": f"scripted:{tmp_path / 'answers'}",
        "sandbox": {"kind": "bubblewrap"},
    }
    environment = {
        **os.environ,
        "PYTHONPATH": str(HERE.parents[1] / "server"),
        "PLAY_ROOT": str(root),
        "PLAY_PYTHON": sys.executable,
        "PLAY_SETTINGS": json.dumps(settings),
        "PLAY_WANTED": "x * 2",
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    done = subprocess.run(
        command,
        env=environment,
        cwd=root,
        capture_output=True,
        text=True,
        timeout=110,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    said = {line["what"]: line["value"] for line in lines}
    assert "timeout" not in said, f"{said}\n{done.stderr[-2000:]}"
    assert done.returncode == 0, f"{said}\n{done.stderr[-2000:]}"
    return said
