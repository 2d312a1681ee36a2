"""Functions of a text by their code objects, and which of them do the same."""

from __future__ import annotations

import pytest

from inside import load

TEXT = """
import functools

def plain(x): return [y for y in x]

class Box:
    limit = (lambda: 3)()
    def get(self): return self.x
    class Inner:
        async def deep(self): yield 1

def outer():
    def inner(): pass
    return inner
"""


@pytest.fixture
def code_objects():
    return load("code_objects")


def test_functions_are_found_by_their_qualified_names(code_objects):
    codes = code_objects.codes_of_text(TEXT, "m.py")
    assert sorted(codes) == ["Box.Inner.deep", "Box.get", "outer", "outer.<locals>.inner", "plain"]
    assert "<lambda>" in {code.co_name for code in code_objects.all_codes(TEXT, "m.py")}


def test_the_last_definition_counts(code_objects):
    codes = code_objects.codes_of_text("def f(): return 1\ndef f(): return 2\n", "m.py")
    assert 2 in codes["f"].co_consts


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("def f(x): return x", "\n\ndef f(x):\n    # why\n    return x", True),
        ("def f(x): return x", "def f(x): return -x", False),
        ("def f(x): return x + 1", "def f(x): return x + 1.0", False),
        ("def f(x): return x + 1", "def f(x): return x + True", False),
        ("def f(x): return lambda: 1", "def f(x): return lambda: 2", False),
        ("def f(x): return a", "def f(x): return b", False),
    ],
)
def test_code_is_the_same_wherever_it_stands(code_objects, before, after, same):
    codes = [code_objects.codes_of_text(text, "m.py")["f"] for text in (before, after)]
    assert code_objects.same_code(*codes) is same


def test_a_changed_comparison_is_new_unless_its_change_was_asked_for(tmp_path):
    path = tmp_path / "m.py"
    own = "class V:\n    def __eq__(self, other):\n        return False\n"
    path.write_text(own.replace("False", "True"))
    space = {"__name__": "m"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    code = space["V"].__eq__.__code__

    def is_new(own_text, *asked):
        return load("code_objects").OwnCode({str(path): own_text}, {str(path): asked}).is_new(code)

    assert is_new(own)
    assert not is_new(own, "V.__eq__")
    assert is_new("class V:\n    pass\n", "V.__eq__")  # the user's own code had none
