"""Attributes of modules of the standard library that an older Python had, where a file reads them as it is imported."""

from __future__ import annotations

import ast
import re

from greenloop.core.python.ast_source import parse_module
from greenloop.core.python.standard_names import BUILT_IN, present_name
from greenloop.core.records.problem import ImportCorrection
from greenloop.core.records.spec import Region
from greenloop.project.syntax import definitions


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
