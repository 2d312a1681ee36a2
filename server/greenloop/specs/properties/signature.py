"""Reads the header of a function: its signature and docstring, never its body. Pure."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from greenloop.core.python.ast_source import FUNCTIONS, Function, docstring_statement, parse_fragment, start_line
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
    qualname: str
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
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[region.start - 1 : region.end]
    fragment = parse_fragment("\n".join(rows))
    if isinstance(fragment, SyntaxError):
        return None
    node = next((each for each in fragment.body if isinstance(each, FUNCTIONS)), None)
    if node is None:
        return None
    first_line = start_line(node, fragment.lines)
    parameters = tuple(_parameters(node))
    is_bound = "." in region.qualname and not _has_decorator(node, "staticmethod")
    return FunctionHeader(
        name=node.name,
        qualname=region.qualname,
        parameters=parameters,
        returns=_annotation(node.returns),
        docstring=ast.get_docstring(node) or "" if docstring_statement(node) else "",
        signature=_signature(node),
        line=region.start + node.lineno - first_line,
        is_bound=is_bound,
        is_async=isinstance(node, ast.AsyncFunctionDef),
    )


def _parameters(node: Function) -> list[Parameter]:
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    parameters = [_parameter(each, "plain", default) for each, default in zip(positional, defaults, strict=True)]
    if arguments.vararg:
        parameters.append(_parameter(arguments.vararg, "star", None))
    parameters += [
        _parameter(each, "keyword", default)
        for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return [*parameters, _parameter(arguments.kwarg, "doublestar", None)] if arguments.kwarg else parameters


def _parameter(node: ast.arg, kind: str, default: ast.expr | None) -> Parameter:
    annotation = _annotation(node.annotation)
    return Parameter(name=node.arg, kind=kind, annotation=annotation, default=ast.unparse(default) if default else "")


def _annotation(node: ast.expr | None) -> str:
    """An annotation's source; one that is entirely quoted loses its quotes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.strip()
    return ast.unparse(node) if node else ""


def _signature(node: Function) -> str:
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){returns}:"


def _has_decorator(node: Function, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in node.decorator_list)
