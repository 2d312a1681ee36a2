"""Maps an editor's positions to the project: folder, workspace path, the test or function at a line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.core.errors import GreenloopError
from greenloop.core.records.spec import Region, Target, TargetKind
from greenloop.lsp.connection.convert import line_range
from greenloop.lsp.documents import notebook_requests
from greenloop.lsp.runs.apply_edit import text_of
from greenloop.notebook.layout import Notebook

if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenloop.lsp.server import Server
    from greenloop.project.syntax.definitions import Definition
    from greenloop.project.targets import Heading
    from greenloop.project.test_naming import NamingRules

# Maximum folders whose pytest configuration is cached; saving any file clears the cache.
FOLDERS = 64
# Installed packages and Python's standard library, which users read but do not fix.
_LIBRARY = re.compile(r"(?:^|/)(?:(?:site|dist)-packages|lib(?:64)?/python3\.\d+)/")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A file of a project: its folder, its path in there with `/`, and the editor's text of it.

    `lines_before` lines of the text precede the document that the editor asked about (it may be one of several).
    `notebook` is set where the file is a notebook's module; the requested cell then ends before the row `end_row`.
    """

    root: Path
    path: str
    text: str
    first: int = 0
    notebook: Notebook | None = None
    end: int | None = None

    def line(self, row: int) -> int:
        """The 1-based line of the text for a row (0-based) of the document."""
        last = self.first + row if self.end is None else min(self.first + row, self.end - 1)
        return last + 1


def of(server: Server, uri: str) -> Place | None:
    """The file of a document; None where it is not a file. Outside every workspace folder its project is searched.

    Raises `UsageError` where that project would be the home folder or `/`.
    """
    located = server.documents.file_of(uri)
    if located is None:
        return None
    file, lines_before = located
    root = server.documents.root_of(file) or _project(file)
    notebook = server.documents.notebook(file, root)
    text = notebook.python if notebook else text_of(server, file)
    if text is None:
        return None
    path = file.relative_to(root).as_posix()
    end = server.documents.end_of(uri) if notebook else None
    return Place(root=root, path=path, text=text, first=lines_before, notebook=notebook, end=end)


def of_or_none(server: Server, uri: str) -> Place | None:
    """As `locate`, for features that only show: also None outside a usable project, and for library files."""
    try:
        project_file = of(server, uri)
    except GreenloopError:
        return None
    if project_file is None:
        return None
    file = project_file.root / project_file.path
    library_path = project_file.path if server.documents.root_of(file) else file.as_posix()
    return None if _LIBRARY.search(library_path) else project_file


def target_at(place: Place, line: int) -> Target | None:
    """The test, function, method or docstring at a 1-based line. Never runs or imports the user's code."""
    from greenloop.project import targets  # noqa: PLC0415 - the parser is loaded after the handshake

    if place.notebook is not None:
        return notebook_requests.target_at(place.notebook, line)
    if not _may_be_refined(place):
        return None
    files, names = _conventions(place.root)
    return targets.target_at(place.text, place.path, line, python_files=files, names=names)


def headings(place: Place) -> Iterator[Heading]:
    """Every target of a file, in order."""
    from greenloop.project import targets  # noqa: PLC0415 - as above

    if place.notebook is not None:
        yield from notebook_requests.headings(place.notebook)
    elif _may_be_refined(place):
        files, names = _conventions(place.root)
        yield from targets.list_headings(place.text, place.path, python_files=files, names=names)


def _may_be_refined(place: Place) -> bool:
    from greenloop.project import sources  # noqa: PLC0415 - as above

    return place.path.endswith(".py") and not sources.is_shared_setup(place.path)


def has_tests(place: Place) -> bool:
    """Whether it is one of the project's test files."""
    from greenloop.project import sources  # noqa: PLC0415 - as above

    return place.path.endswith(".py") and sources.is_test_file(place.path, _conventions(place.root)[0])


def is_class(place: Place, target: Target) -> bool:
    """Whether the test is a class of tests. Where this text does not define it (in a notebook), its name decides."""
    definition = _definition(place, target)
    return (
        definition.kind == "class"
        if definition is not None
        else not target.qualname.rpartition(".")[2].startswith("test")
    )


def has_examples(place: Place, target: Target) -> bool:
    """Whether its docstring has `>>>` examples."""
    definition = _definition(place, target)
    return definition is not None and definition.examples


def _definition(place: Place, target: Target) -> Definition | None:
    """A target's definition; None where it is in another file or in a notebook's tests."""
    from greenloop.project.syntax import definitions  # noqa: PLC0415 - as above

    definition = (
        definitions.enclosing_definition(place.text, target.name_line, place.path)
        if target.path == place.path
        else None
    )
    return definition if definition is not None and definition.qualname == target.qualname else None


def asked_for(place: Place, target: Target, line: int) -> bool:
    """Whether the line is in the docstring of a function that is not written yet."""
    from greenloop.localize import regions  # noqa: PLC0415 - as above
    from greenloop.project.syntax import definitions  # noqa: PLC0415 - as above

    definition = definitions.enclosing_definition(place.text, line, place.path)
    if target.kind is not TargetKind.FUNCTION or definition is None or definition.docstring is None:
        return False
    first_line, last_line = definition.docstring
    region = Region(path=place.path, qualname=target.qualname, start=target.start, end=target.end)
    return first_line <= line <= last_line and regions.unwritten(region, {place.path: place.text}.get)


def named(server: Server, root: Path, test: str) -> Target | None:
    """The target of a pytest node id; None where it does not exist."""
    path, _, name = test.partition("::")
    if (notebook := server.documents.notebook(root / path, root)) is not None:
        return notebook_requests.named(notebook, path, name)
    text = text_of(server, root / path)
    return None if text is None or not name else find(root, text, path, name)


def document(server: Server, root: Path, target: Target) -> str:
    """The URI of the document with a target: its file, or its cell of a notebook."""
    return server.documents.location(root / target.path, line_range(target.name_line)).uri


def find(root: Path, text: str, path: str, name: str) -> Target | None:
    """The target with that name in a text."""
    from greenloop.project import targets  # noqa: PLC0415 - as above

    files, names = _conventions(root)
    return targets.find_target(text, path, name, python_files=files, names=names)


def forget() -> None:
    """Clears the cached pytest configuration, which a saved file may have changed."""
    _conventions.cache_clear()


@lru_cache(FOLDERS)
def _conventions(root: Path) -> tuple[tuple[str, ...], NamingRules]:
    """The project's naming conventions for test files, and for the tests in them."""
    from greenloop.project import sources, test_naming  # noqa: PLC0415 - as above

    return tuple(sources.file_patterns(root)), test_naming.read_names(root)


@lru_cache(FOLDERS)
def _project(file: Path) -> Path:
    from greenloop.project import workspace  # noqa: PLC0415 - as above

    return workspace.find_root(file)
