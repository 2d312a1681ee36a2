"""`greenloop tests`: the tests that are kept for a function with a docstring, to look at and to edit."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

from greenloop import docket, goals, notebook, sources, targets
from greenloop.cli import codes, show, where
from greenloop.cli.problems import warn
from greenloop.core.errors import UsageProblem
from greenloop.core.nouns import Target, TargetKind


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help="file.py::function, file.py:LINE or notebook.ipynb::function")
    parser.add_argument(
        "--edit", action="store_true", help="open them in $VISUAL or $EDITOR: delete one to strike it out, correct one"
    )
    parser.add_argument("--root", metavar="FOLDER", help="the workspace (default: found from the current folder)")


def run(arguments: argparse.Namespace) -> int:
    root, typed = where.locate(arguments.root, arguments.target, cwd=Path.cwd())
    target, text, selector = _target(root, typed or "")
    if target.kind is not TargetKind.FUNCTION:
        raise UsageProblem(f"{selector} is a test of your own.", remedy="Name a function: file.py::function.")
    region = targets.region_for(target, text)
    known = docket.load(root, region, text)
    for sentence in known.said:
        warn(show.clean(sentence))
    if known.seen is None:
        print(f"No tests of {target.qualname} are kept.", file=sys.stderr)
        print(f"`greenloop fix {shlex.quote(selector)}` makes them from its docstring.", file=sys.stderr)
        return codes.NOT_SOLVED
    if not arguments.edit:
        print(show.clean(known.seen), end="")
        for source in known.struck.values():
            print(show.clean(f"# struck out: {source}"))
    else:
        _edit(known.path)
        known = docket.load(root, region, text)
        for sentence in known.said:
            warn(show.clean(sentence))
    print(show.clean(str(known.path)), file=sys.stderr)
    return codes.VERIFIED if known.readable else codes.USAGE


def _target(root: Path, typed: str) -> tuple[Target, str, str]:
    """The target, the text of its file, and how people name it. Raises `UsageProblem`."""
    file, rest = where.split(typed)
    if file.endswith(".ipynb"):
        book, _text = notebook.load(root, file)
        asked = notebook.prepare(book, goals.typed(book, rest))
        return asked.target, asked.composed.module, asked.named(asked.target.selector)
    parsed = targets.parse_target(typed, root, python_files=sources.file_patterns(root))
    return parsed.target, parsed.text, parsed.target.selector


def _edit(path: Path) -> None:
    """Waits for the user's editor. Raises `UsageProblem` where there is none."""
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    if not words:
        raise UsageProblem("Neither VISUAL nor EDITOR names an editor.", remedy=f"Set one, or open {path}.")
    try:
        subprocess.run([*words, str(path)], check=False)
    except OSError as error:
        raise UsageProblem(
            f"The editor '{words[0]}' cannot be started ({error.strerror}).", remedy=f"Set EDITOR, or open {path}."
        ) from error
