"""`greenloop tests`: shows or edits the tests that are stored for a function with a docstring."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

from greenloop.api import target_adapters, targets
from greenloop.cli import exit_codes, options, render
from greenloop.cli.errors import print_warning
from greenloop.core.errors import UsageError
from greenloop.core.records.spec import Target, TargetKind
from greenloop.plugins.written_tests import stored_tests

SUMMARY = "show or edit the tests that were generated from a docstring"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help="file.py::function, file.py:LINE or notebook.ipynb::function")
    parser.add_argument(
        "--edit", action="store_true", help="edit them in $VISUAL or $EDITOR: delete a test to reject it, or correct it"
    )
    parser.add_argument("--root", metavar="FOLDER", help="the workspace (default: found from the current folder)")


def run(arguments: argparse.Namespace) -> int:
    root, typed = options.locate(arguments.root, arguments.target, cwd=Path.cwd())
    target, text, selector = _target(root, typed or "")
    if target.kind is not TargetKind.FUNCTION:
        raise UsageError(f"{selector} is one of your own tests.", remedy="Name a function: file.py::function.")
    region = target.region
    stored = stored_tests.load(root, region, text)
    for sentence in stored.messages:
        print_warning(render.escape_controls(sentence))
    if stored.file_text is None:
        print(f"No tests are stored for {target.qualname}.", file=sys.stderr)
        print(f"`greenloop fix {shlex.quote(selector)}` generates them from its docstring.", file=sys.stderr)
        return exit_codes.NOT_SOLVED
    if not arguments.edit:
        print(render.escape_controls(stored.file_text), end="")
        for source in stored.struck.values():
            print(render.escape_controls(f"# rejected: {source}"))
    else:
        _edit(stored.path)
        stored = stored_tests.load(root, region, text)
        for sentence in stored.messages:
            print_warning(render.escape_controls(sentence))
    print(render.escape_controls(str(stored.path)), file=sys.stderr)
    return exit_codes.VERIFIED if stored.readable else exit_codes.USAGE


def _target(root: Path, typed: str) -> tuple[Target, str, str]:
    """The target, the text of its file, and its name for people. Raises `UsageError`."""
    file, rest = options.split_target(typed)
    if (adapter := target_adapters.find_adapter(file)) is not None:
        adapted = adapter.adapt(root, file, rest)
        target, text = adapted.locate()
        return target, text, adapted.label(target.selector)
    parsed = targets.parse_target(typed, root, python_files=targets.read_conventions(root)[0])
    return parsed.target, parsed.text, parsed.target.selector


def _edit(path: Path) -> None:
    """Opens the user's editor and waits. Raises `UsageError` where there is none."""
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    if not words:
        raise UsageError("No editor is set in VISUAL or EDITOR.", remedy=f"Set one, or open {path}.")
    try:
        subprocess.run([*words, str(path)], check=False)
    except OSError as error:
        raise UsageError(
            f"The editor '{words[0]}' cannot be started ({error.strerror}).", remedy=f"Set EDITOR, or open {path}."
        ) from error
