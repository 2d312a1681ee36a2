#!/usr/bin/env python3
"""Makes tasks of slow functions for `greenloop bench TASKS --goal time`.

Run: PYTHONPATH=server python benchmarks/improve.py KIND TASKS

The functions are those of improve.toml, in a project of their own each. The solution of a task, with which
`--model oracle` answers, is by KIND:

better  a faster version that is right
wrong   a faster version that passes the shown test, and does something else elsewhere
same    the slow version itself, with a statement more that does nothing: measures noise
"""

from __future__ import annotations

import argparse
import textwrap
import tomllib
from pathlib import Path
from typing import Any

from greenloop.bench import hidden_tests, tasks
from greenloop.bench.tasks import Task

FUNCTIONS = Path(__file__).with_suffix(".toml")
KINDS = ("better", "wrong", "same")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("out", type=Path, metavar="TASKS")
    arguments = parser.parse_args()
    functions = tomllib.loads(FUNCTIONS.read_text(encoding="utf-8"))["task"]
    tasks.write([make_task(each, arguments.kind) for each in functions], arguments.out)


def make_task(function: dict[str, Any], kind: str) -> Task:
    """The task of a function of improve.toml; its hidden calls are compared with the slow version."""
    name, slow = function["name"], function["slow"]
    test = f"from m import {name}\n\n\ndef test_{name}():\n{textwrap.indent(function['test'], '    ')}"
    shown = f"test_m.py::test_{name}"
    hidden = [f"{hidden_tests.TESTS}::test_{number}" for number, _call in enumerate(function["hidden"], 1)]
    return Task(
        id=name,
        kind=kind,
        target=f"m.py::{name}",
        files={"m.py": slow, "test_m.py": test},
        cases=[shown, *hidden],
        shown=[shown],
        judge=hidden_tests.comparing_files(slow, "m", function["hidden"]),
        solution={"m.py": slow.replace("\n    ", "\n    unused = 0\n    ", 1) if kind == "same" else function[kind]},
        origin="benchmarks/improve.toml",
        function=f"m.py::{name}",
    )


if __name__ == "__main__":
    main()
