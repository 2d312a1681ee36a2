"""Names that a module binds, uses and lacks, from the compiler's symbol tables."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Callable, Iterator, Sequence

from greenloop.core.python.ast_source import (
    DEFINITIONS,
    FUNCTIONS,
    UNPARSABLE,
    Fragment,
    parse_fragment,
    parse_module,
    parse_module_strictly,
    statement_blocks,
    statements_of,
)
from greenloop.core.text.diff import with_plain_ends

# Builtins of this interpreter, and names that other supported versions, `site` or notebooks add.
KNOWN = set(dir(builtins)) | {
    "PythonFinalizationError", "EncodingWarning", "ExceptionGroup", "BaseExceptionGroup", "WindowsError",
    "exit", "quit", "copyright", "credits", "license", "reveal_type", "reveal_locals", "aiter", "anext", "_",
}  # fmt: skip

# Code with one of these may bind names that no symbol table shows.
_DYNAMIC = re.compile(
    r"\b(?:globals|locals|vars|exec|eval|builtins|__builtins__|__dict__|sys\.modules)\b|\bimport\s*\(?\s*\*"
)
_TOP_DEFINITION = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)


def import_keys(node: ast.stmt) -> dict[str, str]:
    """The imported object of each name that an import binds (`np` → `numpy`, `loads` → `json:loads`)."""
    if isinstance(node, ast.Import):
        return {item.asname or item.name.split(".")[0]: item.name for item in node.names}
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        return {item.asname or item.name: f"{module}:{item.name}" for item in node.names}
    return {}


def module_bindings(text: str) -> dict[str, set[str]]:
    """Names that a module binds at its top level, each with its import keys, or `here` for its own definitions.

    Imports for type checkers only do not count. A broken module is parsed as far as possible; its definitions are also
    found by a pattern.
    """
    text = with_plain_ends(text)
    keys_by_name: dict[str, set[str]] = {}
    module = parse_module(text)
    if isinstance(module, SyntaxError):
        for match in _TOP_DEFINITION.finditer(text):
            keys_by_name.setdefault(match[1] or match[2], set()).add("here")
        module = parsable_prefix(text)
    for node in _import_time_statements(module.body):
        for name, key in import_keys(node).items():
            keys_by_name.setdefault(name, set()).add(key)
        if not isinstance(node, ast.Import | ast.ImportFrom):
            for name in bound_names(node):
                keys_by_name.setdefault(name, set()).add("here")
    return keys_by_name


def parsable_prefix(text: str) -> ast.Module:
    """The tree of the leading part of a broken module that parses."""
    lines = with_plain_ends(text).split("\n")
    while lines:
        module = parse_module("\n".join(lines))
        if isinstance(module, ast.Module):
            return module
        lines = lines[: min(max((module.lineno or 1) - 1, 0), len(lines) - 1)]
    return ast.Module(body=[], type_ignores=[])


def bound_names(node: ast.stmt) -> set[str]:
    """Names that a top-level statement binds in its own scope."""
    if isinstance(node, DEFINITIONS):
        return {node.name}
    if keys := import_keys(node):
        return set(keys)
    names: set[str] = set()
    waiting: list[ast.AST] = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, DEFINITIONS):
            names.add(current.name)
            continue
        if isinstance(current, ast.Import | ast.ImportFrom):
            names |= set(import_keys(current))
        if isinstance(current, ast.Name) and isinstance(current.ctx, ast.Store):
            names.add(current.id)
        if not isinstance(current, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            waiting += ast.iter_child_nodes(current)
    return names


def defined_names(text: str) -> set[str]:
    """Names that the statements of a module or fragment bind in its own scope; none where it cannot be parsed."""
    return {name for node in statements_of(text) for name in bound_names(node)}


def free_names(text: str, make_table: Callable[..., symtable.SymbolTable] = symtable.symtable) -> set[str]:
    """Names that code takes from its module, an enclosing scope or the builtins."""
    fragment = parse_fragment(text)
    if isinstance(fragment, SyntaxError):
        return set()
    try:
        table = make_table("\n".join(fragment.lines), "<candidate>", "exec")
    except UNPARSABLE:
        return set()
    names = {name for name, _table in _global_references(table)}
    return names | _names_in_text_annotations(fragment)


def undefined_names(text: str, make_table: Callable[..., symtable.SymbolTable] = symtable.symtable) -> dict[str, int]:
    """Names that a module uses but never binds, each with its first line. Empty where this is not certain."""
    text = with_plain_ends(text)
    module = parse_module(text)
    if isinstance(module, SyntaxError) or _DYNAMIC.search(text):
        return {}
    try:
        table = make_table(text, "<candidate>", "exec")
    except UNPARSABLE:
        return {}
    bound = {item.get_name() for item in table.get_symbols() if _is_bound(item)}
    for inner in _tables(table):
        bound |= {item.get_name() for item in inner.get_symbols() if item.is_declared_global() and _is_bound(item)}
    used = {name for name, _table in _global_references(table)}
    missing = {name for name in used - bound - KNOWN if not (name.startswith("__") and name.endswith("__"))}
    if not missing:
        return {}
    lines = _looked_up_lines(module, missing)
    return {name: lines[name] for name in sorted(lines, key=lambda missing_name: (lines[missing_name], missing_name))}


def undefined_at_import(text: str) -> set[str]:
    """The undefined names that Python looks up when it imports the module: those outside the bodies of functions."""
    if not undefined_names(text):
        return set()
    module = parse_module_strictly(with_plain_ends(text))
    for node in ast.walk(module):
        if isinstance(node, FUNCTIONS):
            node.body = [ast.Pass()]
    return set(undefined_names(ast.unparse(module)))


def _import_time_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields the statements that run when a module is imported, also those inside `if`, `try` and `with`."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from _import_time_statements(node.orelse)
            continue
        yield node
        if not isinstance(node, DEFINITIONS):
            for inner in statement_blocks(node):
                yield from _import_time_statements(inner)


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


def _names_in_text_annotations(tree: Fragment) -> set[str]:
    names: set[str] = set()
    for node in (inner for item in tree.body for inner in ast.walk(item)):
        annotations = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        for annotation in (inner for root in annotations if isinstance(root, ast.AST) for inner in ast.walk(root)):
            if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
                names |= set(re.findall(r"[^\W\d]\w*", annotation.value))
    return names


def _looked_up_lines(module: ast.Module, missing: set[str]) -> dict[str, int]:
    """First lines of the missing names that Python really looks up.

    Ignores annotations of local variables and, with the future import, all annotations; also anything under a `try`
    that catches NameError or under a test of the Python version.
    """
    postponed = any("__future__:annotations" in import_keys(node).values() for node in module.body)
    first_lines: dict[str, int] = {}
    guarded: set[str] = set()

    def visit(node: ast.AST, *, local: bool, safe: bool) -> None:
        if isinstance(node, ast.Name) and node.id in missing and isinstance(node.ctx, ast.Load):
            if safe:
                guarded.add(node.id)
            else:
                first_lines[node.id] = min(first_lines.get(node.id, node.lineno), node.lineno)
        safe = safe or (isinstance(node, ast.Try | ast.If | ast.IfExp) and _guards(node))
        for name, value in ast.iter_fields(node):
            skipped = name in ("annotation", "returns") and (postponed or (local and isinstance(node, ast.AnnAssign)))
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not skipped:
                    inside = local or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                    visit(child, local=inside and not isinstance(node, ast.ClassDef), safe=safe)

    visit(module, local=False, safe=False)
    return {name: line for name, line in first_lines.items() if name not in guarded}


def _guards(node: ast.AST) -> bool:
    if isinstance(node, ast.Try):
        caught = [handler.type for handler in node.handlers]
        return any(
            kind is None or re.search(r"'(NameError|Exception|BaseException)'", ast.dump(kind)) for kind in caught
        )
    test = ast.dump(node.test) if isinstance(node, ast.If | ast.IfExp) else ""
    return bool(re.search(r"version_info|PY2|PY3|TYPE_CHECKING|hexversion", test))
