"""Open notebooks: their cell documents, or one document with all cells, shown as a module.

An editor that supports notebooks sends cells; JupyterLab sends `.virtual_documents/nb.ipynb`, the cells joined by blank
lines. The module and its test file (`plugins/notebooks/module.py`) do not exist on disk; in the server they are files.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from greenloop.lsp.documents.composite import Composites
from greenloop.lsp.documents.open_documents import Documents
from greenloop.plugins.notebooks.layout import GAP_ROWS, Cell, Notebook, module_names, split_cells
from greenloop.plugins.notebooks.module import all_tests

if TYPE_CHECKING:
    from greenloop.plugins.notebooks.in_editor import EditorNotebook

VIRTUAL = ".virtual_documents"


@dataclass(eq=False, kw_only=True)
class OpenNotebook:
    """An opened notebook: its file, the names of its module and tests, and the documents of its cells.

    A cell keeps its first label, even when cells are inserted before it; the first cells are labelled by number.
    """

    open_documents: Documents
    file: Path
    module: str
    tests: str
    uris: list[str] = field(default_factory=list)
    virtual: str = ""
    _labels: dict[str, int] = field(default_factory=dict)
    _known: tuple[tuple[str, ...], Notebook] | None = None
    gap: int = GAP_ROWS

    @property
    def paths(self) -> tuple[Path, Path]:
        return self.file.with_name(self.module), self.file.with_name(self.tests)

    @property
    def is_open(self) -> bool:
        return bool(self.uris or self.virtual)

    def set_cells(self, uris: list[str]) -> None:
        self.uris = uris
        for uri in uris:
            self._labels.setdefault(uri, len(self._labels) + 1)

    def notebook(self) -> Notebook:
        """The current cells."""
        find_document = self.open_documents.find_document
        if self.virtual:
            document = find_document(self.virtual)
            sources = tuple(split_cells(document.source)) if document else ()
            labels = list(range(1, len(sources) + 1))
        else:
            open_cells = [(uri, document) for uri in self.uris if (document := find_document(uri))]
            sources, labels = (
                tuple(cell_document.source for _uri, cell_document in open_cells),
                [self._labels[uri] for uri, _each in open_cells],
            )
        if self._known is None or self._known[0] != sources or [cell.label for cell in self._known[1].cells] != labels:
            cells = tuple(Cell(source=source, label=label) for source, label in zip(sources, labels, strict=True))
            self._known = (sources, Notebook(path=self.file.name, cells=cells, module=self.module, tests=self.tests))
        return self._known[1]

    def under(self, root: Path) -> EditorNotebook:
        """The current cells, with paths relative to `root`."""
        from greenloop.plugins.notebooks.in_editor import EditorNotebook  # noqa: PLC0415 - loads the parser

        folder = self.file.parent.relative_to(root)
        path, module, tests = ((folder / name).as_posix() for name in (self.file.name, self.module, self.tests))
        return EditorNotebook(replace(self.notebook(), path=path, module=module, tests=tests))

    def text(self, path: Path) -> str:
        """The text of the module or the tests."""
        notebook = self.notebook()
        return notebook.text if path == self.paths[0] else all_tests(notebook)

    def end(self, uri: str) -> int | None:
        """The row of the grid after a cell; None for a virtual document."""
        if self.virtual:
            return None
        return next((self.notebook().end(n) for n, (part, _first) in enumerate(self.documents()) if part == uri), None)

    def documents(self) -> list[tuple[str, int]]:
        """Each document's URI, and the number of the grid's rows before it."""
        if self.virtual:
            return [(self.virtual, GAP_ROWS)]
        open_uris = [uri for uri in self.uris if self.open_documents.find_document(uri)]
        return list(zip(open_uris, self.notebook().first_rows, strict=True))


class OpenNotebooks(Composites):
    """Every notebook that was opened, by its file, and by the paths of its module and tests."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._by_file: dict[Path, OpenNotebook] = {}
        self._by_path: dict[Path, OpenNotebook] = {}

    def at(self, path: Path) -> OpenNotebook | None:
        return self._by_path.get(path)

    def of(self, uri: str) -> OpenNotebook | None:
        """The open notebook of a cell, or of JupyterLab's virtual document."""
        notebook = self._documents.get_notebook_document(cell_uri=uri)
        file = self._documents.path_of(notebook.uri) if notebook is not None else self._virtual_file(uri)
        opened = self._by_file.get(file) if file is not None else None
        return opened if opened is not None and opened.is_open else None

    def of_file(self, uri: str) -> OpenNotebook | None:
        """The notebook of a file, if it was opened before."""
        file = self._documents.path_of(uri)
        return self._by_file.get(file) if file is not None else None

    def has(self, uri: str) -> bool:
        is_cell = self._documents.get_notebook_document(cell_uri=uri) is not None
        return is_cell or self._virtual_file(uri) is not None

    def update(self, uri: str) -> None:
        """Takes the cells of a notebook's document, or a virtual document."""
        notebook, file = self._documents.get_notebook_document(notebook_uri=uri), self._documents.path_of(uri)
        if notebook is not None and file is not None:
            self._notebook_of(file).set_cells(self._code_cells(notebook))
        elif (virtual := self._virtual_file(uri)) is not None:
            self._notebook_of(virtual).virtual = uri

    def close(self, uri: str) -> None:
        virtual = self._virtual_file(uri)
        opened = self.of_file(uri) if virtual is None else self._by_file.get(virtual)
        if opened is not None and (virtual is None or opened.virtual):
            opened.virtual = ""
            opened.set_cells([])

    def _notebook_of(self, file: Path) -> OpenNotebook:
        """The notebook of a file; a new one gets a module whose name differs from every existing file's."""
        if file not in self._by_file:
            taken = [each.name for each in file.parent.glob("*_ipynb*.py")] if file.parent.is_dir() else []
            module, tests = module_names(file.name, taken)
            opened = OpenNotebook(open_documents=self._documents, file=file, module=module, tests=tests)
            self._by_file[file] = opened
            self._by_path |= dict.fromkeys(opened.paths, opened)
        return self._by_file[file]

    def _virtual_file(self, uri: str) -> Path | None:
        path = self._documents.path_of(uri)
        return notebook_file(path) if path is not None else None

    def _code_cells(self, notebook: lsp.NotebookDocument) -> list[str]:
        """The URIs of its Python cells, in order."""
        code = [cell.document for cell in notebook.cells if cell.kind == lsp.NotebookCellKind.Code]
        found = ((uri, self._documents.find_document(uri)) for uri in code)
        return [uri for uri, document in found if document and document.language_id in ("python", None)]


def notebook_file(path: Path) -> Path | None:
    """The notebook file of JupyterLab's virtual document; None for any other file."""
    if path.suffix != ".ipynb" or VIRTUAL not in path.parts:
        return None
    at = path.parts.index(VIRTUAL)
    return Path(*path.parts[:at], *path.parts[at + 1 :])
