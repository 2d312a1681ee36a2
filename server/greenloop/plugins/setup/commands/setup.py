"""`greenloop setup EDITOR`: prints the lines that connect an editor, or writes them into a new file."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from greenloop.cli import exit_codes, render
from greenloop.cli.screen import View
from greenloop.core.errors import UsageError, WorkspaceError
from greenloop.core.text.diff import unified_diff
from greenloop.core.text.similar import closest
from greenloop.plugins.setup.editors import AGENTS, EDITORS, GATES, EditorSetup, command, installed_editors

SUMMARY = "connect an editor or a coding agent"
ALL = {**EDITORS, **AGENTS}
ONE_MACHINE = "The lines name a path of this machine: to share the file, first put greenloop on everybody's PATH."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("editor", nargs="?", metavar="EDITOR", help=", ".join(ALL))
    parser.add_argument(
        "--gate", action="store_true", help=f"the stop hook that verifies what an agent did: {', '.join(GATES)}"
    )
    parser.add_argument("--write", action="store_true", help="write the lines into a new file, after showing it")
    parser.add_argument("--yes", action="store_true", help="with --write: do not ask")


def run(arguments: argparse.Namespace) -> int:
    if arguments.editor is None:
        installed = installed_editors()
        names = ", ".join(editor.name for editor in installed)
        print(f"Editors on this machine: {names or 'none that greenloop supports'}")
        print(f"`greenloop setup EDITOR` prints the lines for one of: {', '.join(EDITORS)}")
        print(f"For coding agents: {', '.join(AGENTS)}")
        print("An editor that speaks the Agent Client Protocol starts `greenloop acp`.")
        return exit_codes.VERIFIED
    known = GATES if arguments.gate else ALL
    editor = known.get(arguments.editor.lower())
    if editor is None:
        near = closest(arguments.editor.lower(), known)
        hint = f"Did you mean {near}?" if near else f"There are: {', '.join(known)}."
        raise UsageError(f"Unknown editor '{arguments.editor}'.", remedy=hint)
    if arguments.write:
        return write(editor, yes=arguments.yes)
    print_snippet(editor)
    return exit_codes.VERIFIED


def print_snippet(editor: EditorSetup) -> None:
    """Prints the lines on standard output and all remarks on stderr, so that the lines can be piped."""
    if (path := editor.config_file()) is not None:
        print(f"{editor.name}: these lines go into {path} (or run it with --write):", file=sys.stderr)
    elif not editor.tested:
        print(f"{editor.name}: untested, based on its documentation:", file=sys.stderr)
    sys.stderr.flush()
    print(editor.snippet(command(editor.verb)), end="", flush=True)
    print_remarks(editor, path)


def print_remarks(editor: EditorSetup, path: Path | None) -> None:
    """Prints on stderr what to do next, and whether the lines hold for this machine alone."""
    if editor.next_step:
        print(editor.next_step, file=sys.stderr)
    if path and path.is_relative_to(Path.cwd()) and os.path.isabs(command(editor.verb)[0]):  # noqa: PTH117 - a word
        print(ONE_MACHINE, file=sys.stderr)


def write(editor: EditorSetup, *, yes: bool) -> int:
    """Shows the new file, asks, writes it; a file that exists is never changed."""
    path, lines = editor.config_file(), editor.snippet(command(editor.verb))
    if path is None:
        print_snippet(editor)
        raise UsageError(f"There is no file of {editor.name} that greenloop can write.", remedy="See the text above.")
    try:
        if os.path.lexists(path):
            if lines.encode() in path.read_bytes():
                print(f"{path} already has the lines.")
                return exit_codes.VERIFIED
            print_snippet(editor)
            raise UsageError(f"{path} exists, and --write only makes new files.", remedy="Add the lines by hand.")
        print(render.escape_controls(unified_diff(None, lines, path.as_posix().lstrip("/"))), end="")
        if not yes and not View.can_ask():
            raise UsageError("There is no terminal to ask for confirmation.", remedy="Add --yes.")
        if not yes and not View.ask_yes_no(f"write {path}?"):
            return exit_codes.NOT_SOLVED
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(lines)
    except OSError as error:
        raise WorkspaceError(
            f"{path} cannot be written ({error.strerror}).", remedy="Add the lines by hand."
        ) from error
    print(f"Written: {path}")
    print_remarks(editor, path)
    return exit_codes.VERIFIED
