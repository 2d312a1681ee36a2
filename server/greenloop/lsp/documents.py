"""The editor's open documents, found by path as well; notebooks as files of their own; waiting for a change."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsprotocol import types as lsp
from pygls.workspace import TextDocument, Workspace

from greenloop.core.grid import GAP, Notebook
from greenloop.core.uris import uri_from_path
from greenloop.lsp import books
from greenloop.lsp.convert import line_range, lowered
from greenloop.lsp.disk import path_of
from greenloop.lsp.document import Document

# URIs of which it is remembered what they name.
NAMES = 1024

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Whole:
    """The text of a file that consists of several documents; it has no version of its own."""

    source: str
    uri: str
    version: None = None


class Documents(Workspace):
    """pygls' workspace with exact documents, found by path as well, and with waiters for changes.

    A notebook is two files that exist on no disk, its module and its tests; their documents are the cells.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._paths: dict[str, Path | None] = {}
        self._roots: list[Path] | None = None
        super().__init__(*args, **kwargs)
        self._books: dict[Path, books.Book] = {}
        self._book_paths: dict[Path, books.Book] = {}
        self._waiting: set[asyncio.Future[None]] = set()
        self._changed_at = -math.inf

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
        whole = [document for uri, document in self.text_documents.items() if uri not in self._cells]
        found = {self.path_of(document.uri): document for document in whole}
        files = {path: document for path, document in found.items() if path and isinstance(document, Document)}
        return {path: document for path, document in files.items() if books.real(path) is None}

    def at(self, path: Path) -> Document | Whole | None:
        """The open document of a file; of a notebook's module or tests, all its cells."""
        book = self._book_paths.get(path)
        if book is None:
            return self.opened().get(path)
        if not book.open:
            return None
        notebook = book.notebook(self._text)
        text = notebook.text if path == book.paths[0] else books.whole(notebook)
        return Whole(source=text, uri=uri_from_path(book.file))

    def shows(self, uri: str) -> bool:
        """Whether a document is open; clients quote in several ways, and not always in the same."""
        name = unquote(uri)
        return any(unquote(document.uri) == name for document in self.text_documents.values())

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
        book = self.book_of(uri)
        if book is not None:
            first = next((first for part, first in book.parts(self._text) if part == uri), None)
            return None if first is None else (book.paths[0], first)
        path = self.path_of(uri)
        return None if path is None else (path, 0)

    def end_of(self, uri: str) -> int | None:
        """The row of the file behind a cell; None for what is no cell."""
        book = self.book_of(uri)
        if book is None or book.virtual:
            return None
        notebook = book.notebook(self._text)
        ends = (notebook.end(n) for n, (part, _first) in enumerate(book.parts(self._text)) if part == uri)
        return next(ends, None)

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
        book = self._book_paths.get(path)
        return [(self.uri(path), 0)] if book is None else book.parts(self._text)

    def location(self, path: Path, where: lsp.Range) -> lsp.Location:
        """A range of a file as the editor names it."""
        parts = self.parts(path)
        if not parts:
            # A notebook that was closed.
            start = lsp.Position(line=0, character=0)
            return lsp.Location(uri=self.uri(path), range=lsp.Range(start=start, end=start))
        gap = GAP if path in self._book_paths else 0
        uri, first = next((part for part in reversed(parts) if part[1] - gap <= where.start.line), parts[0])
        document = self._text(uri) if gap else None
        if document is None:
            return lsp.Location(uri=uri, range=lowered(where, first))
        # The lines of module and tests are those of the cell, but not the columns.
        rows = max(len(document.lines), 1)
        line = min(max(where.start.line - first, 0), rows - 1) + 1
        return lsp.Location(uri=uri, range=line_range(line, document.source, self.position_codec))

    # -- notebooks --------------------------------------------------------------------------------------------------

    def _text(self, uri: str) -> TextDocument | None:
        found: TextDocument | None = self.text_documents.get(unquote(uri))
        return found

    @property
    def _cells(self) -> Mapping[str, str]:
        """The notebook's URI by that of a cell, both without escapes; pygls has no other door to it."""
        return self._cell_in_notebook

    def home(self, path: Path) -> Path:
        """The file whose diagnostics a file's are: the module, for the tests of a notebook."""
        book = self._book_paths.get(path)
        return path if book is None else book.paths[0]

    def book_at(self, path: Path) -> books.Book | None:
        """The notebook that a module or test file was made of, open or not."""
        return self._book_paths.get(path)

    def book_of(self, uri: str) -> books.Book | None:
        """The open notebook of a cell, or of a virtual document of JupyterLab."""
        notebook = self.get_notebook_document(cell_uri=uri)
        path = self.path_of(notebook.uri) if notebook is not None else None
        if path is None and notebook is None:
            virtual = self.path_of(uri)
            path = books.real(virtual) if virtual is not None else None
        book = self._books.get(path) if path is not None else None
        return book if book is not None and book.open else None

    def module_of(self, file: Path) -> Path | None:
        """What a notebook's file, opened before, is here."""
        book = self._books.get(file)
        return None if book is None else book.paths[0]

    def notebook(self, path: Path, root: Path) -> Notebook | None:
        """The cells behind a module or test file as they are now, with paths that count from `root`."""
        book = self._book_paths.get(path)
        return book.under(root, self._text) if book is not None and book.open else None

    def put_notebook_document(self, params: lsp.DidOpenNotebookDocumentParams) -> None:
        super().put_notebook_document(params)
        self._take(params.notebook_document.uri)

    def update_notebook_document(self, params: lsp.DidChangeNotebookDocumentParams) -> None:
        if self.get_notebook_document(notebook_uri=params.notebook_document.uri) is None:
            log.warning("A change of a notebook that is not open")
            return
        super().update_notebook_document(params)
        self._take(params.notebook_document.uri)

    def remove_notebook_document(self, params: lsp.DidCloseNotebookDocumentParams) -> None:
        self._drop(self.path_of(params.notebook_document.uri))
        super().remove_notebook_document(params)

    def put_text_document(self, text_document: lsp.TextDocumentItem, notebook_uri: str | None = None) -> None:
        super().put_text_document(text_document, notebook_uri)
        path = self.path_of(text_document.uri)
        real = books.real(path) if path is not None and notebook_uri is None else None
        if real is not None:
            self._known(real).virtual = text_document.uri

    def remove_text_document(self, doc_uri: str) -> None:
        path = self.path_of(doc_uri)
        real = books.real(path) if path is not None else None
        if real in self._books and self._books[real].virtual:
            self._drop(real)
        super().remove_text_document(doc_uri)

    def _take(self, uri: str) -> None:
        notebook, path = self.get_notebook_document(notebook_uri=uri), self.path_of(uri)
        if notebook is not None and path is not None:
            self._known(path).take(books.code_cells(notebook, self._text))

    def _drop(self, path: Path | None) -> None:
        book = self._books.get(path) if path is not None else None
        if book is not None:
            book.virtual = ""
            book.take([])

    def _known(self, path: Path) -> books.Book:
        if path not in self._books:
            self._books[path] = book = books.book_of(path)
            self._book_paths |= dict.fromkeys(book.paths, book)
        return self._books[path]

    def changed(self) -> None:
        """Wakes everybody who waits for a change."""
        self._changed_at = time.monotonic()
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

    async def quiet(self, seconds: float, most: float) -> bool:
        """Whether nothing has changed for `seconds`; that is waited for, at most `most` seconds."""
        end = time.monotonic() + most
        while (left := self._changed_at + seconds - time.monotonic()) > 0:
            if time.monotonic() + left > end:
                return False
            await asyncio.sleep(left)
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
