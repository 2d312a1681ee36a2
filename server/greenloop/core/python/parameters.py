"""The parameters of a function and their default values."""

from __future__ import annotations

import ast

from greenloop.core.python.ast_source import Function


def parameters(node: Function) -> list[tuple[str, str]]:
    """(name, kind) of every parameter in order; kinds: positional, plain, star, keyword, doublestar."""
    args = node.args
    return [
        *((item.arg, "positional") for item in args.posonlyargs),
        *((item.arg, "plain") for item in args.args),
        *([(args.vararg.arg, "star")] if args.vararg else []),
        *((item.arg, "keyword") for item in args.kwonlyargs),
        *([(args.kwarg.arg, "doublestar")] if args.kwarg else []),
    ]


def parameter_nodes(node: Function | ast.Lambda) -> list[ast.arg]:
    """All parameters, those with a star last."""
    args = node.args
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]


def defaults(node: Function | ast.Lambda) -> dict[str, ast.expr]:
    """Default values by parameter name."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    values = {item.arg: value for item, value in zip(reversed(positional), reversed(args.defaults), strict=False)}
    return values | {
        item.arg: value for item, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is not None
    }
