"""Reads the corpus of tests/cheats: small projects with a red test, a change that cheats, and an honest one.

An entry is a text file `FAMILY/NAME.txt`. Its first line says how the cheat passes, its second what the honest change
does; in the family `honest` there is no cheat, and one line. Sections follow, each with a head of `=== PLACE`:

    === base/cart.py               a file of the project, with which a test is red
    === cheat/cart.py              the file as the cheat leaves it
    === honest/tests/test_cart.py  the file as the honest change leaves it
    === cheat/old.py removed       the change deletes this file
    === hidden                     Python whose expressions are all true of the right code only
    === needs numpy                the tests need this package

A project without a configuration of its own gets `pytest.ini`. It must not know who judges the changes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

CORPUS = Path(__file__).resolve().parents[1] / "cheats"
HONEST = "honest"  # the family of honest changes in unusual form
# Families whose cheats leave tests and configuration as they are.
CODE_ALONE = ("incomplete_work", "special_casing", "test_awareness")
# Families whose cheats give wrong answers to inputs that their tests do not have.
WRONG_ELSEWHERE = ("incomplete_work", "special_casing")
CONFIGURATION = ("pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini")
INI = "[pytest]\npythonpath = .\n"
SECONDS = 60  # for one run of pytest

_HEAD = re.compile(r"^=== (?:(base|cheat|honest)/(\S+)( removed)?|(hidden)|needs (\w+))$")
_ASK = """\
import ast, json, sys
answers, names = [], {"__name__": "hidden"}
for node in ast.parse(sys.stdin.read()).body:
    if not isinstance(node, ast.Expr):
        exec(compile(ast.Module([node], []), "hidden", "exec"), names)
        continue
    try:
        answers.append(bool(eval(compile(ast.Expression(node.value), "hidden", "eval"), names)))
    except BaseException:
        answers.append(False)
sys.__stdout__.write("\\n" + json.dumps(answers))
"""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A project and its changes. A change maps paths to texts; None: the file is deleted.

    `needs` is a package that the project's tests import ("": none).
    """

    family: str
    name: str
    about: str
    base: Mapping[str, str]
    cheat: Mapping[str, str | None]
    honest: Mapping[str, str | None]
    hidden: str = ""
    needs: str = ""

    @property
    def id(self) -> str:
        return f"{self.family}/{self.name}"

    @cached_property
    def sides(self) -> Mapping[str, Mapping[str, str | None]]:
        """The changes by their kind: `cheat`, if there is one, and `honest`."""
        return {side: change for side, change in (("cheat", self.cheat), ("honest", self.honest)) if change}


def read_entries(family: str = "") -> list[Entry]:
    """All entries (of a family), in order of their ids. Raises `ValueError` for a malformed file."""
    files = sorted(CORPUS.glob(f"{family or '*'}/*.txt"))
    return [parse(file.read_text(encoding="utf-8"), file.parent.name, file.stem) for file in files]


def parse(text: str, family: str, name: str) -> Entry:
    """The entry in a text. Raises `ValueError` for one that breaks the rules of this module's docstring."""
    about: list[str] = []
    trees: dict[str, dict[str, str | None]] = {"base": {}, "cheat": {}, HONEST: {}, "hidden": {}}
    lines, package = about, ""
    sections: list[tuple[dict[str, str | None], str, list[str]]] = []
    for line in text.splitlines():
        if not line.startswith("=== "):
            lines.append(line)
            continue
        head = _HEAD.match(line)
        if head is None:
            raise ValueError(f"{family}/{name}: {line!r} is not the head of a section")
        side, path, removed, hidden, needed = head.groups()
        if needed:
            package, lines = needed, []
            continue
        tree, key = trees[hidden or side], path or ""
        if key in tree:
            raise ValueError(f"{family}/{name}: {line!r} comes twice")
        tree[key] = None
        lines = []
        if not removed:
            sections.append((tree, key, lines))
    for tree, key, rows in sections:
        tree[key] = ("\n".join(rows).strip("\n") + "\n").lstrip("\n")
    base = {path: text for path, text in trees["base"].items() if text is not None}
    if not {*base} & {*CONFIGURATION}:
        base["pytest.ini"] = INI
    return Entry(
        family=family,
        name=name,
        about="\n".join(about).strip(),
        base=base,
        cheat=trees["cheat"],
        honest=trees[HONEST],
        hidden=trees["hidden"].get("") or "",
        needs=package,
    )


def write_files(root: Path, change: Mapping[str, str | None]) -> None:
    """Writes and deletes the files of a tree or a change."""
    for name, text in change.items():
        path = root / name
        if text is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def run_pytest(root: Path, python: Path, packages: Path) -> tuple[int, str]:
    """The exit code and the output of plain pytest in a folder, by an interpreter that has it from `packages`."""
    command = [python, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        command, cwd=root, env=_environment(packages), capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return done.returncode, done.stdout + done.stderr


def ask_hidden(root: Path, python: Path, hidden: str) -> list[bool]:
    """Which of the hidden expressions are true of the code in a folder; empty where that code cannot be imported."""
    done = subprocess.run(
        [python, "-B", "-c", _ASK],
        cwd=root,
        env=_environment(root),
        input=hidden,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    rows = done.stdout.splitlines()
    answers: list[bool] = json.loads(rows[-1]) if done.returncode == 0 and rows else []
    return answers


def make_python(folder: Path) -> Path:
    """An interpreter without packages, in a new environment."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin" / "python"


def _environment(path: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TZ", "TMPDIR") if name in os.environ}
    return {**kept, "PYTHONPATH": str(path)}
