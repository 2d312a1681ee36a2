"""Hover on a target, a function that a run changes, its tests and their class: the run's attempts.

Without a run: the last result of a test, or for a class the state of each of its tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp import lens_titles
from greenloop.lsp.connection.convert import line_range, lowered
from greenloop.lsp.documents import locations
from greenloop.lsp.presenters import hover_text, notifications

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

# Maximum tests of a class that a hover lists.
MOST = 30


def register(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        project_file = locations.of_or_none(server, params.text_document.uri)
        # Without runs and results there is nothing to show, so the file is not parsed.
        if project_file is None or not (server.results or any(run.root == project_file.root for run in server.runs)):
            return None
        line = project_file.line(params.position.line)
        target = locations.target_at(project_file, line)
        if target is None or not target.start <= line <= target.name_line:
            return None
        markdown = server.abilities.markdown_hover
        value = _history(server, project_file, target, markdown=markdown) or _results(
            server, project_file, target, markdown=markdown
        )
        if not value:
            return None
        kind = lsp.MarkupKind.Markdown if markdown else lsp.MarkupKind.PlainText
        where = lowered(
            line_range(target.name_line, project_file.text, server.documents.position_codec), project_file.first
        )
        return lsp.Hover(contents=lsp.MarkupContent(kind=kind, value=value), range=where)


def _history(server: Server, place: locations.Place, target: Target, *, markdown: bool) -> str:
    run = server.runs.find(place.root, target.path, target.qualname)
    if run is None or not (run.attempts or run.specified or run.ahead):
        return ""
    return notifications.named(server, run, hover_text.markdown(run) if markdown else hover_text.plain(run))


def _results(server: Server, place: locations.Place, target: Target, *, markdown: bool) -> str:
    """The last result of a test, or of each test of a class; "" without any."""
    if target.kind is not TargetKind.TEST:
        return ""
    runs, within = server.runs.by_subject(place.root), f"{target.qualname}."
    known_names = {name for path, name in runs if path == place.path} | server.results.names(place.root, place.path)
    if not any(f"{name}.".startswith(within) for name in known_names):
        # Listing every test of a long file takes milliseconds.
        return ""
    rows = []
    for heading in locations.headings(place):
        if heading.is_class or not f"{heading.qualname}.".startswith(within):
            continue
        run = runs.get((place.path, heading.qualname))
        result = server.results.get(place.root, place.path, heading.qualname, run.ended if run is not None else 0.0)
        state = lens_titles.state(run, result)
        if state:
            rows.append(f"{heading.qualname}: {state}")
    text = "\n".join([*rows[:MOST], *([f"… {len(rows) - MOST} more"] if len(rows) > MOST else [])])
    return hover_text.fenced(text, "text") if markdown and text else text
