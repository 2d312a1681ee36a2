"""How a test file reaches what it tests: by the imports it has already, else by one more."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from greenloop.core.diff import flat
from greenloop.core.names import bound_by
from greenloop.core.source import tree


@dataclass(frozen=True, kw_only=True)
class Access:
    """How a file reaches names of the module: `spelled` (`m.f`) by name, and the imports it still needs."""

    spelled: Mapping[str, str]
    imports: tuple[str, ...]


def access(text: str, module: str, own: Sequence[str], names: Sequence[str]) -> Access:
    """The way this file imports `module`; `own` are the ways in which it is spelled there (`.m`, `pkg.m`)."""
    parsed = tree(flat(text))
    body = [] if isinstance(parsed, SyntaxError) else parsed.body
    spelled: dict[str, str] = {}
    prefix = source = ""
    for node in body:
        if isinstance(node, ast.ImportFrom):
            written = "." * node.level + (node.module or "")
            if written in own:
                source = source or written
                spelled |= {each.name: each.asname or each.name for each in node.names}
            for each in node.names:
                if f"{written}{'' if written.endswith('.') else '.'}{each.name}" in own:
                    prefix = prefix or each.asname or each.name
        elif isinstance(node, ast.Import):
            prefix = prefix or next((each.asname or each.name for each in node.names if each.name in own), "")
    taken = set().union(*(bound_by(node) for node in body)) if body else set()
    found: dict[str, str] = {}
    imports: list[str] = []
    for name in names:
        if name in spelled:
            found[name] = spelled[name]
        elif prefix:
            found[name] = f"{prefix}.{name}"
        elif name in taken:  # something else has that name here
            imports.append(f"import {module}")
            found[name] = f"{module}.{name}"
        else:
            imports.append(f"from {source or module} import {name}")
            found[name] = name
    plain = [line for line in imports if line.startswith("from ")]
    joined = (
        [f"from {source or module} import {', '.join(sorted(line.split()[-1] for line in plain))}"] if plain else []
    )
    return Access(spelled=found, imports=tuple(dict.fromkeys([*joined, *(i for i in imports if i not in plain)])))
