"""Stores the diagnostics of each file; the only module that publishes them.

Ranges follow the current text, however it changed: typed into, replaced, closed unsaved, reopened, changed or deleted
on disk. A diagnostic at a deleted line is dropped. It must not know the meaning of the diagnostics.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import attrs
from lsprotocol import types as lsp
from pygls.workspace import PositionCodec

from greenloop.lsp.connection.convert import line_range
from greenloop.lsp.documents import line_mapping
from greenloop.lsp.editor import Editor


@dataclass(eq=False, kw_only=True)
class _File:
    """A file's diagnostics by owner; ranges refer to `text`; `published_uris` have published diagnostics."""

    text: str
    by_owner: dict[Hashable, list[lsp.Diagnostic]] = field(default_factory=dict)
    published_uris: set[str] = field(default_factory=set)


class DiagnosticsStore:
    """The diagnostics of each file, by path and owner (a run, a test file, …).

    Ranges refer to the file's whole text, even where it consists of several documents.
    """

    def __init__(self, editor: Editor) -> None:
        self._client, self._documents = editor.client, editor.documents
        self._files: dict[Path, _File] = {}
        self._batched: dict[Path, None] | None = None
        # Called with the owner of a change before it is published, so that other owners can hide duplicates.
        self.on_change: Callable[[Hashable], None] = lambda _owner: None

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Publishes the changes made inside the `with` block once, at its end."""
        if self._batched is not None:
            yield
            return
        self._batched = {}
        try:
            yield
        finally:
            batched, self._batched = self._batched, None
            for path in batched:
                self._publish(path)

    def put(self, owner: Hashable, by_path: Mapping[Path, Sequence[lsp.Diagnostic]]) -> None:
        """Replaces all diagnostics of an owner; the ranges refer to the current texts."""
        by_path = self._by_shown_path(by_path)
        touched = {path for path, items in by_path.items() if items} | self.paths(owner)
        for path in touched:
            self._follow(path)
            file = self._files.get(path)
            if file is None:
                if (text := self._documents.text(path)) is None:
                    continue
                file = self._files.setdefault(path, _File(text=text))
            file.by_owner.pop(owner, None)
            if by_path.get(path):
                file.by_owner[owner] = self._clamp(line_mapping.split_rows(file.text), by_path[path])
        self.on_change(owner)
        for path in touched:
            self._publish(path)

    def shows(self, owner: Hashable) -> bool:
        return any(owner in file.by_owner for file in self._files.values())

    def paths(self, owner: Hashable) -> set[Path]:
        """The files with diagnostics of an owner."""
        return {path for path, file in self._files.items() if owner in file.by_owner}

    def remove_owners(self, is_meant: Callable[[Hashable], bool]) -> None:
        """Removes all diagnostics of the matching owners."""
        for owner in {owner for file in self._files.values() for owner in file.by_owner if is_meant(owner)}:
            self.put(owner, {})

    def items(self, path: Path, owner: Hashable) -> list[lsp.Diagnostic]:
        """An owner's diagnostics in a file, at their current ranges."""
        path = self._documents.shown_path(path)
        self._follow(path)
        file = self._files.get(path)
        return file.by_owner.get(owner, []) if file else []

    def update(self, path: Path) -> None:
        """Moves ranges after a file's text changed; publishes where any moved."""
        if self._follow(path):
            self._publish(path)

    def update_all(self) -> None:
        """Moves ranges in every file: another program may have changed it on disk."""
        for path in list(self._files):
            self.update(path)

    def republish(self, path: Path) -> None:
        """Publishes a file's diagnostics again, for a file that was reopened, perhaps under another URI."""
        self._follow(path)
        self._publish(path)

    def remove_path(self, path: Path) -> None:
        """Removes the diagnostics of a renamed or deleted file, or of everything in such a folder."""
        for shown_path in [shown_path for shown_path in self._files if shown_path.is_relative_to(path)]:
            self._files[shown_path].by_owner = {}
            self._publish(shown_path)

    def remove_folder(self, folder: Path) -> None:
        """Removes all diagnostics in a folder that left the workspace."""
        for path in list(self._files):
            if path.is_relative_to(folder) and self._documents.root_of(path) is None:
                self.remove_path(path)

    def clear_leftovers(self, path: Path) -> None:
        """Clears the diagnostics that an earlier server left on the screen."""
        if path not in self._files:
            for uri, _lines_before in self._documents.documents_of(path):
                self._client.publish_diagnostics(uri, [])

    def _by_shown_path(
        self, by_path: Mapping[Path, Sequence[lsp.Diagnostic]]
    ) -> Mapping[Path, Sequence[lsp.Diagnostic]]:
        """Merges the diagnostics of the files that stand for a composite: they have the same documents."""
        merged: dict[Path, list[lsp.Diagnostic]] = {}
        for path, items in by_path.items():
            merged.setdefault(self._documents.shown_path(path), []).extend(items)
        return merged

    def _follow(self, path: Path) -> bool:
        """Moves a file's ranges to the current text; whether any moved or was dropped."""
        file = self._files.get(path)
        text = self._documents.text(path) if file else None
        if file is None or text == file.text:
            return False
        old_text, file.text = file.text, text or ""
        old_rows, new_rows = line_mapping.split_rows(old_text), line_mapping.split_rows(file.text)
        new_row = line_mapping.map_rows(old_rows, new_rows)

        def move(item: lsp.Diagnostic) -> lsp.Diagnostic | None:
            start, end = item.range.start, item.range.end
            row = new_row(start.line)
            if row is None:
                return None
            if old_rows[start.line] != new_rows[row]:
                # The columns of an edited line are no longer valid.
                return attrs.evolve(item, range=line_range(row + 1, file.text, self._codec))
            start, end = (attrs.evolve(point, line=point.line + row - start.line) for point in (start, end))
            return attrs.evolve(item, range=lsp.Range(start=start, end=end))

        old_items, file.by_owner = file.by_owner, {}
        for owner, items in old_items.items():
            moved_items = [move(item) for item in items] if text is not None else []
            file.by_owner[owner] = self._clamp(new_rows, [item for item in moved_items if item is not None])
        return old_items != file.by_owner

    def _clamp(self, rows: Sequence[str], items: Sequence[lsp.Diagnostic]) -> list[lsp.Diagnostic]:
        """Clamps ranges to these rows: a test may have run in a longer text."""

        def clamp(point: lsp.Position) -> lsp.Position:
            row = min(point.line, len(rows) - 1)
            return lsp.Position(line=row, character=min(point.character, self._codec.client_num_units(rows[row])))

        return [
            attrs.evolve(item, range=lsp.Range(start=clamp(item.range.start), end=clamp(item.range.end)))
            for item in items
        ]

    @property
    def _codec(self) -> PositionCodec:
        return self._documents.position_codec

    def _publish(self, path: Path) -> None:
        file = self._files.get(path)
        if file is None:
            return
        if self._batched is not None:
            self._batched[path] = None
            return
        by_uri: dict[str, list[lsp.Diagnostic]] = {}
        for item in (item for items in file.by_owner.values() for item in items):
            location = self._documents.location(path, item.range)
            by_uri.setdefault(location.uri, []).append(attrs.evolve(item, range=location.range))
        for uri in sorted({*by_uri, *file.published_uris}):
            version = self._documents.get_text_document(uri).version
            self._client.publish_diagnostics(uri, by_uri.get(uri, []), version)
        file.published_uris = set(by_uri)
        file.by_owner = {owner: items for owner, items in file.by_owner.items() if items}
        if not file.by_owner:
            del self._files[path]
