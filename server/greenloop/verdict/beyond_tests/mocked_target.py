"""Finds functions of which the change made a mock; a pure function of the text.

A mock answers as it was set up, whatever it is asked. A function that takes a mock, or makes one for others, is left
alone.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from greenloop.core.python.assignments import assignments_in
from greenloop.core.python.ast_source import parse_module
from greenloop.core.python.names import import_keys
from greenloop.verdict.beyond_tests.changed_functions import ChangedFunction

MODULES = ("unittest.mock", "mock")


def find_mocked_target(functions: Sequence[ChangedFunction], new: Mapping[str, str]) -> str:
    """Says which changed function is a mock now, and in which line; else empty. `new` are the texts by path."""
    for function in functions:
        assigned = assignments_in(new[function.path]).get(function.qualname)
        if assigned is not None and isinstance(assigned.value, ast.Call):
            made = ast.unparse(assigned.value.func)
            if _whole_name(made, new[function.path]).startswith(tuple(f"{each}." for each in MODULES)):
                return (
                    f"{function.path}:{function.line}: {function.qualname} is a mock now (`{made}`), which answers as "
                    "it was set up."
                )
    return ""


def _whole_name(name: str, text: str) -> str:
    """The dotted name, with what its first part was imported as."""
    module = parse_module(text)
    first, dot, rest = name.partition(".")
    nodes = ast.walk(module) if isinstance(module, ast.Module) else ()
    keys = [import_keys(node) for node in nodes if isinstance(node, ast.stmt)]
    key = next((each[first] for each in keys if first in each), first).replace(":", ".")
    return name if key.startswith(f"{first}.") else f"{key}{dot}{rest}"
