"""`greenloop setup EDITOR`: prints the lines that connect an editor, or puts them in place after a look at the diff."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import sys
import tempfile
from pathlib import Path

from greenloop.cli import codes, show
from greenloop.cli.editors import EDITORS, Editor, command, found
from greenloop.cli.view import View
from greenloop.core.diff import unified
from greenloop.core.errors import UsageProblem, WorkspaceProblem


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("editor", nargs="?", metavar="EDITOR", help=", ".join(EDITORS))
    parser.add_argument("--write", action="store_true", help="put the lines in place after showing the change")
    parser.add_argument("--yes", action="store_true", help="with --write: do not ask")


def run(arguments: argparse.Namespace) -> int:
    if arguments.editor is None:
        here = found()
        print("Editors on this machine: " + (", ".join(editor.name for editor in here) or "none that greenloop knows"))
        print(f"greenloop setup EDITOR prints the lines for one of: {', '.join(EDITORS)}")
        return codes.VERIFIED
    editor = EDITORS.get(arguments.editor.lower())
    if editor is None:
        near = difflib.get_close_matches(arguments.editor.lower(), EDITORS, n=1, cutoff=0.4)
        hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(EDITORS)}."
        raise UsageProblem(f"There is no editor '{arguments.editor}' here.", remedy=hint)
    if arguments.write:
        return write(editor, yes=arguments.yes)
    print_snippet(editor)
    return codes.VERIFIED


def print_snippet(editor: Editor) -> None:
    """The lines on standard output, everything about them on stderr, so that they can be piped."""
    if editor.file is not None:
        told(f"{editor.name}: these lines go into {editor.file()} (`greenloop setup {editor.name} --write` does it):")
    elif not editor.ran:
        told(f"{editor.name}: written from its documentation, never run:")
    sys.stderr.flush()
    print(editor.snippet(command()), end="")
    sys.stdout.flush()
    if editor.after:
        told(editor.after)


def write(editor: Editor, *, yes: bool) -> int:
    """Shows the change, asks, writes. Raises `UsageProblem` where that is not safe, `WorkspaceProblem` by the disk."""
    if editor.file is None or editor.merged is None:
        print_snippet(editor)
        raise UsageProblem(f"There is no file of {editor.name} that greenloop can write.", remedy="See the text above.")
    # A configuration is often a link into a repository of its own: the link stays.
    path = Path(os.path.realpath(editor.file()))
    try:
        present = path.read_bytes().decode("utf-8") if path.exists() else None
        after = editor.merged(present, command())
    except UnicodeDecodeError as error:
        raise UsageProblem(f"{path} is not UTF-8.", remedy="Put the lines in by hand.") from error
    except OSError as error:
        raise WorkspaceProblem(f"{path} cannot be read ({error.strerror}).") from error
    if after == present:
        print(f"{path} holds the lines already.")
        return codes.VERIFIED
    print(show.clean(unified(present, after, path.as_posix().lstrip("/"))), end="")
    if not yes and not View.can_ask():
        raise UsageProblem("Nobody is there to say yes.", remedy="Add --yes.")
    if not yes and not View.ask(f"write {path}?"):
        return codes.NOT_SOLVED
    _replace(path, after, present)
    print(f"written: {path}")
    if editor.after:
        told(editor.after)
    return codes.VERIFIED


def told(text: str) -> None:
    print(text, file=sys.stderr)


def _replace(path: Path, text: str, present: str | None) -> None:
    """Beside it first, then in its place, its mode kept; what was there stays as `NAME.before-greenloop`."""
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
            kept = path.with_name(path.name + ".before-greenloop")
            if not kept.exists():
                kept.write_bytes(present.encode("utf-8"))
        else:
            Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise WorkspaceProblem(
            f"{path} cannot be written ({error.strerror}).", remedy="Put the lines in by hand."
        ) from error
