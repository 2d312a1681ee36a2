"""Open notebooks: their cell documents, or one document with all cells, shown as a module.

An editor that supports notebooks sends cells; JupyterLab sends `.virtual_documents/nb.ipynb`, the cells joined by blank
lines. The module and its test file (`notebook.module`) do not exist on disk; here they are files like others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsprotocol import types as lsp
from pygls.workspace import TextDocument

from greenloop.api.notebooks import GAP_ROWS, Cell, Notebook, compose, module_names, split_cells, write_back

VIRTUAL = ".virtual_documents"
FindDocument = Callable[[str], TextDocument | None]


@dataclass(eq=False, kw_only=True)
class OpenNotebook:
    """An open notebook: its file, the names of its module and tests, and the documents of its cells.

    A cell keeps its first label, even when cells are inserted before it; the first cells are labelled by number.
    """

    file: Path
    module: str
    tests: str
    uris: list[str] = field(default_factory=list)
    virtual: str = ""
    _labels: dict[str, int] = field(default_factory=dict)
    _known: tuple[tuple[str, ...], Notebook] | None = None

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

    def notebook(self, find_document: FindDocument) -> Notebook:
        """The current cells; `find_document` returns an open document by URI."""
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

    def under(self, root: Path, find_document: FindDocument) -> Notebook:
        """The current cells, with paths relative to `root`."""
        folder = self.file.parent.relative_to(root)
        path, module, tests = ((folder / name).as_posix() for name in (self.file.name, self.module, self.tests))
        return replace(self.notebook(find_document), path=path, module=module, tests=tests)

    def documents(self, find_document: FindDocument) -> list[tuple[str, int]]:
        """Each document's URI, and the number of the grid's rows before it."""
        if self.virtual:
            return [(self.virtual, GAP_ROWS)]
        open_uris = [uri for uri in self.uris if find_document(uri)]
        return list(zip(open_uris, self.notebook(find_document).first_rows, strict=True))


def open_notebook(file: Path) -> OpenNotebook:
    """A newly opened notebook; the name of its module differs from every existing file's."""
    taken = [each.name for each in file.parent.glob("*_ipynb*.py")] if file.parent.is_dir() else []
    module, tests = module_names(file.name, taken)
    return OpenNotebook(file=file, module=module, tests=tests)


def notebook_file(path: Path) -> Path | None:
    """The notebook file of JupyterLab's virtual document; None for any other file."""
    if path.suffix != ".ipynb" or VIRTUAL not in path.parts:
        return None
    at = path.parts.index(VIRTUAL)
    return Path(*path.parts[:at], *path.parts[at + 1 :])


def code_cells(notebook: lsp.NotebookDocument, find_document: FindDocument) -> list[str]:
    """The URIs of its Python cells, in order."""
    code = [cell.document for cell in notebook.cells if cell.kind == lsp.NotebookCellKind.Code]
    return [uri for uri in code if (document := find_document(uri)) and document.language_id in ("python", None)]


def all_tests(notebook: Notebook) -> str:
    """The test file with the checks of all cells."""
    return compose(notebook, len(notebook.cells) - 1).tests if notebook.cells else ""


def cell_changes(notebook: Notebook, before: str, after: str) -> list[tuple[int, str, str]] | None:
    """The cells that a change of the grid's text changes (position, before, after); None where it spans several."""
    changed = write_back(notebook, before, after, default_cell=-1)
    if changed is None:
        return None
    pairs = enumerate(zip(notebook.cells, changed.cells, strict=True))
    return [(n, old.source, new.source) for n, (old, new) in pairs if old.source != new.source]
