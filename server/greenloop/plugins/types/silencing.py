"""Recognises changes that silence a type checker instead of satisfying it, by the texts before and after."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping

from greenloop.core.python.ast_source import FUNCTIONS, find_definitions, parse_module

_COMMENT = re.compile(r"#\s*(?P<kind>type:\s*ignore|pyright:|mypy:|pyre-|pytype:)")
_ANY = re.compile(r"\bAny\b")
_DECORATORS = {"no_type_check", "no_type_check_decorator"}
_WIDEST = {"Any", "object"}


def find_silencing(before: Mapping[str, str | None], after: Mapping[str, str]) -> str:
    """Returns in one sentence how a change silences the checker; "" where it does not."""
    for path, text in after.items():
        old = before.get(path)
        if path.endswith(".pyi") and old is None:
            return f"{path} would say what the types are in place of the code."
        if not path.endswith((".py", ".pyi")):
            continue
        new = Counter(_silencers(text)) - Counter(_silencers(old or ""))
        if new:
            return f"{path} silences the type checker: {next(iter(new))}."
        if weakened := _weakened_function(old or "", text):
            return f"{path} weakens the signature of {weakened}."
    return ""


def _silencers(text: str) -> Iterator[str]:
    """Everything in a text that a type checker is silenced by."""
    try:
        tokens = [*tokenize.generate_tokens(io.StringIO(text).readline)]
    except (tokenize.TokenError, SyntaxError):
        return
    for token in tokens:
        if token.type == tokenize.COMMENT and (match := _COMMENT.match(token.string)):
            yield f"a comment `# {match['kind']}`"
    module = parse_module(text)
    for node in ast.walk(module) if isinstance(module, ast.Module) else ():
        name = _name(node)
        if name == "Any" or any(_ANY.search(text) for text in _quoted_annotations(node)):
            yield "the type `Any`"
        elif isinstance(node, ast.Call) and _name(node.func) == "cast":
            yield "a `cast`"
        elif name in _DECORATORS:
            yield f"`@{name}`"
        elif isinstance(node, ast.If) and any(_name(each) == "TYPE_CHECKING" for each in ast.walk(node.test)):
            yield "code for the type checker alone (`TYPE_CHECKING`)"


def _name(node: ast.AST) -> str:
    """The last part of a name."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _quoted_annotations(node: ast.AST) -> Iterator[str]:
    """The texts in quotes in the annotation of a variable, parameter or result."""
    annotation = getattr(node, "annotation", None) or getattr(node, "returns", None)
    for each in ast.walk(annotation) if annotation else ():
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def _weakened_function(old: str, new: str) -> str:
    """The first function whose signature promises less than before; "" without one."""
    before, after = _annotations(old), _annotations(new)
    for (function, parameter), annotation in before.items():
        now = after.get((function, parameter))
        is_wider = now is not None and (not now or _is_wider(annotation, now, is_result=parameter == "return"))
        if annotation and is_wider:
            return function
    return ""


def _annotations(text: str) -> dict[tuple[str, str], str]:
    """The annotation of each parameter and result; "" where there is none. A parameter that is gone is not listed."""
    module = parse_module(text)
    found: dict[tuple[str, str], str] = {}
    for name, node in find_definitions(module.body) if isinstance(module, ast.Module) else ():
        if isinstance(node, FUNCTIONS):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            arguments += [each for each in (node.args.vararg, node.args.kwarg) if each]
            found |= {(name, each.arg): _source(each.annotation) for each in arguments}
            found[name, "return"] = _source(node.returns)
    return found


def _source(annotation: ast.expr | None) -> str:
    return ast.unparse(annotation) if annotation else ""


def _is_wider(old: str, new: str, *, is_result: bool) -> bool:
    """Does the new annotation name a type beyond those of the old one: the widest ones, and for a result any other?"""
    before, after = _members(old), _members(new)
    return bool((after - before) & _WIDEST) or (is_result and before < after)


def _members(annotation: str) -> set[str]:
    """The members of a union, however it is written."""
    text = annotation.strip("'\"")
    if match := re.fullmatch(r"(?:\w+\.)?(Optional|Union)\[(.*)\]", text):
        return {part.strip() for part in match[2].split(",")} | ({"None"} if match[1] == "Optional" else set())
    return {part.strip() for part in text.split("|")}
