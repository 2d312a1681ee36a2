"""Resolves how a test file refers to the module under test: by existing imports, else by a new one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from greenloop.core.python.ast_source import statements_of
from greenloop.core.python.names import bound_names


@dataclass(frozen=True, kw_only=True)
class TargetImports:
    """The spelling of the module's names in a file (`m.f`), by name, and the imports that it still needs."""

    spellings: Mapping[str, str]
    imports: tuple[str, ...]


def resolve_imports(text: str, module: str, is_target: Callable[[str], bool], names: Sequence[str]) -> TargetImports:
    """How this file imports `names` of `module`; `is_target` recognises its spellings there (`.m`, `pkg.m`)."""
    body = statements_of(text)
    spelled: dict[str, str] = {}
    prefix = source = ""
    for node in body:
        if isinstance(node, ast.ImportFrom):
            imported_from = "." * node.level + (node.module or "")
            if is_target(imported_from):
                source = source or imported_from
                spelled |= {alias.name: alias.asname or alias.name for alias in node.names}
            dot = "" if imported_from.endswith(".") else "."
            modules = [alias for alias in node.names if is_target(f"{imported_from}{dot}{alias.name}")]
        else:
            modules = [alias for alias in node.names if is_target(alias.name)] if isinstance(node, ast.Import) else []
        prefix = prefix or next((alias.asname or alias.name for alias in modules), "")
    used_names = set().union(*(bound_names(node) for node in body))
    imports: dict[str, None] = {}
    resolved: dict[str, str] = {}
    new_names = [name for name in names if name not in spelled and not prefix and name not in used_names]
    if new_names:
        imports[f"from {source or module} import {', '.join(new_names)}"] = None
    for name in names:
        if name in spelled or name in new_names:
            resolved[name] = spelled.get(name, name)
        elif prefix:
            resolved[name] = f"{prefix}.{name}"
        else:  # the file uses that name for another object
            imports[f"import {module}"] = None
            resolved[name] = f"{module}.{name}"
    return TargetImports(spellings=resolved, imports=tuple(imports))
