"""Finds the functions of a file that are still to be written, also while it has syntax errors."""

from __future__ import annotations

import re

from greenloop.core.python.stubs import is_unwritten
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import Definition

_LEFT_OPEN = re.compile(r"(?:\w+\.)*(?:abstract\w*|overload)\b")
_PROTOCOL = re.compile(r"(?:\w+\.)*Protocol\b")


def unwritten_functions(text: str, path: str = "", *, owner: str = "") -> list[Definition]:
    """Functions and methods with a placeholder for a body; with `owner`, those of this class alone.

    Each by its last definition, which is the one that counts. Abstract methods, overloads and methods of protocols stay
    as they are, so they are none. `path` is a cache key.
    """
    listed = definitions.find_definitions(text, path)
    protocols = {each.qualname for each in listed if any(_PROTOCOL.match(base) for base in each.bases)}
    inside = f"{owner}." if owner else ""
    functions = {each.qualname: each for each in listed if each.kind == "function" and each.qualname.startswith(inside)}
    return [
        each
        for each in functions.values()
        if each.owner not in protocols
        and not any(_LEFT_OPEN.match(mark) for mark in each.decorators)
        and is_unwritten(definitions.line_span(text, each.start, each.end))
    ]
