"""Maps an editor's positions to the project: folder, workspace path, the test or function at a line."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from greenloop import api
from greenloop.api.settings import state_folder
from greenloop.core.errors import GreenloopError
from greenloop.core.records.spec import Target, TargetKind
from greenloop.lsp.connection.convert import line_range
from greenloop.lsp.documents.composite import CompositeFile
from greenloop.lsp.documents.open_documents import Documents

if TYPE_CHECKING:
    from greenloop.api.targets import Definition, Heading, NamingRules

# Maximum folders whose pytest configuration is cached; saving any file clears the cache.
FOLDERS = 64
# Installed packages and Python's standard library, which users read but do not fix.
_LIBRARY = re.compile(r"(?:^|/)(?:(?:site|dist)-packages|lib(?:64)?/python3\.\d+)/")


@dataclass(frozen=True, kw_only=True)
class ProjectFile:
    """A file of a project: its folder, its path in there with `/`, and the editor's text of it.

    `lines_before` lines of the text precede the document that the editor asked about (it may be one of several).
    `composite` is set where the file stands for one; the requested document then ends before the row `end_row`.
    """

    root: Path
    path: str
    text: str
    lines_before: int = 0
    composite: CompositeFile | None = None
    end_row: int | None = None

    def line(self, row: int) -> int:
        """The 1-based line of the text for a row (0-based) of the document."""
        last = self.lines_before + row
        last = last if self.end_row is None else min(last, self.end_row - 1)
        return last + 1


def locate(documents: Documents, uri: str) -> ProjectFile | None:
    """The file of a document; None where it is not a file. Outside every workspace folder its project is searched.

    Raises `UsageError` where that project would be the home folder or `/`.
    """
    located = documents.file_of(uri)
    if located is None:
        return None
    file, lines_before = located
    root = documents.root_of(file) or _find_project(file)
    composite = documents.composite(file, root)
    text = composite.python if composite else documents.text(file)
    if text is None:
        return None
    path = file.relative_to(root).as_posix()
    end = documents.document_end(uri) if composite else None
    return ProjectFile(root=root, path=path, text=text, lines_before=lines_before, composite=composite, end_row=end)


def root_named(documents: Documents, argument: Any) -> Path | None:
    """The folder of an argument's document, else the first folder; None where none is open."""
    uri = argument.get("uri") if isinstance(argument, Mapping) else None
    file = locate_for_display(documents, uri) if isinstance(uri, str) else None
    return file.root if file is not None else next(iter(documents.roots()), None)


def locate_for_display(documents: Documents, uri: str) -> ProjectFile | None:
    """As `locate`, for features that only show: also None outside a usable project, and for library files."""
    try:
        project_file = locate(documents, uri)
    except GreenloopError:
        return None
    if project_file is None:
        return None
    file = project_file.root / project_file.path
    library_path = project_file.path if documents.root_of(file) else file.as_posix()
    return None if _LIBRARY.search(library_path) else project_file


def target_at(file: ProjectFile, line: int) -> Target | None:
    """The test, function, method or docstring at a 1-based line. Never runs or imports the user's code."""
    if file.composite is not None:
        return file.composite.target_at(line)
    if not api.targets.may_have_targets(file.path):
        return None
    files, names = _conventions(file.root)
    return api.targets.target_at(file.text, file.path, line, python_files=files, names=names)


def headings(file: ProjectFile) -> Iterator[Heading]:
    """Every target of a file, in order."""
    if file.composite is not None:
        yield from file.composite.headings()
    elif api.targets.may_have_targets(file.path):
        files, names = _conventions(file.root)
        yield from api.targets.list_headings(file.text, file.path, python_files=files, names=names)


def is_stored_tests(file: ProjectFile) -> bool:
    """True if it is a file of the tests that greenloop made from docstrings, in which nothing is refined."""
    with contextlib.suppress(OSError):
        return (file.root / file.path).is_relative_to(state_folder())
    return False


def is_testable(file: ProjectFile) -> bool:
    """True if its tests, or those that reach it, can be run on their own."""
    return file.path.endswith(".py") and not is_stored_tests(file)


def has_tests(file: ProjectFile) -> bool:
    """True if it is one of the project's test files."""
    return file.path.endswith(".py") and api.targets.is_test_file(file.path, _conventions(file.root)[0])


def is_class(file: ProjectFile, target: Target) -> bool:
    """True if the test is a class of tests. Where this text does not define it, its name decides."""
    definition = _definition(file, target)
    return (
        definition.kind == "class"
        if definition is not None
        else not target.qualname.rpartition(".")[2].startswith("test")
    )


def has_examples(file: ProjectFile, target: Target) -> bool:
    """True if its docstring has `>>>` examples."""
    definition = _definition(file, target)
    return definition is not None and definition.examples


def _definition(file: ProjectFile, target: Target) -> Definition | None:
    """A target's definition; None where it is in another file."""
    if target.path != file.path:
        return None
    definition = api.targets.definition_at(file.text, target.name_line, file.path)
    return definition if definition is not None and definition.qualname == target.qualname else None


def is_in_unwritten_docstring(file: ProjectFile, target: Target, line: int) -> bool:
    """True if the line is in the docstring of a function that is not written yet."""
    definition = api.targets.definition_at(file.text, line, file.path)
    if target.kind is not TargetKind.FUNCTION or definition is None or definition.docstring is None:
        return False
    first_line, last_line = definition.docstring
    return first_line <= line <= last_line and api.targets.is_unwritten(target, file.text)


def has_unwritten_methods(file: ProjectFile, target: Target) -> bool:
    """True if it is a class some of whose methods are still to be written."""
    definition = _definition(file, target)
    return (
        definition is not None and definition.kind == "class" and api.targets.has_unwritten_methods(target, file.text)
    )


def find_target(documents: Documents, root: Path, selector: str) -> Target | None:
    """The target of a pytest node id; None where it does not exist."""
    path, _, name = selector.partition("::")
    if (composite := documents.composite(root / path, root)) is not None:
        return composite.find_target(path, name)
    text = documents.text(root / path)
    return None if text is None or not name else target_named(root, text, path, name)


def document_uri(documents: Documents, root: Path, target: Target) -> str:
    """The URI of the document with a target: its file, or a part of a composite."""
    return documents.location(root / target.path, line_range(target.name_line)).uri


def target_named(root: Path, text: str, path: str, name: str) -> Target | None:
    """The target with that name in a text."""
    files, names = _conventions(root)
    return api.targets.find_target(text, path, name, python_files=files, names=names)


def clear_cache() -> None:
    """Clears the cached pytest configuration, which a saved file may have changed."""
    _conventions.cache_clear()


@lru_cache(FOLDERS)
def _conventions(root: Path) -> tuple[tuple[str, ...], NamingRules]:
    """The project's naming conventions for test files, and for the tests in them."""
    return api.targets.read_conventions(root)


@lru_cache(FOLDERS)
def _find_project(file: Path) -> Path:
    return api.workspace.find_root(file)
