"""What can be counted in a function without running it: lines, branches, nesting, calls of itself, names it takes.

Pure functions of syntax trees. Nested functions and classes count as part of the function that holds them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from greenloop.core.names import import_keys
from greenloop.core.source import FUNCTIONS, Function, blocks, docstring

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_NESTING = (ast.If, *_LOOPS, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)


def length(node: Function, rows: Sequence[str]) -> int:
    """Lines of code from `def` on; decorators, the docstring, comments and blank lines do not count."""
    doc = docstring(node)
    skipped = range(doc.lineno, (doc.end_lineno or doc.lineno) + 1) if doc else range(0)
    numbers = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    mine = (rows[number - 1].strip() for number in numbers if number not in skipped)
    return sum(bool(row) and not row.startswith("#") for row in mine)


def complexity(node: Function) -> int:
    """Ways through the function (McCabe, "A Complexity Measure", 1976), counted as ruff's C901 counts them."""
    return 1 + _branches(node.body)


def _branches(body: Sequence[ast.stmt]) -> int:
    found = 0
    for node in body:
        found += isinstance(node, (ast.If, *_LOOPS, *FUNCTIONS))
        if isinstance(node, ast.Try | ast.TryStar):
            found += len(node.handlers) + bool(node.orelse)
        if isinstance(node, ast.Match):
            last = node.cases[-1]
            rest = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None and last.guard is None
            found += len(node.cases) - rest
        if isinstance(node, ast.ClassDef):
            found += _branches([item for item in node.body if isinstance(item, FUNCTIONS)])
        else:
            found += sum(_branches(block) for block in blocks(node))
    return found


def nesting(body: Sequence[ast.stmt]) -> int:
    """How deep compound statements stand in one another; `elif` is as deep as its `if`."""
    deepest = 0
    for node in body:
        deeper = isinstance(node, _NESTING)
        for block in blocks(node):
            chained = isinstance(node, ast.If) and block is node.orelse and _is_elif(node)
            deepest = max(deepest, nesting(block) + (deeper and not chained))
    return deepest


def _is_elif(node: ast.If) -> bool:
    return len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) and node.orelse[0].col_offset == node.col_offset


def imports(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, int]]:
    """Modules that code imports, as it names them, with the line; also by `__import__` and `import_module`."""
    for node in _walk(nodes):
        if isinstance(node, ast.Import):
            yield from ((item.name, node.lineno) for item in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node.lineno
        elif isinstance(node, ast.Call) and _last(node.func) in ("__import__", "import_module"):
            first = node.args[0] if node.args else None
            known = isinstance(first, ast.Constant) and isinstance(first.value, str)
            yield str(first.value) if isinstance(first, ast.Constant) and known else "a computed name", node.lineno


def mentions(nodes: Sequence[ast.AST], module: ast.Module) -> Iterator[tuple[str, int]]:
    """Names that code reads, dotted ones seen through the module's import aliases, attributes also by themselves."""
    aliases = {
        name: key.replace(":", ".")
        for node in _walk([module])
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name, key in import_keys(node).items()
    }
    for node in _walk(nodes):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id, node.lineno
            yield _resolved(node.id, aliases), node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, node.lineno
            yield _resolved(_dotted(node), aliases), node.lineno
    for name, line in imports(nodes):
        yield name, line
        yield name.split(".")[0], line


def _resolved(dotted: str, aliases: Mapping[str, str]) -> str:
    head, dot, rest = dotted.partition(".")
    return f"{aliases.get(head, head)}{dot}{rest}".removeprefix("builtins.")


def _dotted(node: ast.expr) -> str:
    """`os.path.join`; of what does not begin with a name only the attributes."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([*([node.id] if isinstance(node, ast.Name) else []), *reversed(parts)])


def recursion(functions: Sequence[Function]) -> Iterator[tuple[str, int]]:
    """Functions, nested ones included, that call themselves, be it by way of one another; with the line of the call.

    A method calls itself by `self.` or `cls.` only: `sorted(x)` in a method `sorted` is another function.
    """
    every = [item for node in functions for item in ast.walk(node) if isinstance(item, FUNCTIONS)]
    calls = {
        (_is_method(node), node.name): [
            (called, each.lineno)
            for each in ast.walk(node)
            if isinstance(each, ast.Call) and (called := _called(each.func))
        ]
        for node in every
    }
    for key, found in calls.items():
        for called, line in found:
            if key in _reached(called, calls):
                yield key[1], line
                break


Key = tuple[bool, str]  # is it a method, and its name


def _is_method(node: Function) -> bool:
    plain = [*node.args.posonlyargs, *node.args.args]
    return bool(plain) and plain[0].arg in ("self", "cls")


def _called(node: ast.expr) -> Key | None:
    if isinstance(node, ast.Name):
        return False, node.id
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    return (True, node.attr) if own and isinstance(node, ast.Attribute) else None


def _reached(start: Key, calls: Mapping[Key, Sequence[tuple[Key, int]]]) -> set[Key]:
    seen: set[Key] = set()
    waiting = [start]
    while waiting:
        key = waiting.pop()
        if key in calls and key not in seen:
            seen.add(key)
            waiting += [called for called, _line in calls[key]]
    return seen


def global_names(functions: Sequence[Function], module: ast.Module) -> Iterator[tuple[str, int]]:
    """Variables of the module that code reads or changes; what begins with a capital is a constant or a type."""
    variables: set[str] = set()
    for item in module.body:
        targets: list[ast.expr] = []
        if isinstance(item, ast.Assign):
            targets = item.targets
        elif isinstance(item, ast.AnnAssign | ast.AugAssign):
            targets = [item.target]
        variables |= {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
    for function in functions:
        inside = list(_walk([*function.body, *function.args.defaults]))
        declared = {name for node in inside if isinstance(node, ast.Global) for name in node.names}
        yield from ((name, node.lineno) for node in inside if isinstance(node, ast.Global) for name in node.names)
        own = {node.id for node in inside if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
        own |= {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
        for node in inside:
            shared = isinstance(node, ast.Name) and node.id in variables - (own - declared)
            if shared and isinstance(node, ast.Name) and not node.id[0].isupper():
                yield node.id, node.lineno


def unannotated(node: Function) -> Iterator[str]:
    """Parameters without annotation (`self` and `cls` need none), and `return`."""
    plain = [*node.args.posonlyargs, *node.args.args]
    if plain and plain[0].arg in ("self", "cls"):
        plain = plain[1:]
    stars = [each for each in (node.args.vararg, node.args.kwarg) if each]
    yield from (each.arg for each in [*plain, *node.args.kwonlyargs, *stars] if each.annotation is None)
    if node.returns is None:
        yield "return"


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _walk(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for node in nodes:
        yield from ast.walk(node)
