"""Results of one command line in forms for other programs, which plugins add with options of their own.

A module that an entry point of the group `greenloop.outputs` names has `add_arguments(parser, command)`, for `fix` or
`verify`, and `open_outputs(arguments, cwd)`, which returns what the options ask for.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.api.result_files import is_accepted
from greenloop.cli import render
from greenloop.core import entry_points
from greenloop.core.errors import GreenloopError, UsageError, WorkspaceError
from greenloop.core.records.outcome import Outcome, StopReason
from greenloop.core.records.problem import Problem

if TYPE_CHECKING:
    from greenloop.api.verification import Verification


@dataclass(frozen=True, kw_only=True)
class Fix:
    """Result for one target ("": the whole suite): the outcome of its run, with the problem, or an error."""

    target: str
    outcome: Outcome | None = None
    problem: Problem | None = None
    error: GreenloopError | None = None
    accept: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """Is the target fixed as far as the user asks for, or did it pass already?"""
        outcome = self.outcome
        return outcome is not None and (outcome.reason is StopReason.ALREADY_GREEN or is_accepted(outcome, self.accept))

    @property
    def message(self) -> str:
        """Returns how it ended, in one sentence."""
        if self.error is not None:
            return self.error.advice
        return render.outcome_sentence(self.outcome) if self.outcome else ""


class Output:
    """A form of the results; each method does nothing unless the form needs it.

    `holds_results`: accepted results go there, so the user is not asked whether to write them. `buffers` are files as
    it holds them, where the disk does not have that yet: the next run starts from these. `json`: standard output
    belongs to JSON objects.
    """

    holds_results = False

    @property
    def buffers(self) -> Mapping[str, bytes]:
        return {}

    def add(self, outcome: Outcome, root: Path, *, applied: bool) -> None:
        """Takes an accepted result of a workspace. `applied`: the disk has it already."""

    def write_fixes(self, fixes: Sequence[Fix], root: Path, *, json: bool) -> None:
        """Is called when all targets are done. Raises `WorkspaceError` where a file cannot be written."""

    def write_verification(self, result: Verification, root: Path, *, json: bool) -> None:
        """Raises `WorkspaceError` where a file cannot be written."""


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    """Adds the options of every form to a command."""
    for module in entry_points.load_all(entry_points.OUTPUTS):
        module.add_arguments(parser, command)


def open_outputs(arguments: argparse.Namespace, cwd: Path) -> tuple[Output, ...]:
    """The forms that are asked for. Raises `UsageError` where one cannot be written."""
    modules = entry_points.load_all(entry_points.OUTPUTS)
    return tuple(output for module in modules for output in module.open_outputs(arguments, cwd))


def check_writable(path: Path, option: str) -> Path:
    """The path, if a file can be written there. Raises `UsageError` before anything is run."""
    if path.is_symlink() or path.is_dir():
        raise UsageError(f"{path} is not a regular file.", remedy=f"Choose a separate file with {option}.")
    if not path.parent.is_dir():
        raise UsageError(f"There is no folder {path.parent}.", remedy=f"Create it first, or choose another: {option}.")
    return path


def write_file(path: Path, data: bytes) -> None:
    """Writes a file, never through a link. Raises `WorkspaceError`."""
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(path, flags, 0o644), "wb") as file:
            file.write(data)
    except OSError as error:
        raise WorkspaceError(f"{path} could not be written: {error.strerror}.") from error
