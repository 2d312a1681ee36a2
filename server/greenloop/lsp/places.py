"""Where in a project an editor points: folder, workspace path, the test or function at a line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from greenloop.core.errors import GreenloopError
from greenloop.core.grid import Notebook
from greenloop.core.nouns import Region, Target, TargetKind
from greenloop.lsp import cells
from greenloop.lsp.convert import line_range
from greenloop.lsp.edits import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from greenloop.collecting import Names
    from greenloop.lsp.server import Server
    from greenloop.syntax import Definition
    from greenloop.targets import Heading

# Folders whose pytest configuration is remembered; a saved file forgets them all.
FOLDERS = 64
# Installed packages and Python's own library, which people read and nobody mends.
_LIBRARY = re.compile(r"(?:^|/)(?:(?:site|dist)-packages|lib(?:64)?/python3\.\d+)/")


@dataclass(frozen=True, kw_only=True)
class Place:
    """A file of a project: its folder, its path in there with `/`, and its text as the editor has it.

    `first` lines of the text stand before the document that the editor asked about (it may be one of several).
    `notebook` is what the file is the module of; the cell that was asked about goes up to the row `end` of the text.
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
    """None for what is no file. A file outside every workspace folder belongs to the project around it.

    Raises `UsageProblem` where that project would be the home folder or `/`.
    """
    found = server.documents.file_of(uri)
    if found is None:
        return None
    file, first = found
    root = server.documents.root_of(file) or _project(file)
    notebook = server.documents.notebook(file, root)
    text = notebook.python if notebook else text_of(server, file)
    if text is None:
        return None
    path = file.relative_to(root).as_posix()
    end = server.documents.end_of(uri) if notebook else None
    return Place(root=root, path=path, text=text, first=first, notebook=notebook, end=end)


def of_or_none(server: Server, uri: str) -> Place | None:
    """As `of`, for those who only look: a file in no usable project, or of a library, has nothing to show."""
    try:
        place = of(server, uri)
    except GreenloopError:
        return None
    if place is None:
        return None
    file = place.root / place.path
    known = place.path if server.documents.root_of(file) else file.as_posix()
    return None if _LIBRARY.search(known) else place


def target_at(place: Place, line: int) -> Target | None:
    """The test, or the function, method or docstring at a 1-based line. Never runs or imports the user's code."""
    from greenloop import targets  # noqa: PLC0415 - the parser is loaded after the handshake

    if place.notebook is not None:
        return cells.target_at(place.notebook, line)
    if not _may_be_refined(place):
        return None
    files, names = _conventions(place.root)
    return targets.at(place.text, place.path, line, python_files=files, names=names)


def headings(place: Place) -> Iterator[Heading]:
    """Every target of a file, in its order."""
    from greenloop import targets  # noqa: PLC0415 - as above

    if place.notebook is not None:
        yield from cells.headings(place.notebook)
    elif _may_be_refined(place):
        files, names = _conventions(place.root)
        yield from targets.headings(place.text, place.path, python_files=files, names=names)


def _may_be_refined(place: Place) -> bool:
    from greenloop import sources  # noqa: PLC0415 - as above

    return place.path.endswith(".py") and not sources.sets_up(place.path)


def has_tests(place: Place) -> bool:
    """Is it one of the project's test files?"""
    from greenloop import sources  # noqa: PLC0415 - as above

    return place.path.endswith(".py") and sources.is_test_file(place.path, _conventions(place.root)[0])


def is_class(place: Place, target: Target) -> bool:
    """Is the test a class of them? Where it is not defined in this text (in a notebook) its name tells."""
    found = _definition(place, target)
    return found.kind == "class" if found is not None else not target.qualname.rpartition(".")[2].startswith("test")


def has_examples(place: Place, target: Target) -> bool:
    """Has its docstring `>>>` examples?"""
    found = _definition(place, target)
    return found is not None and found.examples


def _definition(place: Place, target: Target) -> Definition | None:
    """A target as its file defines it; what stands in another file or in a notebook's tests has none here."""
    from greenloop import syntax  # noqa: PLC0415 - as above

    found = syntax.enclosing(place.text, target.name_line, place.path) if target.path == place.path else None
    return found if found is not None and found.qualname == target.qualname else None


def asked_for(place: Place, target: Target, line: int) -> bool:
    """Is the line in the docstring of a function that is not written yet?"""
    from greenloop import regions, syntax  # noqa: PLC0415 - as above

    found = syntax.enclosing(place.text, line, place.path)
    if target.kind is not TargetKind.FUNCTION or found is None or found.docstring is None:
        return False
    first, last = found.docstring
    region = Region(path=place.path, qualname=target.qualname, start=target.start, end=target.end)
    return first <= line <= last and regions.unwritten(region, {place.path: place.text}.get)


def named(server: Server, root: Path, test: str) -> Target | None:
    """The target of a pytest node id; None where there is none."""
    path, _, name = test.partition("::")
    if (notebook := server.documents.notebook(root / path, root)) is not None:
        return cells.named(notebook, path, name)
    text = text_of(server, root / path)
    return None if text is None or not name else find(root, text, path, name)


def document(server: Server, root: Path, target: Target) -> str:
    """The document that a target stands in: its file, or of a notebook the cell."""
    return server.documents.location(root / target.path, line_range(target.name_line)).uri


def find(root: Path, text: str, path: str, name: str) -> Target | None:
    """The target of that name in a text."""
    from greenloop import targets  # noqa: PLC0415 - as above

    files, names = _conventions(root)
    return targets.find(text, path, name, python_files=files, names=names)


def forget() -> None:
    """A saved file may have been the project's pytest configuration."""
    _conventions.cache_clear()


@lru_cache(FOLDERS)
def _conventions(root: Path) -> tuple[tuple[str, ...], Names]:
    """The names of test files, and of the tests in there."""
    from greenloop import collecting, sources  # noqa: PLC0415 - as above

    return tuple(sources.file_patterns(root)), collecting.names_of(root)


@lru_cache(FOLDERS)
def _project(file: Path) -> Path:
    from greenloop import workspace  # noqa: PLC0415 - as above

    return workspace.find_root(file)
