"""Builds the view of the code that a test writer may see: signatures and docstrings, without any body.

It is rebuilt from the syntax tree: a tester that sees code writes tests that the code passes (AgentCoder,
arXiv 2312.13010).
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.core.records.spec import Region
from greenloop.core.text.tokens import estimate_tokens, truncate
from greenloop.project.syntax import definitions

ROOM = 700  # tokens of a signature with its docstring
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, kw_only=True)
class StubView:
    """`stub` is for the prompt. `kind` is function, method, attribute (a property) or class.

    `root_name` is the name that tests start from (a method's class), `own_name` the function's own name, `signature`
    the arguments that a caller passes; `module_classes` are the module's own; `docstring` is the function's, dedented.
    """

    stub: str
    kind: str
    root_name: str
    own_name: str
    arguments: inspect.Signature | None = None
    docstring: str = ""
    module_classes: tuple[str, ...] = ()
    is_async: bool = False

    @property
    def full_name(self) -> str:
        """The name in full, such as `f` or `C.m`."""
        return self.root_name if self.root_name == self.own_name else f"{self.root_name}.{self.own_name}"


def build_stub_view(region: Region, text: str) -> StubView | None:
    """Builds the view of a region; None where the region's own lines cannot be parsed."""
    classes = tuple(item.name for item in definitions.find_definitions(text, region.path) if item.kind == "class")
    owner, _separator, last = region.qualname.rpartition(".")
    node = _parsed(definitions.line_span(text, region.start, region.end))
    if node is None or node.name != last:
        return None
    owner_class = _owner(text, region.path, owner) if owner else None
    docstring = ast.get_docstring(node) or ""
    if isinstance(node, ast.ClassDef):
        constructor = next((each for each in node.body if isinstance(each, Function) and each.name == "__init__"), None)
        signature = _arguments(constructor, is_bound=True) if constructor else None
        stub = _class(node, node.body)
        return StubView(
            stub=stub,
            kind="class",
            root_name=last,
            own_name=last,
            arguments=signature,
            docstring=docstring,
            module_classes=classes,
        )
    decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
    kind = "function" if not owner else "attribute" if decorators & {"property", "cached_property"} else "method"
    stub = (
        _class(owner_class, [*_construction_members(owner_class), node])
        if owner_class
        else _unparse(_without_body(node, 1))
    )
    return StubView(
        stub=truncate(stub, ROOM, estimate_tokens),
        kind=kind,
        root_name=owner.partition(".")[0] or last,
        own_name=last,
        arguments=_arguments(node, is_bound=bool(owner) and "staticmethod" not in decorators),
        docstring=docstring,
        module_classes=classes,
        is_async=isinstance(node, ast.AsyncFunctionDef),
    )


def _parsed(source: str) -> Function | ast.ClassDef | None:
    try:
        tree = ast.parse(textwrap.dedent(source.replace("\r\n", "\n").replace("\r", "\n")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return next((node for node in tree.body if isinstance(node, Function | ast.ClassDef)), None)


def _owner(text: str, path: str, qualname: str) -> ast.ClassDef | None:
    item = definitions.find_by_qualname(definitions.find_definitions(text, path), qualname)
    node = _parsed(definitions.line_span(text, item.start, item.end)) if item else None
    return node if isinstance(node, ast.ClassDef) else None


def _construction_members(owner: ast.ClassDef | None) -> list[ast.stmt]:
    """The members that show how to make an object: fields and constructor."""
    body = owner.body if owner else []
    return [
        each
        for each in body
        if isinstance(each, ast.AnnAssign) or (isinstance(each, Function) and each.name == "__init__")
    ]


def _class(node: ast.ClassDef, body: Sequence[ast.stmt]) -> str:
    fields = [each for each in body if isinstance(each, ast.AnnAssign)]
    methods = [_without_body(each, 2) for each in body if isinstance(each, Function)]
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


def _docstring(node: Function | ast.ClassDef, depth: int) -> list[ast.stmt]:
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


def _arguments(node: Function, *, is_bound: bool) -> inspect.Signature:
    parameter_type = inspect.Parameter
    arguments, default = node.args, 0
    positional = [
        *((each.arg, parameter_type.POSITIONAL_ONLY) for each in arguments.posonlyargs),
        *((each.arg, parameter_type.POSITIONAL_OR_KEYWORD) for each in arguments.args),
    ]
    required_count = len(positional) - len(arguments.defaults)
    parameters = [
        parameter_type(name, kind, default=parameter_type.empty if number < required_count else default)
        for number, (name, kind) in enumerate(positional)
    ][1 if is_bound else 0 :]
    parameters += [parameter_type(arguments.vararg.arg, parameter_type.VAR_POSITIONAL)] if arguments.vararg else []
    for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters.append(
            parameter_type(
                each.arg, parameter_type.KEYWORD_ONLY, default=parameter_type.empty if value is None else default
            )
        )
    parameters += [parameter_type(arguments.kwarg.arg, parameter_type.VAR_KEYWORD)] if arguments.kwarg else []
    return inspect.Signature(parameters)
