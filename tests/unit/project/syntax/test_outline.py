"""Definitions and bindings, in sound and in broken texts; the kept trees give the same answers as fresh ones."""

from __future__ import annotations

import ast
import random
import sysconfig
import warnings
from pathlib import Path

import pytest

from greenloop.project.syntax import chunks, definitions, outline

SHAPES = '''\
import functools

@functools.cache
@other(
    1,
)
def decorated(x):
    """Doc
    of two lines."""
    def nested():
        class Deep: ...
        return 1
    return nested
    # a comment after the last statement

async def waits(): return 1

class Outer(Base, metaclass=Meta):
    """Doc."""
    field: int = 3

    @property
    def size(self): return self._size

    @size.setter
    def size(self, value):
        self._size = value

    class Inner:
        def method(self):
            text = """
def not_a_function():
    pass
"""
            return text

if TYPE_CHECKING:
    def seen_by_checkers(): ...
else:
    def seen_by_checkers():
        return 2

try:
    def fallback(): return 1
except ImportError:
    def fallback(): return 2
'''


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


BROKEN = '''\
def before():
    return 1

class Outer(Base):
    @mark
    async def first(self):
        """Doc.

        More.
        """
        return foo(

    def second(
        self,
        x,
    ):
        return 2

def after():
    return "not broken"
'''


def test_broken_files_keep_their_definitions():
    assert [(d.qualname, d.start, d.end, d.docstring) for d in definitions.find_definitions(BROKEN)] == [
        ("before", 1, 2, None),
        ("Outer", 4, 17, None),
        ("Outer.first", 5, 11, (7, 10)),
        ("Outer.second", 13, 17, None),
        ("after", 19, 20, None),
    ]


@pytest.mark.parametrize(
    "damage",
    [
        "x = (\n",
        "if True\n    pass\n",
        "def broken(:\n    pass\n",
        "x = 'open\n",
        "class :\n    pass\n",
        "return ]\n",
        "<<<<<<< ours\n",
    ],
)
def test_damage_elsewhere_leaves_the_rest_alone(damage):
    names = {d.qualname for d in definitions.find_definitions(SHAPES.replace("import functools\n", damage))}
    assert {"decorated", "Outer.size", "Outer.Inner.method", "fallback"} <= names
    assert "not_a_function" not in names


@pytest.mark.parametrize(
    "text", ["", "\n", "\0", "def", "class", "def f(", "'''", "\ufeffdef f(): pass\n", "\ud800 = 1\ndef f(): pass\n"]
)
def test_odd_texts_do_not_raise(text):
    definitions.find_definitions(text)
    definitions.find_bindings(text)
    definitions.enclosing_definition(text, 1)


PIECES = [
    "",
    "x",
    "\n",
    "    ",
    "(",
    ")",
    ":",
    '"""',
    "#",
    "\\",
    "@d\n",
    "def g():\n    pass\n",
    "\nelse:\n    y\n",
    "; y = 1",
]


LARGE = '''\
import a

class Outer(Base):
    """Doc."""
    field: int = 3

    @property
    def size(self): return self._size

    # comment
    def one(self):
        """Doc

        of it."""
        x = [
            1,
        ]
        return x

    x = 1; y = 2

    @d
    async def two(self, a,
        b):
        return 2

    if z:
        def three(self): pass
    else:
        def three(self):
            pass

    class Inner:
        def method(self):
            return text

    last = 1
    # end

def after(): pass

@d
class Second:
    a = 1
    b = 2
    def one(self):
        pass
    def two(self):
        pass
'''
IN_CLASSES = ["    def n(self):\n        pass\n", "        ", "\n\n", "    # c\n"]


@pytest.mark.parametrize("seed", range(12))
def test_pieces_kept_from_the_last_text_answer_like_fresh_ones(seed):
    typed_at_random(random.Random(seed), SHAPES, PIECES)


@pytest.mark.parametrize("seed", range(12))
def test_members_of_a_large_class_kept_from_the_last_text_too(seed, monkeypatch):
    monkeypatch.setattr(chunks, "LARGE", 4)
    typed_at_random(random.Random(seed), LARGE, PIECES + IN_CLASSES)


def typed_at_random(rng, text, pieces):
    definitions.find_definitions(text, "kept")
    sound = 0
    for _step in range(60):
        at = rng.randrange(len(text) + 1)
        changed = text[:at] + rng.choice(pieces) + text[at + rng.choice([0, 0, 0, 1, 7]) :]
        kept = definitions.find_definitions(changed, "kept")
        if is_sound(changed):
            sound += 1
            assert kept == fresh(changed)
            text = changed
        elif rng.random() < 0.7:
            # Mended at once, as somebody types; sometimes the damage stays for a while.
            assert definitions.find_definitions(text, "kept") == fresh(text)
    assert sound > 5


def fresh(text):
    return outline.parse_outline(text).definitions


def test_a_keystroke_parses_its_surroundings_only(monkeypatch):
    """Also while something else in the file is broken, and within a class that is the whole file."""
    methods = "".join(f"    def test_{n}(self):\n        assert f({n}) == {n}\n\n" for n in range(400))
    functions = "".join(f"def test_{n}():\n    assert f({n}) == {n}\n\n\n" for n in range(400))
    for text in (functions, functions + "last = [1, 2\n", f"class TestAll:\n{methods}"):
        definitions.find_definitions(text, "measured")
        parsed = []
        monkeypatch.setattr(chunks, "parse", lambda part, parsed=parsed: parsed.append(len(part)) or parse(part))
        for typed in ("x", "x = g(", "x = g(1, [", "x = g(1, [2])", "x = g(1, [2])\n    y = 1"):
            changed = text.replace("f(200)", f"f(200)  # {typed}").replace("# x = g(", "\n        x = g(")
            assert any(item.name == "test_300" for item in definitions.find_definitions(changed, "measured"))
        assert sum(parsed) < 0.3 * len(text)


parse = chunks.parse


def is_sound(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except SyntaxError:
            return False
    return True


def test_a_string_opened_here_and_closed_there():
    text = "def a():\n    pass\n\nx = 1\n\ndef b():\n    pass\n\ny = 1\n\nz = 1\n\ndef c():\n    pass\n"
    opened = text.replace("x = 1", 'x = """')
    closed = opened.replace("z = 1", '"""')
    for step in (text, opened, closed):
        found = [item.qualname for item in definitions.find_definitions(step, "typed")]
    assert found == ["a", "c"]


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
