"""Runs a type checker over the project, as a test in the sandbox: Python 3.9, standard library and pytest alone.

`checked.py` writes the values below into the copy that runs. It must not import the code that is checked.
"""

from __future__ import annotations

import collections
import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKER = "mypy"
PATHS = ["."]
KNOWN: list[str] = []  # texts of errors that may stay, once for each time
PART = 8  # errors in one message

_ERROR = re.compile(r"(?P<path>[^\n]+?):(?P<line>\d+):(?:\d+:)? error: (?P<text>.*)")


class TypeCheckerFailed(Exception):
    pass


@functools.cache
def find_errors() -> list[tuple[str, int, str]]:
    """The errors as (path, line, text)."""
    cache = [] if Path(".mypy_cache").is_dir() else ["--cache-dir=" + os.devnull]
    arguments = {
        "mypy": ["--no-error-summary", "--no-pretty", "--no-color-output", "--hide-error-context", *cache],
        "pyright": ["--outputjson"],
        "ruff": ["check", "--output-format=json", "--force-exclude", "--no-cache"],
    }[CHECKER.replace("basedpyright", "pyright")]
    done = subprocess.run(
        [sys.executable, "-m", CHECKER, *arguments, *PATHS], capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        rows = f"{done.stdout}\n{done.stderr}".strip().splitlines() or ["it says nothing"]
        reason = next((row for row in rows if re.search(r"(?i)\berror[: ]", row)), rows[-1])
        raise TypeCheckerFailed(f"{CHECKER} ended with status {done.returncode}: {reason[:300]}")
    found = {"mypy": _of_mypy, "ruff": _of_ruff}.get(CHECKER, _of_pyright)(done.stdout)
    return [each for each in found if each[0] != Path(__file__).name]


def _of_mypy(output: str) -> list[tuple[str, int, str]]:
    found = [_ERROR.fullmatch(row) for row in output.splitlines()]
    return [(os.path.relpath(each["path"]), int(each["line"]), each["text"]) for each in found if each]


def _of_ruff(output: str) -> list[tuple[str, int, str]]:
    rows = json.loads(output)
    return [
        (os.path.relpath(row["filename"]), row["location"]["row"], f"{row['code']} {row['message']}") for row in rows
    ]


def _of_pyright(output: str) -> list[tuple[str, int, str]]:
    try:
        rows = json.loads(output)["generalDiagnostics"]
    except (ValueError, KeyError):
        raise TypeCheckerFailed(f"{CHECKER} gave no report: {output.strip()[:300]}") from None
    return [
        (
            os.path.relpath(row["file"]),
            row["range"]["start"]["line"] + 1,
            f"{row['message']} [{row.get('rule', 'error')}]".replace("\n", " "),
        )
        for row in rows
        if row["severity"] == "error"
    ]


def test_types() -> None:
    """No type error but those that may stay."""
    left, new = collections.Counter(KNOWN), list[str]()
    for path, line, text in find_errors():
        left[path + ": " + text] -= 1
        if left[path + ": " + text] < 0:
            new.append(f"{path}:{line}: {text}")
    if new:
        raise AssertionError("\n".join([f"{CHECKER} reports:", *new]))


@pytest.mark.parametrize("part", range(40))
def list_errors(part: int) -> None:
    """Fails with a part of the errors, as JSON."""
    if part_of := find_errors()[part * PART : (part + 1) * PART]:
        raise AssertionError(json.dumps([[path, line, text[:180]] for path, line, text in part_of]))
