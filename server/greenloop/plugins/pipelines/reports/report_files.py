"""The reports that a command line asks for: `--report KIND` or `--report KIND=FILE`, and how they are written."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.cli.outputs import Fix, Output, check_writable, write_file
from greenloop.core.errors import UsageError
from greenloop.plugins.pipelines.reports import github, junit, sarif
from greenloop.plugins.pipelines.reports.annotations import Annotation
from greenloop.plugins.pipelines.reports.of_fixes import annotate_fix
from greenloop.plugins.pipelines.reports.of_verification import annotate_verification

if TYPE_CHECKING:
    from greenloop.api.verification import Verification


class ReportKind(StrEnum):
    JUNIT = "junit"
    SARIF = "sarif"
    GITHUB = "github"


@dataclass(frozen=True, kw_only=True)
class ReportFile:
    """A report to write: to a file, or (`path` None) to the terminal."""

    kind: ReportKind
    path: Path | None = None


def read_reports(words: Sequence[str], cwd: Path) -> tuple[ReportFile, ...]:
    """The reports of these words. Raises `UsageError` for an unknown kind or a file that cannot be written."""
    return tuple(_read_report(word, cwd) for word in words)


def _read_report(word: str, cwd: Path) -> ReportFile:
    name, _equals, file = word.partition("=")
    if name not in {kind.value for kind in ReportKind} or bool(file) is (name == ReportKind.GITHUB):
        raise UsageError(f"--report does not know '{word}'.", remedy="Use junit=FILE, sarif=FILE or github.")
    return ReportFile(kind=ReportKind(name), path=check_writable(cwd / file, f"--report {name}=FILE") if file else None)


@dataclass(frozen=True, kw_only=True)
class Reports(Output):
    """The reports of one command line."""

    reports: Sequence[ReportFile]

    def write_verification(self, result: Verification, root: Path, *, json: bool) -> None:
        properties = {"state": result.state.value, "reason": result.reason, "base": result.base}
        annotations = annotate_verification(result, root)
        _write(self.reports, junit.document(result), annotations, root, "verify", properties, json=json)

    def write_fixes(self, fixes: Sequence[Fix], root: Path, *, json: bool) -> None:
        properties = {"targets": str(len(fixes)), "fixed": str(sum(fix.passes for fix in fixes))}
        annotations = [each for fix in fixes for each in annotate_fix(fix, root)]
        _write(self.reports, junit.fixes_document(fixes), annotations, root, "fix", properties, json=json)


def _write(
    reports: Sequence[ReportFile],
    document: bytes,
    annotations: Sequence[Annotation],
    root: Path,
    command: str,
    properties: dict[str, str],
    *,
    json: bool,
) -> None:
    prefix = repository_prefix(root)
    for report in reports:
        if report.path is None:
            # A workflow reads commands from either stream.
            for line in github.command_lines(annotations, prefix):
                print(line, file=sys.stderr if json else sys.stdout)
        elif report.kind is ReportKind.JUNIT:
            write_file(report.path, document)
        else:
            write_file(report.path, sarif.document(annotations, command=command, properties=properties, prefix=prefix))


def repository_prefix(root: Path) -> str:
    """The path of the workspace in its repository, with a slash at the end; empty if it is the repository's root."""
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
    return "" if top == root else f"{root.relative_to(top).as_posix()}/"
