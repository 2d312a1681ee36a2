"""The editor's open documents: exact lines, and waiting for a change.

pygls splits lines as `str.splitlines` does, at form feeds too, which the protocol does not: an incremental change to
such a file would corrupt it. Here a line ends where the protocol says: at CR, LF or both.
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsprotocol import types as lsp
from pygls.workspace import TextDocument, Workspace

from greenloop.core.diff import lines
from greenloop.core.encoding import decode
from greenloop.core.errors import GreenloopError
from greenloop.core.uris import path_from_uri, uri_from_path

# Bytes of a file that is read at all.
LONGEST = 64 << 20
# URIs of which it is remembered what they name.
NAMES = 1024

log = logging.getLogger(__name__)


def lowered(where: lsp.Range, rows: int) -> lsp.Range:
    """The range in a text that begins `rows` lines further down."""
    start, end = (lsp.Position(line=max(p.line - rows, 0), character=p.character) for p in (where.start, where.end))
    return lsp.Range(start=start, end=end)


def path_of(uri: str) -> Path | None:
    """The file that a URI names; None for what is no file (untitled buffers, notebook cells, nonsense)."""
    try:
        path = path_from_uri(uri) or ""
        named = os.fsencode(path)
    except ValueError:
        return None
    file = Path(path)
    return file if file.is_absolute() and b"\0" not in named else None


def on_disk(path: Path) -> str | None:
    """The text of a file, None where there is none or it cannot be read as text."""
    data = bytes_of(path)
    try:
        return None if data is None else decode(data)[0]
    except GreenloopError:
        return None


def bytes_of(path: Path) -> bytes | None:
    """The bytes of a file; None for what is none, such as a pipe, and for what is far too long to be source."""
    try:
        status = path.stat()
        return path.read_bytes() if stat.S_ISREG(status.st_mode) and status.st_size <= LONGEST else None
    except (OSError, ValueError):
        return None


class Document(TextDocument):
    """An open document with the protocol's own lines."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._split: tuple[str, tuple[str, ...]] = ("", ())

    @property
    def lines(self) -> Sequence[str]:
        text = self.source
        if self._split[0] is not text:
            self._split = (text, tuple(lines(text)))
        return self._split[1]

    def _apply_incremental_change(self, change: lsp.TextDocumentContentChangePartial) -> None:
        start, end = (
            _offset(self.lines, point, self.position_codec) for point in (change.range.start, change.range.end)
        )
        self._source = self.source[:start] + change.text + self.source[end:]


def _offset(text: Sequence[str], position: lsp.Position, codec: Any) -> int:
    before = sum(map(len, text[: position.line]))
    if position.line >= len(text):
        return before
    units = 0
    line = text[position.line].rstrip("\r\n")
    for index, character in enumerate(line):
        if units >= position.character:
            return before + index
        units += codec.client_num_units(character)
    return before + len(line)


class Documents(Workspace):
    """pygls' workspace with exact documents, found by path as well, and with waiters for changes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._paths: dict[str, Path | None] = {}
        self._roots: list[Path] | None = None
        super().__init__(*args, **kwargs)
        self._waiting: set[asyncio.Future[None]] = set()

    def update_text_document(
        self, text_doc: lsp.VersionedTextDocumentIdentifier, change: lsp.TextDocumentContentChangeEvent
    ) -> None:
        if unquote(text_doc.uri) not in self.text_documents:
            log.warning("A change of a document that is not open")
            return
        super().update_text_document(text_doc, change)

    def _create_text_document(
        self, doc_uri: str, source: str | None = None, version: int | None = None, language_id: str | None = None
    ) -> TextDocument:
        return Document(
            doc_uri,
            source=source,
            version=version,
            language_id=language_id,
            sync_kind=self._sync_kind,
            position_codec=self._position_codec,
        )

    def opened(self) -> dict[Path, Document]:
        """Every open document that is a file, by its path."""
        found = {self.path_of(document.uri): document for document in self.text_documents.values()}
        return {path: document for path, document in found.items() if path and isinstance(document, Document)}

    def at(self, path: Path) -> Document | None:
        return self.opened().get(path)

    def texts(self, root: Path) -> dict[str, str]:
        """The text of every open file under `root`, by its workspace path."""
        inside = {path: document for path, document in self.opened().items() if path.is_relative_to(root)}
        return {path.relative_to(root).as_posix(): document.source for path, document in inside.items()}

    def uri(self, path: Path) -> str:
        """The editor's own spelling where the file is open, for an editor compares texts."""
        document = self.at(path)
        return document.uri if document else uri_from_path(path)

    def file_of(self, uri: str) -> tuple[Path, int] | None:
        """The file that a document is, or is a part of, and the lines of that file before it; None for no file."""
        path = self.path_of(uri)
        return None if path is None else (path, 0)

    def path_of(self, uri: str) -> Path | None:
        """The file that a URI names, as a path in its workspace folder, whichever links the editor resolved."""
        if uri not in self._paths:
            path = path_of(uri)
            self._paths[uri] = path if path is None or self.root_of(path) else self._inside(path)
            while len(self._paths) > NAMES:
                del self._paths[next(iter(self._paths))]
        return self._paths[uri]

    def _inside(self, path: Path) -> Path:
        real = Path(os.path.realpath(path))
        for root in self.roots():
            folder = Path(os.path.realpath(root))
            if real.is_relative_to(folder):
                return root / real.relative_to(folder)
        return path

    def add_folder(self, folder: lsp.WorkspaceFolder) -> None:
        super().add_folder(folder)
        self._forget()

    def remove_folder(self, folder_uri: str) -> None:
        super().remove_folder(folder_uri)
        self._forget()

    def _forget(self) -> None:
        self._paths.clear()
        self._roots = None

    def parts(self, path: Path) -> list[tuple[str, int]]:
        """The documents that make up a file, in order: each one's URI and the lines of the file before it."""
        return [(self.uri(path), 0)]

    def location(self, path: Path, where: lsp.Range) -> lsp.Location:
        """A range of a file as the editor names it."""
        uri, first = next(part for part in reversed(self.parts(path)) if part[1] <= where.start.line or not part[1])
        return lsp.Location(uri=uri, range=lowered(where, first))

    def changed(self) -> None:
        """Wakes everybody who waits for a change."""
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
        self._waiting.clear()

    async def wait_until(self, holds: Callable[[], bool], seconds: float) -> bool:
        """Whether `holds` came true within `seconds`; looked at after every change of any document."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not holds():
            future: asyncio.Future[None] = loop.create_future()
            self._waiting.add(future)
            try:
                async with asyncio.timeout_at(end):
                    await future
            except TimeoutError:
                return holds()
            finally:
                self._waiting.discard(future)
        return True

    def roots(self) -> list[Path]:
        """The workspace folders, or the root of a client that knows no folders; the longest first."""
        if self._roots is None:
            uris = [folder.uri for folder in self.folders.values()] or ([self._root_uri] if self._root_uri else [])
            paths = [path for uri in uris if (path := path_of(uri)) is not None]
            self._roots = sorted(paths, key=lambda path: len(path.parts), reverse=True)
        return self._roots

    def folder(self, root: Path) -> str:
        """A workspace folder's URI as the editor spells it."""
        return next((each.uri for each in self.folders.values() if path_of(each.uri) == root), uri_from_path(root))

    def root_of(self, path: Path) -> Path | None:
        return next((root for root in self.roots() if path.is_relative_to(root)), None)
