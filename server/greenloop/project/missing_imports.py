"""The imports of names that a module lacks, where only one can be meant.

A name is known if it is one of the standard library, or if exactly one of the project's modules defines it: of those
that the module imports names from, or else of all. Statements are rewritten in their place, so that layout and comments
stay.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from greenloop.core.python.ast_source import parse_module
from greenloop.core.python.names import module_bindings
from greenloop.core.python.standard_names import BUILT_IN, present_name, standard_import
from greenloop.core.records.problem import ImportCorrection
from greenloop.core.records.spec import Region
from greenloop.project import sources
from greenloop.project.syntax import definitions

MOST_FILES = 3000  # in which a name is looked for


def find_imports(text: str, path: str, names: Iterable[str], root: Path, read_text: sources.ReadText) -> list[str]:
    """The statements that import those of the names that are known, in their order."""
    statements = (
        standard_import(name, text)
        or _import_beside(text, path, name, root, read_text)
        or _import_from_elsewhere(text, path, name, root, read_text)
        for name in names
    )
    return [statement for statement in statements if statement]


def find_defining(name: str, path: str, root: Path, read_text: sources.ReadText) -> list[str]:
    """The modules of the project, but tests, that define a name and that the file at this path could import it from."""
    is_named = re.compile(rf"\b{re.escape(name)}\b").search
    found = []
    for file in sources.python_files(root, most=MOST_FILES):
        text = (read_text(file) or "") if file != path and not sources.is_trusted(file) else ""
        if is_named(text) and "here" in module_bindings(text).get(name, ()):
            found.append(import_name(file, path, root))
    return [each for each in found if sources.find_module(each, root, path)]


def absolute_name(module: str, level: int, path: str, root: Path) -> str:
    """The absolute name of a module that the file at this path imports on a level of its package."""
    dotted = sources.absolute_module(module, level, path)
    return import_name(f"{dotted.replace('.', '/')}.py", path, root) if level else dotted


def import_name(file: str, path: str, root: Path) -> str:
    """The name by which the file at this path imports another one: from the folder that its own package is in."""
    is_in_package = (root / path).parent.joinpath("__init__.py").is_file()
    base = sources.import_roots(root, path)[0] if is_in_package else ""
    return sources.module_name(file.removeprefix(f"{base}/") if base else file, root)


def written_name(dotted: str, level: int, path: str, root: Path) -> tuple[int, str]:
    """A module as the file at this path imports it: relative to its package on this level, if the module is in that."""
    package = absolute_name("", level, path, root) if level else ""
    inside = dotted.removeprefix(f"{package}.") if package else dotted
    return (level, inside) if inside != dotted else (0, dotted)


def _import_from_elsewhere(text: str, path: str, name: str, root: Path, read_text: sources.ReadText) -> str:
    """Imports the name from the one module that defines it, relatively if the file does that elsewhere."""
    found = find_defining(name, path, root, read_text)
    if len(found) != 1:
        return ""
    module = parse_module(text)
    nodes = () if isinstance(module, SyntaxError) else module.body
    level = max((each.level for each in nodes if isinstance(each, ast.ImportFrom)), default=0)
    dots, written = written_name(found[0], min(level, 1), path, root)
    return ast.unparse(ast.ImportFrom(module=written, names=[ast.alias(name=name)], level=dots))


def _import_beside(text: str, path: str, name: str, root: Path, read_text: sources.ReadText) -> str:
    """Imports the name from the one module that defines it among those that the file imports names from."""
    found = {
        file: ast.unparse(ast.ImportFrom(module=node.module, names=[ast.alias(name=name)], level=node.level))
        for node, file in _imported_modules(text, path, root)
        if "here" in module_bindings(read_text(file) or "").get(name, ())
    }
    return next(iter(found.values())) if len(found) == 1 else ""


def _imported_modules(text: str, path: str, root: Path) -> Iterator[tuple[ast.ImportFrom, str]]:
    """Each statement at the top of a file that imports names from a module of the project, with that module's file."""
    module = parse_module(text)
    for node in () if isinstance(module, SyntaxError) else module.body:
        if isinstance(node, ast.ImportFrom):
            name = sources.absolute_module(node.module or "", node.level, path)
            file = sources.find_module(name, root, path)
            if file is not None and file != path:
                yield node, file


def with_names(
    rows: Sequence[str],
    node: ast.Import | ast.ImportFrom,
    aliases: Sequence[tuple[ast.alias, str]],
    removed: Sequence[ast.alias],
) -> str:
    """The lines of a statement with other names for these aliases, and without the removed ones."""
    changed = [row.encode() for row in rows]
    for alias, right in sorted(aliases, key=lambda each: (each[0].lineno, each[0].col_offset), reverse=True):
        at, start = alias.lineno - node.lineno, alias.col_offset
        row = changed[at]
        changed[at] = row[:start] + right.encode() + row[start + len(alias.name.encode()) :]
    if not removed:
        return b"\n".join(changed).decode() + "\n"
    kept = [each for each in node.names if each not in removed]
    lines = {each.lineno for each in removed}
    if not kept:
        return ""
    if lines.isdisjoint({node.lineno, node.end_lineno, *(each.lineno for each in kept)}):
        return b"\n".join(row for at, row in enumerate(changed) if at + node.lineno not in lines).decode() + "\n"
    spelled = {id(alias): right for alias, right in aliases}
    names = [ast.alias(name=spelled.get(id(each), each.name), asname=each.asname) for each in kept]
    module, level = (node.module, node.level) if isinstance(node, ast.ImportFrom) else (None, 0)
    tail = changed[-1][node.end_col_offset :].decode().rstrip()
    statement = ast.unparse(ast.ImportFrom(module=module, names=names, level=level))
    return f"{rows[0][: node.col_offset]}{statement}{tail}\n"


def correct_attribute(module: str, name: str, line: int, text: str, path: str) -> list[ImportCorrection]:
    """A line at the top of a file that reads what its Python has elsewhere now, and the import of that."""
    present = present_name(module, name)
    tree = parse_module(text)
    inside = definitions.enclosing_definition(text, line, path)
    if present is None or not isinstance(tree, ast.Module) or (inside and inside.kind == "function"):
        return []
    place, spelled = present
    rows, written = text.split("\n"), spelled if place == BUILT_IN else f"{place}.{spelled}"
    new = re.sub(rf"(?<![\w.]){re.escape(module)}\.{name}\b", written, rows[line - 1])
    imports = [each for each in tree.body if isinstance(each, ast.Import) and ast.unparse(each) == f"import {module}"]
    if new == rows[line - 1] or not imports:
        return []
    region = Region(path=path, qualname=name, start=line, end=line, imports=True)
    found = [ImportCorrection(region=region, text=f"{new}\n", renamed={}, uses=())]
    if place not in (BUILT_IN, module):
        added = f"import {place}\n" if place.startswith(f"{module}.") else f"import {module}\nimport {place}\n"
        at = imports[0].lineno
        region = Region(path=path, qualname=module, start=at, end=at, imports=True)
        found.append(ImportCorrection(region=region, text=added, renamed={}, uses=()))
    return found
