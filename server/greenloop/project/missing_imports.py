"""The imports of names that a module lacks, where only one can be meant.

A name is known if it is one of the standard library, or if exactly one of the project's modules that the module imports
names from defines it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from greenloop.core.python.ast_source import parse_module
from greenloop.core.python.names import module_bindings
from greenloop.core.python.standard_names import standard_import
from greenloop.project import sources


def find_imports(text: str, path: str, names: Iterable[str], root: Path, read_text: sources.ReadText) -> list[str]:
    """The statements that import those of the names that are known, in their order."""
    statements = (standard_import(name, text) or _import_beside(text, path, name, root, read_text) for name in names)
    return [statement for statement in statements if statement]


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
