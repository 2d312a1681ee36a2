"""What can be in the way of a first run: each obstacle as a project, a command line, and what greenloop prints.

`scripts/obstacles_doc.py` writes the table of docs/troubleshooting.md with it; tests/sandbox/test_obstacles.py runs it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import greenloop
from project_files import write_files

CODE = "def double(x):\n    return x + 1\n"
TEST = "from m import double\n\n\ndef test_double():\n    assert double(5) == 10\n\n\ndef test_one():\n    assert double(1) == 2\n"
PROJECT = {"m.py": CODE, "test_m.py": TEST}
NO_PROXY = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
# Shell lines that take something from the command after them, and from nothing else.
WITHOUT_NAMESPACES = ("unshare", "-U", "-r", "sh", "-c", 'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"', "sh")
OFFLINE = ("unshare", "-U", "-r", "-n")
READ_ONLY_HOME = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o ro none "$HOME" && exec "$@"', "sh")


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """`python`: the version of the project's environment, which has no pytest; `solved`: nothing is in the way."""

    about: str
    words: str = "greenloop fix"
    files: Mapping[str, str] = field(default_factory=lambda: PROJECT)
    environ: Mapping[str, str] = field(default_factory=dict)
    launcher: Sequence[str] = ()
    python: str = ""
    folder: str = "."
    solved: bool = False


OBSTACLES = {
    "no pytest": Obstacle(
        about="the project's environment has no pytest", words="greenloop fix test_m.py::test_double", python="3", solved=True
    ),
    "python 3.9": Obstacle(about="the same, with Python 3.9", python="3.9"),
    "python 3.8": Obstacle(about="the project has Python 3.8", python="3.8"),
    "no test": Obstacle(about="a test file that pytest does not look into", files={"m.py": CODE, "checks.py": TEST}),
    "a test of no test file": Obstacle(
        about="a test of such a file, by its name",
        words="greenloop fix checks.py::test_double --preset plain",
        files={"m.py": CODE, "checks.py": TEST},
    ),
    "empty": Obstacle(about="an empty folder", files={}),
    "conftest": Obstacle(about="an error in conftest.py", files={**PROJECT, "conftest.py": "def broken(:\n"}),
    "missing package": Obstacle(
        about="a package that is not installed", files={**PROJECT, "conftest.py": "import nothing_here\n"}
    ),
    "syntax error": Obstacle(
        about="a syntax error outside the functions of a file", files={**PROJECT, "m.py": CODE + "x = = 1\n"}
    ),
    "green": Obstacle(about="a test that passes already", words="greenloop fix test_m.py::test_one", solved=True),
    "misspelt": Obstacle(about="a test that does not exist", words="greenloop fix test_m.py::test_doubel"),
    "no model": Obstacle(about="no model, and no terminal to ask in"),
    "no sandbox": Obstacle(
        about="neither bubblewrap nor Docker can be used",
        launcher=WITHOUT_NAMESPACES,
        environ={"DOCKER_HOST": "unix:///run/no-docker.sock"},
    ),
    "proxy": Obstacle(
        about="a proxy that refuses", words="greenloop model pull", environ={"HTTPS_PROXY": "http://127.0.0.1:9"}
    ),
    "offline": Obstacle(about="no network", words="greenloop model pull", launcher=OFFLINE),
    "read-only home": Obstacle(
        about="a home that cannot be written", words="greenloop model pull", launcher=READ_ONLY_HOME
    ),
    "no history": Obstacle(
        about="a run in such a home", words="greenloop history", launcher=READ_ONLY_HOME, solved=True
    ),
    "no repository": Obstacle(about="not a git repository, where one is needed", words="greenloop fix --since HEAD"),
    "windows path": Obstacle(
        about="a path of Windows", words=r"greenloop fix '.\test_m.py::test_double'", solved=True
    ),
    "subfolder": Obstacle(
        about="run in a subfolder",
        files={**PROJECT, "pyproject.toml": "", "docs/a.txt": ""},
        folder="docs",
        words="greenloop fix test_m.py::test_double",
        solved=True,
    ),
}  # fmt: skip


def find_python(version: str) -> str | None:
    """An interpreter of that version on this machine."""
    if version == "3":
        return sys.executable
    kept = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    named = [*map(str, kept), *filter(None, [shutil.which(f"python{version}")])]
    runs = (
        name for name in named if subprocess.run([name, "-c", ""], capture_output=True, check=False).returncode == 0
    )
    return next(runs, None)


def missing_part(obstacle: Obstacle) -> str:
    """What this machine lacks for showing the obstacle; empty: nothing."""
    if obstacle.python and find_python(obstacle.python) is None:
        return f"there is no Python {obstacle.python}"
    if obstacle.launcher == READ_ONLY_HOME and os.getuid() != 0:
        return "only root can mount a home"
    program = obstacle.launcher[:3] if obstacle.launcher and obstacle.launcher != READ_ONLY_HOME else ()
    if program and subprocess.run([*program, "true"], capture_output=True, check=False).returncode != 0:
        return "user namespaces are not allowed here"
    return ""


def run_obstacle(obstacle: Obstacle, folder: Path) -> tuple[int, str]:
    """Runs it in new folders below `folder`; returns the exit code and the last sentence, with its remedy."""
    root, home = folder / "project", folder / "home"
    home.mkdir(parents=True)
    write_files(root, obstacle.files)
    root.mkdir(exist_ok=True)
    if obstacle.python:
        python = find_python(obstacle.python)
        subprocess.run([python, "-m", "venv", "--without-pip", root / ".venv"], check=True, capture_output=True)
    answers = folder / "answers.jsonl"
    answers.write_text(json.dumps(f"```python\n{CODE.replace('+ 1', '* 2')}```") + "\n", encoding="utf-8")
    words = shlex.split(obstacle.words)[1:]
    if obstacle.solved and words[0] == "fix":
        words += ["--preset", "plain", "--model", f"scripted:{answers}"]
    done = subprocess.run(
        [*obstacle.launcher, sys.executable, "-m", "greenloop", *words],
        cwd=root / obstacle.folder,
        env=_environment(home) | dict(obstacle.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, _last_sentence(done, folder)


def _environment(home: Path) -> dict[str, str]:
    """Nothing is set, but for what this test's own installation needs."""
    kept = ("PATH", "SSL_CERT_FILE", "PIP_CERT")
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(Path(greenloop.__file__).parents[1]),
    }


def _last_sentence(done: subprocess.CompletedProcess[str], folder: Path) -> str:
    error = done.stderr.rpartition("greenloop: ")[2] if "greenloop: " in done.stderr else ""
    text = " ".join((error or done.stdout.strip().rpartition("\n\n")[2]).split())
    text = text.partition(" Note: ")[0]  # what the tests leave open is not about the obstacle
    text = text.replace(str(folder / "project"), "~/project").replace(str(folder / "home"), "~")
    text = re.sub(r"/\S*/bin/python[\d.]*", lambda path: "python3" if ".venv" not in path[0] else path[0], text)
    return text.replace(str(folder), "~")


def make_table(sentences: Mapping[str, str]) -> str:
    """The table of the page."""
    rows = [
        f"| {OBSTACLES[name].about} | `{OBSTACLES[name].words}` | {sentence.replace('|', chr(92) + '|')} |"
        for name, sentence in sentences.items()
    ]
    return "\n".join(["| in the way | typed | printed |", "|---|---|---|", *rows])


HEAD = textwrap.dedent("""\
    # Troubleshooting

    `greenloop` without a command checks the machine and says what is missing.
    What can be in the way of a first run, and what greenloop prints then; [messages](messages.md) has every other text.
    Each line was printed by greenloop (`scripts/obstacles_doc.py`), and `tests/sandbox/test_obstacles.py` compares.

    """)
