"""Finds the functions of a file that are still to be written, also while it has syntax errors."""

from __future__ import annotations

import re
from collections.abc import Iterable

from greenloop.core.python.stubs import is_unwritten
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import Definition

_LEFT_OPEN = re.compile(r"(?:\w+\.)*(?:abstract\w*|overload)\b")
_ACCESSOR = re.compile(r"\w+\.(setter|deleter|getter)\b")
_PROTOCOL = re.compile(r"(?:\w+\.)*Protocol\b")


def unwritten_functions(text: str, path: str = "", *, owner: str = "") -> list[Definition]:
    """Functions and methods with a placeholder for a body; with `owner`, those of this class alone.

    Each by its last definition, which is the one that counts; the setter of a property is one beside its getter.
    Abstract methods, overloads and methods of protocols stay as they are, so they are none. `path` is a cache key.
    """
    protocols = _protocols(text, path)
    return [
        each for each in _functions(text, path, owner) if not _is_left_open(each, protocols) and _is_stub(each, text)
    ]


def left_open_functions(text: str, path: str = "") -> list[Definition]:
    """The functions with a placeholder for a body that stay so: abstract methods, overloads, methods of protocols."""
    protocols = _protocols(text, path)
    return [each for each in _functions(text, path) if _is_left_open(each, protocols) and _is_stub(each, text)]


def _functions(text: str, path: str, owner: str = "") -> Iterable[Definition]:
    inside = f"{owner}." if owner else ""
    listed = definitions.find_definitions(text, path)
    functions = [each for each in listed if each.kind == "function" and each.qualname.startswith(inside)]
    return {(each.qualname, _accessor(each)): each for each in functions}.values()


def _is_stub(function: Definition, text: str) -> bool:
    return is_unwritten(definitions.line_span(text, function.start, function.end))


def _protocols(text: str, path: str) -> set[str]:
    listed = definitions.find_definitions(text, path)
    return {each.qualname for each in listed if any(_PROTOCOL.match(base) for base in each.bases)}


def _is_left_open(function: Definition, protocols: set[str]) -> bool:
    return function.owner in protocols or any(_LEFT_OPEN.match(mark) for mark in function.decorators)


def _accessor(function: Definition) -> str:
    """Returns the function's role for a property of its name (`setter`, `deleter` or `getter`); otherwise ""."""
    matches = (_ACCESSOR.match(mark) for mark in function.decorators)
    return next((match[1] for match in matches if match), "")
