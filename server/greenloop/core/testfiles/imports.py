"""Resolves how a test file refers to the module under test: by existing imports, else by a new one."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from greenloop.core.python.ast_source import parse_module
from greenloop.core.python.names import bound_names
from greenloop.core.text.diff import with_plain_ends


@dataclass(frozen=True, kw_only=True)
class TargetImports:
    """The spelling of the module's names in a file (`m.f`), by name, and the imports that it still needs."""

    spellings: Mapping[str, str]
    imports: tuple[str, ...]


def resolve_imports(text: str, module: str, own_names: Sequence[str], names: Sequence[str]) -> TargetImports:
    """How this file imports `names` of `module`; `own_names` are its possible spellings there (`.m`, `pkg.m`)."""
    parsed = parse_module(with_plain_ends(text))
    body = [] if isinstance(parsed, SyntaxError) else parsed.body
    spelled: dict[str, str] = {}
    prefix = source = ""
    for node in body:
        if isinstance(node, ast.ImportFrom):
            imported_from = "." * node.level + (node.module or "")
            if imported_from in own_names:
                source = source or imported_from
                spelled |= {alias.name: alias.asname or alias.name for alias in node.names}
            for alias in node.names:
                if f"{imported_from}{'' if imported_from.endswith('.') else '.'}{alias.name}" in own_names:
                    prefix = prefix or alias.asname or alias.name
        elif isinstance(node, ast.Import):
            prefix = prefix or next((alias.asname or alias.name for alias in node.names if alias.name in own_names), "")
    file_names = set().union(*(bound_names(node) for node in body)) if body else set()
    resolved: dict[str, str] = {}
    imports: list[str] = []
    for name in names:
        if name in spelled:
            resolved[name] = spelled[name]
        elif prefix:
            resolved[name] = f"{prefix}.{name}"
        elif name in file_names:  # the file uses that name for another object
            imports.append(f"import {module}")
            resolved[name] = f"{module}.{name}"
        else:
            imports.append(f"from {source or module} import {name}")
            resolved[name] = name
    from_imports = [line for line in imports if line.startswith("from ")]
    merged_import = (
        [f"from {source or module} import {', '.join(sorted(line.split()[-1] for line in from_imports))}"]
        if from_imports
        else []
    )
    return TargetImports(
        spellings=resolved,
        imports=tuple(dict.fromkeys([*merged_import, *(other for other in imports if other not in from_imports)])),
    )
