"""Hover on a target, a function that a run changes, its tests and their class: the run's attempts.

Without a run: the last result of a test, or for a class the state of each of its tests.
"""

from __future__ import annotations

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.connection.convert import line_range, relative_range
from greenloop.lsp.documents import locations
from greenloop.lsp.parts import Parts
from greenloop.lsp.presenters import hover_text, lens_titles
from greenloop.lsp.presenters.notifications import name_places
from greenloop.wording.markup import code_block, without_markup

# Maximum tests of a class that a hover lists.
MOST = 30


def register(server: LanguageServer, parts: Parts) -> None:
    runs, results = parts.runs, parts.results
    client, documents = parts.client, parts.documents

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        file = locations.locate_for_display(documents, params.text_document.uri)
        # Without runs and results there is nothing to show, so the file is not parsed.
        if file is None or not (results or any(run.root == file.root for run in runs)):
            return None
        line = file.line(params.position.line)
        target = locations.target_at(file, line)
        if target is None or not target.start <= line <= target.end:
            return None
        value = attempts(file, target) or last_results(file, target)
        if not value:
            return None
        kind = lsp.MarkupKind.Markdown
        if not client.capabilities.markdown_hover:
            value, kind = without_markup(value), lsp.MarkupKind.PlainText
        hovered = line_range(line, file.text, documents.position_codec)
        return lsp.Hover(
            contents=lsp.MarkupContent(kind=kind, value=value), range=relative_range(hovered, file.lines_before)
        )

    def attempts(file: locations.ProjectFile, target: Target) -> str:
        run = runs.find(file.root, target.path, target.qualname)
        if run is None or not (run.attempts or run.progress.specified or run.runs_ahead):
            return ""
        return name_places(documents, run, hover_text.markdown(run))

    def last_results(file: locations.ProjectFile, target: Target) -> str:
        """The last result of a test, or of each test of a class; "" without any."""
        if target.kind is not TargetKind.TEST:
            return ""
        runs_by_test, prefix = runs.by_name(file.root), f"{target.qualname}."
        known_names = {name for path, name in runs_by_test if path == file.path}
        known_names |= results.names(file.root, file.path)
        if not any(f"{name}.".startswith(prefix) for name in known_names):
            # Listing every test of a long file takes milliseconds.
            return ""
        rows = []
        for heading in locations.headings(file):
            if heading.is_class or not f"{heading.qualname}.".startswith(prefix):
                continue
            run = runs_by_test.get((file.path, heading.qualname))
            ended_at = run.ended_at if run is not None else 0.0
            state = lens_titles.state(run, results.get(file.root, file.path, heading.qualname, ended_at))
            if state:
                rows.append(f"{heading.qualname}: {state}")
        text = "\n".join([*rows[:MOST], *([f"… {len(rows) - MOST} more"] if len(rows) > MOST else [])])
        return code_block(text, "text") if text else ""
