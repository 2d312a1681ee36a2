"""What each file shows: the only place that publishes diagnostics.

Ranges are kept right for the text as it is now, however it changed: typed into, replaced, closed unsaved, opened anew,
changed or deleted on the disk. What stood at a line that is gone goes away. It must not know what is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
from lsprotocol import types as lsp
from pygls.workspace import PositionCodec

from greenloop.lsp import moves
from greenloop.lsp.convert import line_range
from greenloop.lsp.edits import text_of

if TYPE_CHECKING:
    from greenloop.lsp.server import Server


@dataclass(eq=False, kw_only=True)
class _File:
    """What a file shows, by owner; `text` is what the ranges count in; `uris` are where something is published."""

    text: str
    shown: dict[Hashable, list[lsp.Diagnostic]] = field(default_factory=dict)
    uris: set[str] = field(default_factory=set)


class Board:
    """What each file shows, by path and owner (a run, a check of tests, …).

    Ranges count in the file's whole text, whichever documents it consists of.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._files: dict[Path, _File] = {}
        self._held: dict[Path, None] | None = None
        # Told of the owner of a change before it is published, so that others can give way.
        self.on_change: Callable[[Hashable], None] = lambda _owner: None

    @contextmanager
    def together(self) -> Iterator[None]:
        """What changes meanwhile is published once, at the end."""
        if self._held is not None:
            yield
            return
        self._held = {}
        try:
            yield
        finally:
            held, self._held = self._held, None
            for path in held:
                self._publish(path)

    def put(self, owner: Hashable, by_path: Mapping[Path, Sequence[lsp.Diagnostic]]) -> None:
        """Replaces everything that an owner shows; the ranges count in the texts as they are now."""
        by_path = self._at_home(by_path)
        touched = {path for path, items in by_path.items() if items} | self.paths(owner)
        for path in touched:
            self._follow(path)
            file = self._files.get(path) or self._begun(path)
            if file is None:
                continue
            file.shown.pop(owner, None)
            if by_path.get(path):
                file.shown[owner] = self._inside(moves.rows(file.text), by_path[path])
        self.on_change(owner)
        for path in touched:
            self._publish(path)

    def shows(self, owner: Hashable) -> bool:
        return any(owner in file.shown for file in self._files.values())

    def paths(self, owner: Hashable) -> set[Path]:
        """The files in which an owner shows something."""
        return {path for path, file in self._files.items() if owner in file.shown}

    def drop(self, is_meant: Callable[[Hashable], bool]) -> None:
        """Takes away all that some owners show."""
        for owner in {owner for file in self._files.values() for owner in file.shown if is_meant(owner)}:
            self.put(owner, {})

    def at(self, path: Path, owner: Hashable) -> list[lsp.Diagnostic]:
        """What an owner shows in a file, where it is now."""
        path = self._server.documents.home(path)
        self._follow(path)
        file = self._files.get(path)
        return file.shown.get(owner, []) if file else []

    def changed(self, path: Path) -> None:
        """The text of a file is another: publishes where anything moved."""
        if self._follow(path):
            self._publish(path)

    def looked(self) -> None:
        """Looks at every file again: a program beside the editor may have changed it."""
        for path in list(self._files):
            self.changed(path)

    def again(self, path: Path) -> None:
        """Publishes a file's diagnostics once more: it was opened anew, under whatever name."""
        self._follow(path)
        self._publish(path)

    def gone(self, path: Path) -> None:
        """A file, or a folder with all in it, is no longer there under that name."""
        for each in [each for each in self._files if each.is_relative_to(path)]:
            self._files[each].shown = {}
            self._publish(each)

    def _at_home(self, by_path: Mapping[Path, Sequence[lsp.Diagnostic]]) -> Mapping[Path, Sequence[lsp.Diagnostic]]:
        """The tests of a notebook are in the same cells as its module: what both show is published at once."""
        found: dict[Path, list[lsp.Diagnostic]] = {}
        for path, items in by_path.items():
            found.setdefault(self._server.documents.home(path), []).extend(items)
        return found

    def clear(self, folder: Path) -> None:
        """Drops what everybody shows in a folder that is no longer one of the workspace's."""
        for each in [each for each in self._files if each.is_relative_to(folder)]:
            if self._server.documents.root_of(each) is None:
                self._files[each].shown = {}
                self._publish(each)

    def wipe(self, path: Path) -> None:
        """Takes whatever an earlier server showed there off the screen."""
        if path not in self._files:
            for uri, _first in self._server.documents.parts(path):
                nothing = lsp.PublishDiagnosticsParams(uri=uri, diagnostics=[])
                self._server.text_document_publish_diagnostics(nothing)

    def _begun(self, path: Path) -> _File | None:
        text = text_of(self._server, path)
        if text is None:
            return None
        return self._files.setdefault(path, _File(text=text))

    def _follow(self, path: Path) -> bool:
        """Moves what a file shows to where its lines are now; whether anything is elsewhere, or gone."""
        file = self._files.get(path)
        text = text_of(self._server, path) if file else None
        if file is None or text == file.text:
            return False
        old, file.text = file.text, text or ""
        was, now = moves.rows(old), moves.rows(file.text)
        move = moves.between(was, now)

        def moved(item: lsp.Diagnostic) -> lsp.Diagnostic | None:
            start, end = item.range.start, item.range.end
            row = move(start.line)
            if row is None:
                return None
            if was[start.line] != now[row]:
                # Columns of an edited line mean nothing any more.
                return attrs.evolve(item, range=line_range(row + 1, file.text, self._codec))
            start, end = (attrs.evolve(point, line=point.line + row - start.line) for point in (start, end))
            return attrs.evolve(item, range=lsp.Range(start=start, end=end))

        before, file.shown = file.shown, {}
        for owner, items in before.items():
            kept = [moved(item) for item in items] if text is not None else []
            file.shown[owner] = self._inside(now, [item for item in kept if item is not None])
        return before != file.shown

    def _inside(self, lines: Sequence[str], items: Sequence[lsp.Diagnostic]) -> list[lsp.Diagnostic]:
        """What lies outside the text of these lines is brought to its edge: a test may have run in a longer one."""

        def inside(point: lsp.Position) -> lsp.Position:
            row = min(point.line, len(lines) - 1)
            return lsp.Position(line=row, character=min(point.character, self._codec.client_num_units(lines[row])))

        return [
            attrs.evolve(item, range=lsp.Range(start=inside(item.range.start), end=inside(item.range.end)))
            for item in items
        ]

    @property
    def _codec(self) -> PositionCodec:
        return self._server.documents.position_codec

    def _publish(self, path: Path) -> None:
        file = self._files.get(path)
        if file is None:
            return
        if self._held is not None:
            self._held[path] = None
            return
        documents = self._server.documents
        by_uri: dict[str, list[lsp.Diagnostic]] = {}
        for item in (item for items in file.shown.values() for item in items):
            place = documents.location(path, item.range)
            by_uri.setdefault(place.uri, []).append(attrs.evolve(item, range=place.range))
        for uri in sorted({*by_uri, *file.uris}):
            version = documents.get_text_document(uri).version
            self._server.text_document_publish_diagnostics(
                lsp.PublishDiagnosticsParams(
                    uri=uri,
                    diagnostics=by_uri.get(uri, []),
                    version=version if self._server.abilities.diagnostic_versions else None,
                )
            )
        file.uris = set(by_uri)
        file.shown = {owner: items for owner, items in file.shown.items() if items}
        if not file.shown:
            del self._files[path]
