"""The editor's open documents by URI and path, current texts, notebooks as files, and waiting for changes."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsprotocol import types as lsp
from pygls.workspace import TextDocument, Workspace

from greenloop.api.notebooks import GAP_ROWS, Notebook
from greenloop.core.text.uris import uri_from_path
from greenloop.lsp.connection.convert import line_range, relative_range
from greenloop.lsp.documents import notebooks
from greenloop.lsp.documents.change_signal import ChangeSignal
from greenloop.lsp.documents.disk import on_disk, path_of
from greenloop.lsp.documents.disk_conflicts import DiskConflicts
from greenloop.lsp.documents.text_document import Document

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

    A notebook is two files that do not exist on disk, its module and its tests; their documents are the cells.
    """

    def __init__(self, root_uri: str | None = None, *args: Any, **kwargs: Any) -> None:
        self._paths: dict[str, Path | None] = {}
        self._roots: list[Path] | None = None
        super().__init__(root_uri, *args, **kwargs)
        self._notebooks_by_file: dict[Path, notebooks.OpenNotebook] = {}
        self._notebooks_by_path: dict[Path, notebooks.OpenNotebook] = {}
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
        documents = [document for uri, document in self.text_documents.items() if uri not in self._cells]
        by_path = {self.path_of(document.uri): document for document in documents}
        files = {path: document for path, document in by_path.items() if path and isinstance(document, Document)}
        return {path: document for path, document in files.items() if notebooks.notebook_file(path) is None}

    def text(self, path: Path) -> str | None:
        """The editor's text where the file is open, else the text on disk; None where the file does not exist."""
        document = self.document_at(path)
        return document.source if document is not None else on_disk(path)

    def document_at(self, path: Path) -> Document | WholeFile | None:
        """The open document of a file; for a notebook's module or tests, all its cells."""
        opened = self._notebooks_by_path.get(path)
        if opened is None:
            return self.open_files().get(path)
        if not opened.is_open:
            return None
        notebook = opened.notebook(self._document)
        text = notebook.text if path == opened.paths[0] else notebooks.all_tests(notebook)
        return WholeFile(source=text, uri=uri_from_path(opened.file))

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
        opened = self.notebook_of(uri)
        if opened is not None:
            lines_before = next(
                (lines_before for part, lines_before in opened.documents(self._document) if part == uri), None
            )
            return None if lines_before is None else (opened.paths[0], lines_before)
        path = self.path_of(uri)
        return None if path is None else (path, 0)

    def cell_end(self, uri: str) -> int | None:
        """The row of the file after a cell; None for a document that is not a cell."""
        opened = self.notebook_of(uri)
        if opened is None or opened.virtual:
            return None
        notebook = opened.notebook(self._document)
        ends = (notebook.end(n) for n, (part, _first) in enumerate(opened.documents(self._document)) if part == uri)
        return next(ends, None)

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
        opened = self._notebooks_by_path.get(path)
        return [(self.uri_of(path), 0)] if opened is None else opened.documents(self._document)

    def location(self, path: Path, where: lsp.Range) -> lsp.Location:
        """A range of a file as a location in the editor's document."""
        parts = self.documents_of(path)
        if not parts:
            # The notebook was closed.
            start = lsp.Position(line=0, character=0)
            return lsp.Location(uri=self.uri_of(path), range=lsp.Range(start=start, end=start))
        gap = GAP_ROWS if path in self._notebooks_by_path else 0
        uri, lines_before = next((part for part in reversed(parts) if part[1] - gap <= where.start.line), parts[0])
        document = self._document(uri) if gap else None
        if document is None:
            return lsp.Location(uri=uri, range=relative_range(where, lines_before))
        # Lines of module and tests are lines of the cell, but columns differ.
        rows = max(len(document.lines), 1)
        line = min(max(where.start.line - lines_before, 0), rows - 1) + 1
        return lsp.Location(uri=uri, range=line_range(line, document.source, self.position_codec))

    # -- notebooks --------------------------------------------------------------------------------------------------

    def _document(self, uri: str) -> TextDocument | None:
        document: TextDocument | None = self.text_documents.get(unquote(uri))
        return document

    @property
    def _cells(self) -> Mapping[str, str]:
        """The notebook's URI by that of a cell, both unescaped; pygls has no public access to it."""
        return self._cell_in_notebook

    def module_path(self, path: Path) -> Path:
        """The file that shows a file's diagnostics: for the tests of a notebook, its module."""
        opened = self._notebooks_by_path.get(path)
        return path if opened is None else opened.paths[0]

    def notebook_at(self, path: Path) -> notebooks.OpenNotebook | None:
        """The notebook of a module or test file, open or closed."""
        return self._notebooks_by_path.get(path)

    def notebook_of(self, uri: str) -> notebooks.OpenNotebook | None:
        """The open notebook of a cell, or of JupyterLab's virtual document."""
        notebook = self.get_notebook_document(cell_uri=uri)
        path = self.path_of(notebook.uri) if notebook is not None else None
        if path is None and notebook is None:
            virtual = self.path_of(uri)
            path = notebooks.notebook_file(virtual) if virtual is not None else None
        opened = self._notebooks_by_file.get(path) if path is not None else None
        return opened if opened is not None and opened.is_open else None

    def module_of(self, file: Path) -> Path | None:
        """The module's path of a notebook that was opened before."""
        opened = self._notebooks_by_file.get(file)
        return None if opened is None else opened.paths[0]

    def notebook(self, path: Path, root: Path) -> Notebook | None:
        """The current cells of an open notebook's module or test file, with paths relative to `root`."""
        opened = self._notebooks_by_path.get(path)
        return opened.under(root, self._document) if opened is not None and opened.is_open else None

    def put_notebook_document(self, params: lsp.DidOpenNotebookDocumentParams) -> None:
        super().put_notebook_document(params)
        self._update_cells(params.notebook_document.uri)

    def update_notebook_document(self, params: lsp.DidChangeNotebookDocumentParams) -> None:
        if self.get_notebook_document(notebook_uri=params.notebook_document.uri) is None:
            log.warning("A change of a notebook that is not open")
            return
        super().update_notebook_document(params)
        self._update_cells(params.notebook_document.uri)

    def remove_notebook_document(self, params: lsp.DidCloseNotebookDocumentParams) -> None:
        self._close(self.path_of(params.notebook_document.uri))
        super().remove_notebook_document(params)

    def put_text_document(self, text_document: lsp.TextDocumentItem, notebook_uri: str | None = None) -> None:
        super().put_text_document(text_document, notebook_uri)
        path = self.path_of(text_document.uri)
        file = notebooks.notebook_file(path) if path is not None and notebook_uri is None else None
        if file is not None:
            self._notebook_for(file).virtual = text_document.uri

    def remove_text_document(self, doc_uri: str) -> None:
        path = self.path_of(doc_uri)
        file = notebooks.notebook_file(path) if path is not None else None
        if file in self._notebooks_by_file and self._notebooks_by_file[file].virtual:
            self._close(file)
        super().remove_text_document(doc_uri)

    def _update_cells(self, uri: str) -> None:
        notebook, path = self.get_notebook_document(notebook_uri=uri), self.path_of(uri)
        if notebook is not None and path is not None:
            self._notebook_for(path).set_cells(notebooks.code_cells(notebook, self._document))

    def _close(self, path: Path | None) -> None:
        opened = self._notebooks_by_file.get(path) if path is not None else None
        if opened is not None:
            opened.virtual = ""
            opened.set_cells([])

    def _notebook_for(self, path: Path) -> notebooks.OpenNotebook:
        if path not in self._notebooks_by_file:
            self._notebooks_by_file[path] = opened = notebooks.open_notebook(path)
            self._notebooks_by_path |= dict.fromkeys(opened.paths, opened)
        return self._notebooks_by_file[path]

    def roots(self) -> list[Path]:
        """The workspace folders, or the root of a client without folders; the longest first."""
        if self._roots is None:
            uris = [folder.uri for folder in self.folders.values()] or ([self._root_uri] if self._root_uri else [])
            paths = [path for uri in uris if (path := path_of(uri)) is not None]
            self._roots = sorted(paths, key=lambda path: len(path.parts), reverse=True)
        return self._roots

    def folder_uri(self, root: Path) -> str:
        """A workspace folder's URI in the editor's spelling."""
        return next((each.uri for each in self.folders.values() if path_of(each.uri) == root), uri_from_path(root))

    def root_of(self, path: Path) -> Path | None:
        return next((root for root in self.roots() if path.is_relative_to(root)), None)
