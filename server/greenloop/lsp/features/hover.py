"""Hover on a target, on a function that a run changes, on its tests and their class: the history of the attempts.

Where no run tells of it, the last result of a test; of a class the state of each of its tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.core.nouns import Target, TargetKind
from greenloop.lsp import lenses, places
from greenloop.lsp.convert import line_range, lowered
from greenloop.lsp.presenters import report, status

if TYPE_CHECKING:
    from greenloop.lsp.server import Server

# Tests of a class that a hover lists.
MOST = 30


def register(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        place = places.of_or_none(server, params.text_document.uri)
        # Without runs and results there is nothing to say, and nothing to parse for it.
        if place is None or not (server.results or any(run.root == place.root for run in server.runs)):
            return None
        line = place.line(params.position.line)
        target = places.target_at(place, line)
        if target is None or not target.start <= line <= target.name_line:
            return None
        markdown = server.abilities.markdown_hover
        value = _history(server, place, target, markdown=markdown) or _results(server, place, target, markdown=markdown)
        if not value:
            return None
        kind = lsp.MarkupKind.Markdown if markdown else lsp.MarkupKind.PlainText
        where = lowered(line_range(target.name_line, place.text, server.documents.position_codec), place.first)
        return lsp.Hover(contents=lsp.MarkupContent(kind=kind, value=value), range=where)


def _history(server: Server, place: places.Place, target: Target, *, markdown: bool) -> str:
    run = server.runs.find(place.root, target.path, target.qualname)
    if run is None or not (run.attempts or run.specified or run.ahead):
        return ""
    return status.named(server, run, report.markdown(run) if markdown else report.plain(run))


def _results(server: Server, place: places.Place, target: Target, *, markdown: bool) -> str:
    """How a test ended last, or each test of a class; "" where nothing is known."""
    if target.kind is not TargetKind.TEST:
        return ""
    runs, within = server.runs.by_subject(place.root), f"{target.qualname}."
    known = {name for path, name in runs if path == place.path} | server.results.names(place.root, place.path)
    if not any(f"{name}.".startswith(within) for name in known):
        # To look at every test of a long file takes milliseconds.
        return ""
    rows = []
    for heading in places.headings(place):
        if heading.is_class or not f"{heading.qualname}.".startswith(within):
            continue
        run = runs.get((place.path, heading.qualname))
        result = server.results.get(place.root, place.path, heading.qualname, run.ended if run is not None else 0.0)
        state = lenses.state(run, result)
        if state:
            rows.append(f"{heading.qualname}: {state}")
    text = "\n".join([*rows[:MOST], *([f"… {len(rows) - MOST} more"] if len(rows) > MOST else [])])
    return report.fenced(text, "text") if markdown and text else text
