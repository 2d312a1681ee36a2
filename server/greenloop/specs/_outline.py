"""What writes tests may see of the code: signatures and docstrings, rebuilt from the syntax tree without any body.

A tester that sees code writes tests that the code passes (AgentCoder, arXiv 2312.13010).
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from greenloop import syntax
from greenloop.core.nouns import Region
from greenloop.core.prompt import cut
from greenloop.core.tokens import estimate

ROOM = 700  # tokens of a signature with its docstring
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, kw_only=True)
class Outline:
    """`shown` is for the prompt. `kind` is function, method, attribute (a property) or class.

    `name` is what tests name first (of a method its class), `last` the function's own name, `arguments` those that a
    caller gives; `classes` are the module's own; `docstring` is the function's, without its margin.
    """

    shown: str
    kind: str
    name: str
    last: str
    arguments: inspect.Signature | None = None
    docstring: str = ""
    classes: tuple[str, ...] = ()
    asynchronous: bool = False

    @property
    def full(self) -> str:
        """The name in full, such as `f` or `C.m`."""
        return self.name if self.name == self.last else f"{self.name}.{self.last}"


def outline(region: Region, text: str) -> Outline | None:
    """None where the region's own lines cannot be parsed."""
    classes = tuple(item.name for item in syntax.definitions(text, region.path) if item.kind == "class")
    owner, _dot, last = region.qualname.rpartition(".")
    node = _parsed(syntax.span(text, region.start, region.end))
    if node is None or node.name != last:
        return None
    above = _owner(text, region.path, owner) if owner else None
    docstring = ast.get_docstring(node) or ""
    if isinstance(node, ast.ClassDef):
        made = next((each for each in node.body if isinstance(each, Function) and each.name == "__init__"), None)
        given = _arguments(made, bound=True) if made else None
        shown = _class(node, node.body)
        return Outline(
            shown=shown, kind="class", name=last, last=last, arguments=given, docstring=docstring, classes=classes
        )
    marks = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
    kind = "function" if not owner else "attribute" if marks & {"property", "cached_property"} else "method"
    shown = _class(above, [*_made(above), node]) if above else _unparsed(_bare(node, 1))
    return Outline(
        shown=cut(shown, ROOM, estimate),
        kind=kind,
        name=owner.partition(".")[0] or last,
        last=last,
        arguments=_arguments(node, bound=bool(owner) and "staticmethod" not in marks),
        docstring=docstring,
        classes=classes,
        asynchronous=isinstance(node, ast.AsyncFunctionDef),
    )


def _parsed(source: str) -> Function | ast.ClassDef | None:
    try:
        tree = ast.parse(textwrap.dedent(source.replace("\r\n", "\n").replace("\r", "\n")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return next((node for node in tree.body if isinstance(node, Function | ast.ClassDef)), None)


def _owner(text: str, path: str, qualname: str) -> ast.ClassDef | None:
    item = syntax.lookup(syntax.definitions(text, path), qualname)
    node = _parsed(syntax.span(text, item.start, item.end)) if item else None
    return node if isinstance(node, ast.ClassDef) else None


def _made(owner: ast.ClassDef | None) -> list[ast.stmt]:
    """How an object of the class is made: its fields and its constructor."""
    body = owner.body if owner else []
    return [
        each
        for each in body
        if isinstance(each, ast.AnnAssign) or (isinstance(each, Function) and each.name == "__init__")
    ]


def _class(node: ast.ClassDef, body: Sequence[ast.stmt]) -> str:
    inner = [each for each in body if isinstance(each, ast.AnnAssign)]
    methods = [_bare(each, 2) for each in body if isinstance(each, Function)]
    said = _docstring(node, 1)
    whole = ast.ClassDef(
        name=node.name,
        bases=node.bases,
        keywords=node.keywords,
        body=[*said, *inner, *methods] or [ast.Expr(ast.Constant(...))],
        decorator_list=node.decorator_list,
    )
    return _unparsed(whole)


def _bare(node: Function, depth: int) -> Function:
    return type(node)(
        name=node.name,
        args=node.args,
        body=[*_docstring(node, depth), ast.Expr(ast.Constant(...))],
        decorator_list=node.decorator_list,
        returns=node.returns,
    )


def _docstring(node: Function | ast.ClassDef, depth: int) -> list[ast.stmt]:
    text = ast.get_docstring(node, clean=False)
    if text is None:
        return []
    margin = "\n" + "    " * depth
    rows = inspect.cleandoc(text).split("\n")
    joined = margin.join(rows).replace(margin + "\n", "\n\n") + (margin if len(rows) > 1 else "")
    return [ast.Expr(ast.Constant(joined))]


def _unparsed(node: ast.AST) -> str:
    text = ast.unparse(ast.fix_missing_locations(node))
    return "\n".join(row.rstrip() for row in text.split("\n"))


def _arguments(node: Function, *, bound: bool) -> inspect.Signature:
    kinds = inspect.Parameter
    given, default = node.args, 0
    plain = [
        *((each.arg, kinds.POSITIONAL_ONLY) for each in given.posonlyargs),
        *((each.arg, kinds.POSITIONAL_OR_KEYWORD) for each in given.args),
    ]
    needed = len(plain) - len(given.defaults)
    found = [
        kinds(name, kind, default=kinds.empty if number < needed else default)
        for number, (name, kind) in enumerate(plain)
    ][1 if bound else 0 :]
    found += [kinds(given.vararg.arg, kinds.VAR_POSITIONAL)] if given.vararg else []
    for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        found.append(kinds(each.arg, kinds.KEYWORD_ONLY, default=kinds.empty if value is None else default))
    found += [kinds(given.kwarg.arg, kinds.VAR_KEYWORD)] if given.kwarg else []
    return inspect.Signature(found)
