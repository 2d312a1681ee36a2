"""Measures functions without running them: lines, branches, nesting, recursion, names they use.

Pure functions of syntax trees. Nested functions and classes count as part of the function that holds them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from greenloop.core.python.ast_source import (
    FUNCTIONS,
    Definition,
    Function,
    docstring_statement,
    find_definitions,
    statement_blocks,
)
from greenloop.core.python.names import import_keys

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_NESTING = (ast.If, *_LOOPS, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)


def line_count(node: Function, rows: Sequence[str]) -> int:
    """Lines of code from `def` on; decorators, the docstring, comments and blank lines do not count."""
    docstring = docstring_statement(node)
    skipped = range(docstring.lineno, (docstring.end_lineno or 0) + 1) if docstring else ()
    line_numbers = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    code_rows = (rows[number - 1].strip() for number in line_numbers if number not in skipped)
    return sum(bool(row) and not row.startswith("#") for row in code_rows)


def complexity(node: Function) -> int:
    """Cyclomatic complexity (McCabe, "A Complexity Measure", 1976), counted as ruff's C901 counts it."""
    return 1 + _branches(node.body)


def _branches(body: Sequence[ast.stmt]) -> int:
    count = 0
    for node in body:
        count += isinstance(node, (ast.If, *_LOOPS, *FUNCTIONS))
        if isinstance(node, ast.Try | ast.TryStar):
            count += len(node.handlers) + bool(node.orelse)
        if isinstance(node, ast.Match):
            last = node.cases[-1]
            is_wildcard = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
            count += len(node.cases) - is_wildcard
        if isinstance(node, ast.ClassDef):
            count += _branches([item for item in node.body if isinstance(item, FUNCTIONS)])
        else:
            count += sum(_branches(block) for block in statement_blocks(node))
    return count


def nesting(body: Sequence[ast.stmt]) -> int:
    """Returns how deeply compound statements are nested; `elif` is as deep as its `if`."""
    deepest = 0
    for node in body:
        is_nested = isinstance(node, _NESTING)
        for block in statement_blocks(node):
            is_elif = isinstance(node, ast.If) and block is node.orelse and _is_elif(node)
            deepest = max(deepest, nesting(block) + (is_nested and not is_elif))
    return deepest


def _is_elif(node: ast.If) -> bool:
    return len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) and node.orelse[0].col_offset == node.col_offset


def imports(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, int]]:
    """Modules that the code imports, with the line; also through `__import__` and `import_module`."""
    for node in _walk(nodes):
        if isinstance(node, ast.Import):
            yield from ((item.name, node.lineno) for item in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in (
            "__import__",
            "import_module",
        ):
            name = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
            yield name if isinstance(name, str) else "a computed name", node.lineno


def names_read(nodes: Sequence[ast.AST], module: ast.Module) -> Iterator[tuple[str, int]]:
    """Names that the code reads: import aliases are resolved, attributes count on their own too."""
    aliases = {
        name: key.replace(":", ".")
        for node in _walk([module])
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name, key in import_keys(node).items()
    }
    for node in _walk(nodes):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id, node.lineno
            yield _resolve(node.id, aliases), node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, node.lineno
            yield _resolve(_dotted(node), aliases), node.lineno
    for name, line in imports(nodes):
        yield name, line
        yield name.split(".")[0], line


def _resolve(dotted: str, aliases: Mapping[str, str]) -> str:
    head, dot, rest = dotted.partition(".")
    return f"{aliases.get(head, head)}{dot}{rest}".removeprefix("builtins.")


def _dotted(node: ast.expr) -> str:
    """`os.path.join`; only the attributes where it does not begin with a name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([*([node.id] if isinstance(node, ast.Name) else []), *reversed(parts)])


def recursion(functions: Sequence[Function]) -> Iterator[tuple[str, int]]:
    """Functions, including nested ones, that call themselves, directly or through each other; with the call's line.

    A method calls itself through `self.` or `cls.` only: `sorted(x)` in a method `sorted` is another function.
    """
    calls: dict[Key, list[tuple[Key, int]]] = {}
    for node in (item for function in functions for item in ast.walk(function) if isinstance(item, FUNCTIONS)):
        called = ((_called_key(each.func), each.lineno) for each in ast.walk(node) if isinstance(each, ast.Call))
        calls[_is_method(node), node.name] = [(key, line) for key, line in called if key]
    for own_key, own_calls in calls.items():
        line = next((line for key, line in own_calls if own_key in _reached(key, calls)), 0)
        if line:
            yield own_key[1], line


def own_functions(node: Definition, module: ast.Module) -> set[Function]:
    """The function, or the methods of the class, with nested functions and those of the module that they call.

    Calls count as in `recursion`; of several definitions of one name the last one counts.
    """
    known: dict[Key, Function] = {}
    for _name, each in find_definitions(module.body):
        if isinstance(each, FUNCTIONS):
            known[_is_method(each), each.name] = each
    found: set[Function] = set()
    pending: list[ast.AST] = [node]
    while pending:
        for inner in (each for each in ast.walk(pending.pop()) if isinstance(each, FUNCTIONS) and each not in found):
            found.add(inner)
            pending += [known[key] for key in called_names(inner) if key in known]
    return found


def called_names(node: ast.AST) -> set[Key]:
    """Returns the names that the code calls: plain ones, and those on `self` or `cls`."""
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
    return {key for each in calls if (key := _called_key(each.func)) is not None}


Key = tuple[bool, str]  # is it a method, and its name


def _is_method(node: Function) -> bool:
    positional = [*node.args.posonlyargs, *node.args.args]
    return bool(positional) and positional[0].arg in ("self", "cls")


def _called_key(node: ast.expr) -> Key | None:
    if isinstance(node, ast.Name):
        return False, node.id
    on_self = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    return (True, node.attr) if on_self and isinstance(node, ast.Attribute) else None


def _reached(start: Key, calls: Mapping[Key, Sequence[tuple[Key, int]]]) -> set[Key]:
    reached: set[Key] = set()
    pending = [start]
    while pending:
        key = pending.pop()
        if key in calls and key not in reached:
            reached.add(key)
            pending += [called for called, _line in calls[key]]
    return reached


def global_names(functions: Sequence[Function], module: ast.Module) -> Iterator[tuple[str, int]]:
    """Module variables that the code reads or changes; capitalised names, constants and types, do not count."""
    assignments = [item for item in module.body if isinstance(item, ast.Assign | ast.AnnAssign | ast.AugAssign)]
    targets = [
        target for item in assignments for target in (item.targets if isinstance(item, ast.Assign) else [item.target])
    ]
    variables = {name.id for name in _walk(targets) if isinstance(name, ast.Name)}
    for function in functions:
        nodes = list(_walk([*function.body, *function.args.defaults]))
        declared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
        yield from ((name, node.lineno) for node in nodes if isinstance(node, ast.Global) for name in node.names)
        local_names = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
        local_names |= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
        read_globals = variables - (local_names - declared)
        for node in nodes:
            if isinstance(node, ast.Name) and node.id in read_globals and not node.id[0].isupper():
                yield node.id, node.lineno


def unannotated_parameters(node: Function) -> Iterator[str]:
    """Parameters without an annotation (`self` and `cls` need none), and `return`."""
    positional = [*node.args.posonlyargs, *node.args.args]
    if positional and positional[0].arg in ("self", "cls"):
        positional = positional[1:]
    variadic = [each for each in (node.args.vararg, node.args.kwarg) if each]
    yield from (each.arg for each in [*positional, *node.args.kwonlyargs, *variadic] if each.annotation is None)
    if node.returns is None:
        yield "return"


def _walk(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        yield from ast.walk(node)
