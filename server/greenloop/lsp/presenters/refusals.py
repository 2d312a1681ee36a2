"""Shows why a run could not begin: a diagnostic at the target's name with the reason and its remedy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.errors import GreenloopError
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.convert import line_range
from greenloop.lsp.documents import locations
from greenloop.lsp.presenters.notifications import sentence
from greenloop.lsp.runs.apply_edit import text_of

if TYPE_CHECKING:
    from greenloop.lsp.runs.runs import Run
    from greenloop.lsp.server import Server


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Owner of the diagnostics of requests that never became a run."""

    path: Path


def of(run: Run) -> tuple[str, str] | None:
    """The code and message of a run's refusal; None where it is in progress or began its attempts."""
    if run.running or run.started is not None:
        return None
    if run.refused:
        return run.refusal, run.refused
    if run.outcome is not None:
        return run.outcome.reason.value, sentence(run, run.outcome, None)
    return None


def diagnostic(where: lsp.Range, word: str, message: str) -> lsp.Diagnostic:
    severity = lsp.DiagnosticSeverity.Information
    return lsp.Diagnostic(
        range=where, message=clean_for_display(message), severity=severity, source="greenloop", code=word
    )


def show(server: Server, uri: str, row: int, error: GreenloopError) -> None:
    """Shows why a request for a row (0-based) of a document was refused; replaces the file's earlier refusal."""
    located = server.documents.file_of(uri)
    text = text_of(server, located[0]) if located else None
    if located is None or text is None:
        return
    file, lines_before = located
    project_file = locations.Place(root=file.parent, path=file.name, text=text, first=lines_before)
    target = locations.target_at(project_file, project_file.line(row))
    line = target.name_line if target else project_file.line(row)
    span = line_range(line, text, server.documents.position_codec)
    server.board.put(Refused(path=file), {file: [diagnostic(span, error.kind, error.advice)]})


def clear(server: Server, uri: str | None) -> None:
    """Removes the refused requests shown in a document; without one, in all documents."""
    located = server.documents.file_of(uri) if uri is not None else None
    if uri is None or located is not None:
        server.board.drop(lambda owner: isinstance(owner, Refused) and (located is None or owner.path == located[0]))
