"""Names of test functions: in a text, and in the id of a case."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from greenloop.core.python.ast_source import UNPARSABLE, parse_module_strictly


def function_of(case: str) -> str:
    """Returns `TestC::test_b` for the id `path.py::TestC::test_b[1]`."""
    return case.partition("::")[2].partition("[")[0]


def find_tests(text: str) -> frozenset[str]:
    """Returns the names of the test functions of a file (`test_a`, `TestC::test_b`), also those under a condition."""
    text = text.removeprefix("\ufeff")
    try:
        return frozenset(_walk(parse_module_strictly(text), ""))
    except UNPARSABLE:
        return frozenset(re.findall(r"^\s*(?:async\s+)?def\s+(test\w*)", text, re.MULTILINE))


def _walk(node: ast.AST, prefix: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if child.name.startswith("test"):
                yield prefix + child.name
        elif isinstance(child, ast.ClassDef):
            yield from _walk(child, f"{prefix}{child.name}::")
        elif isinstance(child, ast.If | ast.Try | ast.With | ast.For | ast.While | ast.ExceptHandler):
            yield from _walk(child, prefix)
