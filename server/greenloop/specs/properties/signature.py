"""Reads the header of a function: its signature and docstring, never its body. Pure."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from itertools import repeat

from greenloop.core.python.ast_source import FUNCTIONS, Function, function_header, region_definition
from greenloop.core.records.spec import Region


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """`kind` is plain, keyword (only), star or doublestar; `annotation` and `default` are source text, or empty."""

    name: str
    kind: str = "plain"
    annotation: str = ""
    default: str = ""


@dataclass(frozen=True, kw_only=True)
class FunctionHeader:
    """`line` is the file's line with the name; `is_bound`: it is called on an object or a class (`self`, `cls`)."""

    name: str
    parameters: tuple[Parameter, ...]
    returns: str
    docstring: str
    signature: str
    line: int
    is_bound: bool = False
    is_async: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.parameters)


def read_header(region: Region, text: str) -> FunctionHeader | None:
    """Reads the header; None where the region's lines have no readable function. The rest of the file may be broken."""
    node, offset = region_definition(text, region.start, region.end) or (None, 0)
    return header_of(node, offset, is_method="." in region.qualname) if isinstance(node, FUNCTIONS) else None


def header_of(node: Function, offset: int = 0, *, is_method: bool = False) -> FunctionHeader:
    """The header of a function whose line numbers are `offset` less than those of the file."""
    is_static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
    return FunctionHeader(
        name=node.name,
        parameters=_parameters(node.args),
        returns=_annotation(node.returns),
        docstring=ast.get_docstring(node) or "",
        signature=f"{function_header(node)}:",
        line=offset + node.lineno,
        is_bound=is_method and not is_static,
        is_async=isinstance(node, ast.AsyncFunctionDef),
    )


def _parameters(arguments: ast.arguments) -> tuple[Parameter, ...]:
    positional = [*arguments.posonlyargs, *arguments.args]
    no_defaults = [None] * (len(positional) - len(arguments.defaults))
    parameters = [
        *zip(positional, repeat("plain"), [*no_defaults, *arguments.defaults], strict=False),
        (arguments.vararg, "star", None),
        *zip(arguments.kwonlyargs, repeat("keyword"), arguments.kw_defaults, strict=False),
        (arguments.kwarg, "doublestar", None),
    ]
    return tuple(
        Parameter(
            name=node.arg,
            kind=kind,
            annotation=_annotation(node.annotation),
            default=ast.unparse(default) if default else "",
        )
        for node, kind, default in parameters
        if node
    )


def _annotation(node: ast.expr | None) -> str:
    """An annotation's source; one that is entirely quoted loses its quotes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.strip()
    return ast.unparse(node) if node else ""
