"""The editor's open documents by URI and path, current texts, composite files, and waiting for changes."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsprotocol import types as lsp
from pygls.workspace import TextDocument, Workspace

from greenloop.api.workspace import widen
from greenloop.core.text.uris import uri_from_path
from greenloop.lsp.connection.convert import line_range, relative_range
from greenloop.lsp.documents.composite import CompositeFile, Composites
from greenloop.lsp.documents.disk import DiskConflicts, on_disk, path_of
from greenloop.lsp.documents.text_document import Document


class ChangeSignal:
    """Wakes its waiters after each change."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._waiting: set[asyncio.Future[None]] = set()
        self._changed_at = -math.inf

    def notify_changed(self) -> None:
        """Wakes all waiters."""
        self._changed_at = self._clock()
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
        self._waiting.clear()

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """True if the condition became true within `seconds`; checked after every change of any document."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while not condition():
            future: asyncio.Future[None] = loop.create_future()
            self._waiting.add(future)
            try:
                async with asyncio.timeout_at(deadline):
                    await future
            except TimeoutError:
                return condition()
            finally:
                self._waiting.discard(future)
        return True

    async def wait_for_quiet(self, seconds: float, patience: float) -> bool:
        """Waits until no document has changed for `seconds`; False after `patience` seconds without that."""
        deadline = self._clock() + patience
        while (remaining := self._changed_at + seconds - self._clock()) > 0:
            if self._clock() + remaining > deadline:
                return False
            await self._sleep(remaining)
        return True


# Maximum URIs whose path is cached.
NAMES = 1024
# Seconds after which a closed document stays closed: renaming, and reloading with `:edit`, close and reopen at once.
REOPEN = 0.5

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class WholeFile:
    """The text of a file that consists of several documents; it has no version."""

    source: str
    uri: str
    version: None = None


class Documents(Workspace, ChangeSignal):
    """pygls' workspace with exact documents, lookup by path, and waiting for changes.

    A composite file stands for files that do not exist on disk, and consists of several documents.
    """

    def __init__(self, root_uri: str | None = None, *args: Any, **kwargs: Any) -> None:
        self._paths: dict[str, Path | None] = {}
        self._roots: list[Path] | None = None
        super().__init__(root_uri, *args, **kwargs)
        self.composites = Composites()
        self.conflicts = DiskConflicts()
        ChangeSignal.__init__(self)

    def begin(
        self,
        root_uri: str | None,
        folders: Sequence[lsp.WorkspaceFolder],
        position_encoding: lsp.PositionEncodingKind | str | None,
    ) -> None:
        """Takes the folders and the encoding of the handshake, before which no document is open."""
        super().__init__(root_uri, lsp.TextDocumentSyncKind.Incremental, folders, position_encoding)
        self._forget()

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

    def open_files(self) -> dict[Path, Document]:
        """Every open document that is a file, by path."""
        documents = [document for uri, document in self.text_documents.items() if not self.composites.has(uri)]
        by_path = {self.path_of(document.uri): document for document in documents}
        return {path: document for path, document in by_path.items() if path and isinstance(document, Document)}

    def text(self, path: Path) -> str | None:
        """The editor's text where the file is open, else the text on disk; None where the file does not exist."""
        document = self.document_at(path)
        return document.source if document is not None else on_disk(path)

    def document_at(self, path: Path) -> Document | WholeFile | None:
        """The open document of a file; for one that stands for a composite, all of its documents."""
        opened = self.composites.at(path)
        if opened is None:
            return self.open_files().get(path)
        if not opened.is_open:
            return None
        return WholeFile(source=opened.text(path), uri=uri_from_path(opened.file))

    def is_open(self, uri: str) -> bool:
        """True if a document is open; clients escape URIs in several ways, not always consistently."""
        name = unquote(uri)
        return any(unquote(document.uri) == name for document in self.text_documents.values())

    def open_texts(self, root: Path) -> dict[str, str]:
        """The text of every open file under `root`, by workspace path."""
        inside = {path: document for path, document in self.open_files().items() if path.is_relative_to(root)}
        return {path.relative_to(root).as_posix(): document.source for path, document in inside.items()}

    def uri_of(self, path: Path) -> str:
        """A file's URI; the editor's own spelling where it is open, because editors compare URIs as texts."""
        document = self.document_at(path)
        return document.uri if document else uri_from_path(path)

    def file_of(self, uri: str) -> tuple[Path, int] | None:
        """The file of a document, and the lines of that file before it; None where it is not a file."""
        opened = self.composites.of(uri)
        if opened is not None:
            lines_before = next((lines_before for part, lines_before in opened.documents() if part == uri), None)
            return None if lines_before is None else (opened.paths[0], lines_before)
        path = self.path_of(uri)
        return None if path is None else (path, 0)

    def document_end(self, uri: str) -> int | None:
        """The row of the file after a document of a composite; None for any other."""
        opened = self.composites.of(uri)
        return None if opened is None else opened.end(uri)

    def path_of(self, uri: str) -> Path | None:
        """The file that a URI names, as a path in its workspace folder even where the editor resolved links."""
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

    def documents_of(self, path: Path) -> list[tuple[str, int]]:
        """The documents of a file, in order: each one's URI and the lines of the file before it."""
        opened = self.composites.at(path)
        return [(self.uri_of(path), 0)] if opened is None else opened.documents()

    def location(self, path: Path, where: lsp.Range) -> lsp.Location:
        """A range of a file as a location in the editor's document."""
        parts = self.documents_of(path)
        if not parts:
            # The composite was closed.
            start = lsp.Position(line=0, character=0)
            return lsp.Location(uri=self.uri_of(path), range=lsp.Range(start=start, end=start))
        opened = self.composites.at(path)
        gap = opened.gap if opened is not None else 0
        uri, lines_before = next((part for part in reversed(parts) if part[1] - gap <= where.start.line), parts[0])
        document = self.find_document(uri) if gap else None
        if document is None:
            return lsp.Location(uri=uri, range=relative_range(where, lines_before))
        # Lines of the file are lines of the document, but columns may differ.
        rows = max(len(document.lines), 1)
        line = min(max(where.start.line - lines_before, 0), rows - 1) + 1
        return lsp.Location(uri=uri, range=line_range(line, document.source, self.position_codec))

    # -- composite files --------------------------------------------------------------------------------------------

    def find_document(self, uri: str) -> TextDocument | None:
        """An open document, without making one."""
        document: TextDocument | None = self.text_documents.get(unquote(uri))
        return document

    def shown_path(self, path: Path) -> Path:
        """The file that shows a file's diagnostics: of the files that stand for a composite, the first."""
        opened = self.composites.at(path)
        return path if opened is None else opened.paths[0]

    def composite(self, path: Path, root: Path) -> CompositeFile | None:
        """The open composite for which a path stands, with paths relative to `root`."""
        opened = self.composites.at(path)
        return opened.under(root) if opened is not None and opened.is_open else None

    def put_notebook_document(self, params: lsp.DidOpenNotebookDocumentParams) -> None:
        super().put_notebook_document(params)
        self.composites.update(params.notebook_document.uri)

    def update_notebook_document(self, params: lsp.DidChangeNotebookDocumentParams) -> None:
        if self.get_notebook_document(notebook_uri=params.notebook_document.uri) is None:
            log.warning("A change of a notebook that is not open")
            return
        super().update_notebook_document(params)
        self.composites.update(params.notebook_document.uri)

    def remove_notebook_document(self, params: lsp.DidCloseNotebookDocumentParams) -> None:
        self.composites.close(params.notebook_document.uri)
        super().remove_notebook_document(params)

    def put_text_document(self, text_document: lsp.TextDocumentItem, notebook_uri: str | None = None) -> None:
        super().put_text_document(text_document, notebook_uri)
        if notebook_uri is None:
            self.composites.update(text_document.uri)

    def remove_text_document(self, doc_uri: str) -> None:
        self.composites.close(doc_uri)
        super().remove_text_document(doc_uri)

    def roots(self) -> list[Path]:
        """The workspace folders, or the root of a client without folders; the longest first."""
        if self._roots is None:
            uris = [folder.uri for folder in self.folders.values()] or ([self._root_uri] if self._root_uri else [])
            paths = {widen(path) for uri in uris if (path := path_of(uri)) is not None}
            self._roots = sorted(paths, key=lambda path: len(path.parts), reverse=True)
        return self._roots

    def folder_uri(self, root: Path) -> str:
        """A workspace folder's URI in the editor's spelling."""
        return next((each.uri for each in self.folders.values() if path_of(each.uri) == root), uri_from_path(root))

    def root_of(self, path: Path) -> Path | None:
        return next((root for root in self.roots() if path.is_relative_to(root)), None)
