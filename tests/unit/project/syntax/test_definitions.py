"""Definitions and bindings, in sound and in broken texts; the kept trees give the same answers as fresh ones."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest

from greenloop.project.syntax import definitions
from syntax_shapes import SHAPES


def summary(text):
    return [(d.qualname, d.start, d.end) for d in definitions.find_definitions(text)]


def test_shapes():
    assert summary(SHAPES) == [
        ("decorated", 3, 13),
        ("waits", 16, 16),
        ("Outer", 18, 35),
        ("Outer.size", 22, 23),
        ("Outer.size", 25, 27),
        ("Outer.Inner", 29, 35),
        ("Outer.Inner.method", 30, 35),
        ("seen_by_checkers", 38, 38),
        ("seen_by_checkers", 40, 41),
        ("fallback", 44, 44),
        ("fallback", 46, 46),
    ]


def test_details():
    found = {d.qualname: d for d in reversed(definitions.find_definitions(SHAPES))}
    decorated = found["decorated"]
    assert decorated.name_line == 7
    assert decorated.docstring == (8, 9)
    assert decorated.decorators[0] == "functools.cache"
    assert found["waits"].asynchronous
    assert found["Outer"].bases == ("Base", "metaclass=Meta")
    assert found["Outer"].docstring is not None
    assert found["Outer.Inner.method"].owner == "Outer.Inner"


@pytest.mark.parametrize(
    ("name", "line_of"),
    [
        ("Outer.size", "    @property"),  # the getter stands for the property
        ("seen_by_checkers", "    def seen_by_checkers():\n"),  # what runs, not what is checked
        ("fallback", "    def fallback(): return 2"),  # the last one wins
    ],
)
def test_lookup_takes_what_runs(name, line_of):
    found = definitions.find_by_qualname(definitions.find_definitions(SHAPES), name)
    assert found is not None
    assert found.start == SHAPES[: SHAPES.index(line_of)].count("\n") + 1


def test_overloads_give_way_to_the_implementation():
    text = "@overload\ndef f(x: int): ...\n@typing.overload\ndef f(x: str): ...\ndef f(x):\n    return x\n"
    found = definitions.find_by_qualname(definitions.find_definitions(text), "f")
    assert found is not None
    assert found.start == 5


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_do_not_move_lines(end):
    assert summary(SHAPES.replace("\n", end)) == summary(SHAPES)


def test_only_line_ends_count_as_line_ends():
    text = 'x = "\u2028"\n\x0cdef f():\n    return "\x85"\n'
    assert summary(text) == [("f", 2, 3)]
    assert len(definitions.split_lines(text)) == 3


def test_the_standard_library_is_seen_as_ast_sees_it():
    folder = Path(sysconfig.get_path("stdlib"))
    for name in ("dataclasses.py", "typing.py", "asyncio/tasks.py", "unittest/mock.py", "enum.py"):
        text = (folder / name).read_text(encoding="utf-8")
        expected = sorted(_definitions(ast.parse(text).body, ""))
        assert sorted((d.qualname, d.start, d.end) for d in definitions.find_definitions(text)) == expected, name


def _definitions(body, prefix):
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield prefix + node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.end_lineno
            if isinstance(node, ast.ClassDef):
                yield from _definitions(node.body, f"{prefix}{node.name}.")
            continue
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            for inner in getattr(node, field, []):
                yield from _definitions([inner] if isinstance(inner, ast.stmt) else inner.body, prefix)


def test_examples_in_docstrings():
    text = 'def a():\n    """A.\n\n    >>> a()\n    """\n\ndef b():\n    """B."""\n    x = """>>> b()"""\n'
    for damage in ("", "\n\nx = (\n", "\n\ndef c(:\n"):
        assert [item.examples for item in definitions.find_definitions(text + damage)][:2] == [True, False]


def test_lines():
    text = "a = 1\r\n\r\ndef f():\r\n    x\r\n"
    found = definitions.cached_outline(text, "lines")
    assert [found.line(number) for number in range(1, 7)] == ["a = 1\n", "\n", "def f():\n", "    x\n", "", ""]
    many = "class A:\n" + "".join(f"    x{n} = {n}\n" for n in range(300))
    assert definitions.cached_outline(many, "many").line(200) == "    x198 = 198\n"


def test_bindings():
    text = "import os, a.b as c, d.e\nfrom x import (y as z,\n  w)\nfrom k import *\nA, B = 1, 2\nif 1:\n    C: int = 3\nx.y = 1\n"
    assert [(b.kind, b.names, b.start, b.end) for b in definitions.find_bindings(text)] == [
        ("import", ("os", "c", "d"), 1, 1),
        ("import", ("z", "w"), 2, 3),
        ("import", ("*",), 4, 4),
        ("assignment", ("A", "B"), 5, 5),
        ("assignment", ("C",), 7, 7),
    ]
