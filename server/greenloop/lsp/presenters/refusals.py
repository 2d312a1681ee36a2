"""Shows why a run could not begin: a diagnostic at the target's name with the reason and its remedy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types as lsp

from greenloop.core.errors import GreenloopError
from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.connection.convert import line_range
from greenloop.lsp.documents import locations
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore
from greenloop.lsp.presenters.notifications import end_message
from greenloop.lsp.state.run import Run


@dataclass(frozen=True, kw_only=True)
class RefusedRequest:
    """Owner of the diagnostics of requests that never became a run."""

    path: Path


def refusal_of(run: Run) -> tuple[str, str] | None:
    """The code and message of a run's refusal; None where it is in progress or began its attempts."""
    if run.running or run.started is not None:
        return None
    if run.result.refusal:
        return run.result.refusal_code, run.result.refusal
    if run.outcome is not None:
        return run.outcome.reason.value, end_message(run, run.outcome, None)
    return None


def refusal_diagnostic(where: lsp.Range, code: str, message: str) -> lsp.Diagnostic:
    severity = lsp.DiagnosticSeverity.Information
    return lsp.Diagnostic(
        range=where, message=clean_for_display(message), severity=severity, source="greenloop", code=code
    )


class RequestErrors:
    """The refused requests of each file, at most one."""

    def __init__(self, store: DiagnosticsStore, documents: Documents) -> None:
        self._store, self._documents = store, documents

    def show(self, uri: str, row: int, error: GreenloopError) -> None:
        """Shows why a request for a row (0-based) of a document was refused; replaces the file's earlier refusal."""
        located = self._documents.file_of(uri)
        text = self._documents.text(located[0]) if located else None
        if located is None or text is None:
            return
        path, lines_before = located
        file = locations.ProjectFile(root=path.parent, path=path.name, text=text, lines_before=lines_before)
        target = locations.target_at(file, file.line(row))
        line = target.name_line if target else file.line(row)
        span = line_range(line, text, self._documents.position_codec)
        self._store.put(RefusedRequest(path=path), {path: [refusal_diagnostic(span, error.kind, error.advice)]})

    def clear(self, uri: str | None) -> None:
        """Removes the refused requests shown in a document; without one, in all documents."""
        located = self._documents.file_of(uri) if uri is not None else None
        if uri is None or located is not None:
            self._store.remove_owners(
                lambda owner: isinstance(owner, RefusedRequest) and (located is None or owner.path == located[0])
            )
