"""Why a run could not be made, at the name of what it was for: one information with the reason and its cure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.errors import GreenloopError
from greenloop.core.redact import clean
from greenloop.lsp import places
from greenloop.lsp.convert import line_range
from greenloop.lsp.edits import text_of
from greenloop.lsp.presenters.status import sentence

if TYPE_CHECKING:
    from greenloop.lsp.runs import Run
    from greenloop.lsp.server import Server


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Owns what a file shows of requests that never became a run."""

    path: Path


def of(run: Run) -> tuple[str, str] | None:
    """The word for a run's refusal and its sentences; None where it was made, or is under way."""
    if run.running or run.started is not None:
        return None
    if run.refused:
        return run.refusal, run.refused
    if run.outcome is not None:
        return run.outcome.reason.value, sentence(run, run.outcome, None)
    return None


def diagnostic(where: lsp.Range, word: str, message: str) -> lsp.Diagnostic:
    severity = lsp.DiagnosticSeverity.Information
    return lsp.Diagnostic(range=where, message=clean(message), severity=severity, source="greenloop", code=word)


def show(server: Server, uri: str, row: int, error: GreenloopError) -> None:
    """A request about a row (0-based) of a document could not even begin; replaces what the file said of another."""
    found = server.documents.file_of(uri)
    text = text_of(server, found[0]) if found else None
    if found is None or text is None:
        return
    file, first = found
    place = places.Place(root=file.parent, path=file.name, text=text, first=first)
    target = places.target_at(place, place.line(row))
    line = target.name_line if target else place.line(row)
    where = line_range(line, text, server.documents.position_codec)
    server.board.put(Refused(path=file), {file: [diagnostic(where, error.word, error.advice)]})


def clear(server: Server, uri: str | None) -> None:
    """Takes back what `show` showed in a document; in all of them without one."""
    found = server.documents.file_of(uri) if uri is not None else None
    if uri is None or found is not None:
        server.board.drop(lambda owner: isinstance(owner, Refused) and (found is None or owner.path == found[0]))
