"""Which names a module binds, uses and lacks, by the compiler's own symbol tables."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Iterator, Sequence

from greenloop.core.diff import flat
from greenloop.core.source import DEFINITIONS, Piece, blocks, piece, tree

# Beside the interpreter's own: names that other supported versions, `site` or notebooks put there.
KNOWN = set(dir(builtins)) | {
    "PythonFinalizationError", "EncodingWarning", "ExceptionGroup", "BaseExceptionGroup", "WindowsError",
    "exit", "quit", "copyright", "credits", "license", "reveal_type", "reveal_locals", "aiter", "anext", "_",
}  # fmt: skip

# Whoever writes one of these may bind names that no symbol table sees.
_DYNAMIC = re.compile(
    r"\b(?:globals|locals|vars|exec|eval|builtins|__builtins__|__dict__|sys\.modules)\b|\bimport\s*\(?\s*\*"
)
_TOP_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)


def import_keys(node: ast.stmt) -> dict[str, str]:
    """What each name of an import statement stands for (`np` → `numpy`, `loads` → `json:loads`)."""
    if isinstance(node, ast.Import):
        return {item.asname or item.name.split(".")[0]: item.name for item in node.names}
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        return {item.asname or item.name: f"{module}:{item.name}" for item in node.names}
    return {}


def bindings(text: str) -> dict[str, set[str]]:
    """Names that a module binds at its top level, with what they stand for: import keys, or `here`.

    Imports for type checkers only do not count. Broken modules are read as far as they parse, the rest by its look.
    """
    text = flat(text)
    found: dict[str, set[str]] = {}
    module = tree(text)
    if isinstance(module, SyntaxError):
        for match in _TOP_DEFINITION.finditer(text):
            found.setdefault(match[1] or match[2], set()).add("here")
        module = parsable_prefix(text)
    for node in _top(module.body):
        for name, key in import_keys(node).items():
            found.setdefault(name, set()).add(key)
        if not isinstance(node, ast.Import | ast.ImportFrom):
            for name in bound_by(node):
                found.setdefault(name, set()).add("here")
    return found


def parsable_prefix(text: str) -> ast.Module:
    """The tree of a broken module as far down as it parses."""
    lines = flat(text).split("\n")
    while lines:
        module = tree("\n".join(lines))
        if isinstance(module, ast.Module):
            return module
        lines = lines[: min(max((module.lineno or 1) - 1, 0), len(lines) - 1)]
    return ast.Module(body=[], type_ignores=[])


def bound_by(node: ast.stmt) -> set[str]:
    """Names that a top-level statement binds in its own scope."""
    if isinstance(node, DEFINITIONS):
        return {node.name}
    if keys := import_keys(node):
        return set(keys)
    names: set[str] = set()
    waiting: list[ast.AST] = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item, DEFINITIONS):
            names.add(item.name)
            continue
        if isinstance(item, ast.Import | ast.ImportFrom):
            names |= set(import_keys(item))
        if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store):
            names.add(item.id)
        if not isinstance(item, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            waiting += ast.iter_child_nodes(item)
    return names


def free_names(text: str) -> set[str]:
    """Names that code takes from outside: from its module, an enclosing scope or the builtins."""
    found = piece(text)
    if isinstance(found, SyntaxError):
        return set()
    try:
        table = symtable.symtable("\n".join(found.lines), "<candidate>", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return set()
    names = {name for name, _table in _global_references(table)}
    return names | _names_in_text_annotations(found)


def undefined(text: str) -> dict[str, int]:
    """Names that a module uses and nobody binds, each with its first line. Empty where that cannot be told for sure."""
    text = flat(text)
    module = tree(text)
    if isinstance(module, SyntaxError) or _DYNAMIC.search(text):
        return {}
    try:
        table = symtable.symtable(text, "<candidate>", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return {}
    bound = {item.get_name() for item in table.get_symbols() if _is_bound(item)}
    for inner in _tables(table):
        bound |= {item.get_name() for item in inner.get_symbols() if item.is_declared_global() and _is_bound(item)}
    used = {name for name, _table in _global_references(table)}
    missing = {name for name in used - bound - KNOWN if not (name.startswith("__") and name.endswith("__"))}
    if not missing:
        return {}
    lines = _evaluated(module, missing)
    return {name: lines[name] for name in sorted(lines, key=lambda one: (lines[one], one))}


def _top(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run when a module is imported, those inside `if`, `try` and `with` too."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from _top(node.orelse)
            continue
        yield node
        if not isinstance(node, DEFINITIONS):
            for inner in blocks(node):
                yield from _top(inner)


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


def _is_bound(item: symtable.Symbol) -> bool:
    return item.is_assigned() or item.is_imported() or item.is_namespace()


def _global_references(table: symtable.SymbolTable) -> Iterator[tuple[str, symtable.SymbolTable]]:
    for inner in _tables(table):
        for item in inner.get_symbols():
            top = inner.get_type() == "module"
            if item.is_referenced() and (item.is_global() or top) and not (top and _is_bound(item)):
                yield item.get_name(), inner


def _names_in_text_annotations(found: Piece) -> set[str]:
    names: set[str] = set()
    for node in (inner for item in found.body for inner in ast.walk(item)):
        marks = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        for mark in (inner for one in marks if isinstance(one, ast.AST) for inner in ast.walk(one)):
            if isinstance(mark, ast.Constant) and isinstance(mark.value, str):
                names |= set(re.findall(r"[^\W\d]\w*", mark.value))
    return names


def _evaluated(module: ast.Module, missing: set[str]) -> dict[str, int]:
    """First lines of the missing names that Python will really look up.

    Left out: annotations of local variables and, with the future import, all annotations; anything under a `try` that
    catches NameError or under a test of the Python version.
    """
    postponed = any("__future__:annotations" in import_keys(node).values() for node in module.body)
    found: dict[str, int] = {}
    guarded: set[str] = set()

    def visit(node: ast.AST, *, local: bool, safe: bool) -> None:
        if isinstance(node, ast.Name) and node.id in missing and isinstance(node.ctx, ast.Load):
            if safe:
                guarded.add(node.id)
            else:
                found[node.id] = min(found.get(node.id, node.lineno), node.lineno)
        safe = safe or (isinstance(node, ast.Try | ast.If | ast.IfExp) and _guards(node))
        for name, value in ast.iter_fields(node):
            skipped = name in ("annotation", "returns") and (postponed or (local and isinstance(node, ast.AnnAssign)))
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not skipped:
                    inside = local or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                    visit(child, local=inside and not isinstance(node, ast.ClassDef), safe=safe)

    visit(module, local=False, safe=False)
    return {name: line for name, line in found.items() if name not in guarded}


def _guards(node: ast.AST) -> bool:
    if isinstance(node, ast.Try):
        caught = [handler.type for handler in node.handlers]
        return any(
            kind is None or re.search(r"'(NameError|Exception|BaseException)'", ast.dump(kind)) for kind in caught
        )
    test = ast.dump(node.test) if isinstance(node, ast.If | ast.IfExp) else ""
    return bool(re.search(r"version_info|PY2|PY3|TYPE_CHECKING|hexversion", test))
