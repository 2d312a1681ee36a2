"""A function as a specification may know it: its signature and its docstring, never its body. Pure."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from greenloop.core.nouns import Region
from greenloop.core.source import FUNCTIONS, Function, docstring, piece, start_of


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """`kind` is plain, keyword (only), star or doublestar; `annotation` and `default` are source text, or empty."""

    name: str
    kind: str = "plain"
    annotation: str = ""
    default: str = ""


@dataclass(frozen=True, kw_only=True)
class Head:
    """`line` is the file's line of the name; `bound`: it is called on an object or a class (`self`, `cls`)."""

    name: str
    qualname: str
    parameters: tuple[Parameter, ...]
    returns: str
    docstring: str
    signature: str
    line: int
    bound: bool = False
    asynchronous: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.parameters)


def read(region: Region, text: str) -> Head | None:
    """None where the region's lines hold no function that can be read; the rest of the file may be broken."""
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[region.start - 1 : region.end]
    found = piece("\n".join(rows))
    if isinstance(found, SyntaxError):
        return None
    node = next((each for each in found.body if isinstance(each, FUNCTIONS)), None)
    if node is None:
        return None
    first = start_of(node, found.lines)
    parameters = tuple(_parameters(node))
    bound = "." in region.qualname and not _has(node, "staticmethod")
    return Head(
        name=node.name,
        qualname=region.qualname,
        parameters=parameters,
        returns=_annotation(node.returns),
        docstring=ast.get_docstring(node) or "" if docstring(node) else "",
        signature=_signature(node),
        line=region.start + node.lineno - first,
        bound=bound,
        asynchronous=isinstance(node, ast.AsyncFunctionDef),
    )


def _parameters(node: Function) -> list[Parameter]:
    given = node.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    found = [_parameter(each, "plain", default) for each, default in zip(plain, defaults, strict=True)]
    if given.vararg:
        found.append(_parameter(given.vararg, "star", None))
    found += [
        _parameter(each, "keyword", default) for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    return [*found, _parameter(given.kwarg, "doublestar", None)] if given.kwarg else found


def _parameter(node: ast.arg, kind: str, default: ast.expr | None) -> Parameter:
    annotation = _annotation(node.annotation)
    return Parameter(name=node.arg, kind=kind, annotation=annotation, default=ast.unparse(default) if default else "")


def _annotation(node: ast.expr | None) -> str:
    """An annotation's source; one that is quoted as a whole without its quotes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.strip()
    return ast.unparse(node) if node else ""


def _signature(node: Function) -> str:
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){returns}:"


def _has(node: Function, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in node.decorator_list)
