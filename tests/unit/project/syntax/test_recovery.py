"""Definitions in broken texts."""

from __future__ import annotations

import pytest

from greenloop.project.syntax import definitions
from syntax_shapes import SHAPES

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


def test_a_string_opened_here_and_closed_there():
    text = "def a():\n    pass\n\nx = 1\n\ndef b():\n    pass\n\ny = 1\n\nz = 1\n\ndef c():\n    pass\n"
    opened = text.replace("x = 1", 'x = """')
    closed = opened.replace("z = 1", '"""')
    for step in (text, opened, closed):
        found = [item.qualname for item in definitions.find_definitions(step, "typed")]
    assert found == ["a", "c"]
