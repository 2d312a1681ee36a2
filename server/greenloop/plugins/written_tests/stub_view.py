"""Builds the view of the code that a test writer may see: signatures and docstrings, without any body.

It is rebuilt from the syntax tree: a tester that sees code writes tests that the code passes (AgentCoder,
arXiv 2312.13010).
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.core.python.ast_source import FUNCTIONS, Definition, Function, region_definition
from greenloop.core.records.spec import Region
from greenloop.core.text.tokens import estimate_tokens, truncate
from greenloop.project.syntax import definitions

ROOM = 700  # tokens of a signature with its docstring


@dataclass(frozen=True, kw_only=True)
class StubView:
    """`stub` is for the prompt. `kind` is function, method, attribute (a property) or class.

    `root_name` is the name that tests start from (a method's class), `own_name` the function's own name, `arguments`
    its parameters (a class's constructor's; `is_bound`: the first is not passed); `module_classes` are the module's
    own; `docstring` is the function's, dedented.
    """

    stub: str
    kind: str
    root_name: str
    own_name: str
    arguments: ast.arguments | None = None
    is_bound: bool = False
    docstring: str = ""
    module_classes: tuple[str, ...] = ()
    is_async: bool = False

    @property
    def full_name(self) -> str:
        """The name in full, such as `f` or `C.m`."""
        return self.root_name if self.root_name == self.own_name else f"{self.root_name}.{self.own_name}"


def build_stub_view(region: Region, text: str) -> StubView | None:
    """Builds the view of a region; None where the region's own lines cannot be parsed."""
    items = definitions.find_definitions(text, region.path)
    owner, _separator, last = region.qualname.rpartition(".")
    node = _parse(text, region)
    if node is None or node.name != last:
        return None
    decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
    if isinstance(node, ast.ClassDef):
        kind, stub = "class", _class(node, node.body)
        called = next((each for each in node.body if _is_constructor(each)), None)
    else:
        kind = "function" if not owner else "attribute" if decorators & {"property", "cached_property"} else "method"
        stub = truncate(
            _method_stub(node, _parse(text, definitions.find_by_qualname(items, owner))), ROOM, estimate_tokens
        )
        called = node
    return StubView(
        stub=stub,
        kind=kind,
        root_name=last if kind == "class" else owner.partition(".")[0] or last,
        own_name=last,
        arguments=called.args if isinstance(called, FUNCTIONS) else None,
        is_bound=kind == "class" or (bool(owner) and "staticmethod" not in decorators),
        docstring=ast.get_docstring(node) or "",
        module_classes=tuple(item.name for item in items if item.kind == "class"),
        is_async=isinstance(node, ast.AsyncFunctionDef),
    )


def _parse(text: str, place: Region | definitions.Definition | None) -> Definition | None:
    parsed = region_definition(text, place.start, place.end) if place else None
    return parsed[0] if parsed else None


def _is_constructor(node: ast.stmt) -> bool:
    return isinstance(node, FUNCTIONS) and node.name == "__init__"


def _method_stub(node: Function, owner: Definition | None) -> str:
    """The stub of a function; a method's class with the members that show how to make an object."""
    if not isinstance(owner, ast.ClassDef):
        return _unparse(_without_body(node, 1))
    members = [each for each in owner.body if isinstance(each, ast.AnnAssign) or _is_constructor(each)]
    return _class(owner, [*members, node])


def _class(node: ast.ClassDef, body: Sequence[ast.stmt]) -> str:
    fields = [each for each in body if isinstance(each, ast.AnnAssign)]
    methods = [_without_body(each, 2) for each in body if isinstance(each, FUNCTIONS)]
    docstring = _docstring(node, 1)
    stub = ast.ClassDef(
        name=node.name,
        bases=node.bases,
        keywords=node.keywords,
        body=[*docstring, *fields, *methods] or [ast.Expr(ast.Constant(...))],
        decorator_list=node.decorator_list,
    )
    return _unparse(stub)


def _without_body(node: Function, depth: int) -> Function:
    return type(node)(
        name=node.name,
        args=node.args,
        body=[*_docstring(node, depth), ast.Expr(ast.Constant(...))],
        decorator_list=node.decorator_list,
        returns=node.returns,
    )


def _docstring(node: Definition, depth: int) -> list[ast.stmt]:
    text = ast.get_docstring(node, clean=False)
    if text is None:
        return []
    margin = "\n" + "    " * depth
    rows = inspect.cleandoc(text).split("\n")
    joined = margin.join(rows).replace(margin + "\n", "\n\n") + (margin if len(rows) > 1 else "")
    return [ast.Expr(ast.Constant(joined))]


def _unparse(node: ast.AST) -> str:
    text = ast.unparse(ast.fix_missing_locations(node))
    return "\n".join(row.rstrip() for row in text.split("\n"))
