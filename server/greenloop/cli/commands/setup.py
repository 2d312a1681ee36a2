"""`greenloop setup EDITOR`: prints connect an editor, or writes them after a diff."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import sys
import tempfile
from pathlib import Path

from greenloop.cli import exit_codes, render
from greenloop.cli.agents import AGENTS
from greenloop.cli.editors import EDITORS, Editor, command, installed_editors
from greenloop.cli.screen import View
from greenloop.core.errors import UsageError, WorkspaceError
from greenloop.core.text.diff import unified_diff

ALL = {**EDITORS, **AGENTS}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("editor", nargs="?", metavar="EDITOR", help=", ".join(ALL))
    parser.add_argument("--write", action="store_true", help="write the lines, after showing the change")
    parser.add_argument("--yes", action="store_true", help="with --write: do not ask")


def run(arguments: argparse.Namespace) -> int:
    if arguments.editor is None:
        installed = installed_editors()
        print(
            "Editors on this machine: "
            + (", ".join(editor.name for editor in installed) or "none that greenloop supports")
        )
        print(f"`greenloop setup EDITOR` prints the lines for one of: {', '.join(EDITORS)}")
        print(f"For coding agents: {', '.join(AGENTS)}")
        print("An editor that speaks the Agent Client Protocol starts `greenloop acp`.")
        return exit_codes.VERIFIED
    editor = ALL.get(arguments.editor.lower())
    if editor is None:
        closest = difflib.get_close_matches(arguments.editor.lower(), ALL, n=1, cutoff=0.4)
        hint = f"Did you mean {closest[0]}?" if closest else f"There are: {', '.join(ALL)}."
        raise UsageError(f"Unknown editor '{arguments.editor}'.", remedy=hint)
    if arguments.write:
        return write(editor, yes=arguments.yes)
    print_snippet(editor)
    return exit_codes.VERIFIED


def _command(editor: Editor) -> list[str]:
    return command("mcp" if editor.name in AGENTS else "serve")


def print_snippet(editor: Editor) -> None:
    """Prints the lines on standard output and all remarks on stderr, so that the lines can be piped."""
    if editor.config_file is not None:
        print_stderr(f"{editor.name}: these lines go into {editor.config_file()} (or run it with --write):")
    elif not editor.is_tested:
        print_stderr(f"{editor.name}: untested, based on its documentation:")
    sys.stderr.flush()
    print(editor.snippet(_command(editor)), end="")
    sys.stdout.flush()
    if editor.next_step:
        print_stderr(editor.next_step)


def write(editor: Editor, *, yes: bool) -> int:
    """Shows the change, asks, writes. Raises `UsageError` if that is unsafe, `WorkspaceError` for disk errors."""
    if editor.config_file is None:
        print_snippet(editor)
        raise UsageError(f"There is no file of {editor.name} that greenloop can write.", remedy="See the text above.")
    # A configuration file is often a link into a dotfiles repository: the link stays.
    path = Path(os.path.realpath(editor.config_file()))
    try:
        present = path.read_bytes().decode("utf-8") if path.exists() else None
        lines = editor.snippet(_command(editor))
        after = editor.merge(present, lines) if editor.merge else lines
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8.", remedy="Add the lines by hand.") from error
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be read ({error.strerror}).") from error
    if after == present:
        print(f"{path} already has the lines.")
        return exit_codes.VERIFIED
    print(render.escape_controls(unified_diff(present, after, path.as_posix().lstrip("/"))), end="")
    if not yes and not View.can_ask():
        raise UsageError("There is no terminal to ask for confirmation.", remedy="Add --yes.")
    if not yes and not View.ask_yes_no(f"write {path}?"):
        return exit_codes.NOT_SOLVED
    _replace(path, after, present)
    print(f"Written: {path}")
    if editor.next_step:
        print_stderr(editor.next_step)
    return exit_codes.VERIFIED


def print_stderr(text: str) -> None:
    print(text, file=sys.stderr)


def _replace(path: Path, text: str, present: str | None) -> None:
    """Replaces the file atomically and keeps its mode; the previous file is kept as `NAME.before-greenloop`."""
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if present is not None:
            Path(temporary).chmod(path.stat().st_mode & 0o7777)
            backup = path.with_name(path.name + ".before-greenloop")
            if not backup.exists():
                backup.write_bytes(present.encode("utf-8"))
        else:
            Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise WorkspaceError(
            f"{path} cannot be written ({error.strerror}).", remedy="Add the lines by hand."
        ) from error
