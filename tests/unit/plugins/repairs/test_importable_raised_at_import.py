"""Code that raises at import: what is to be changed, and what stands in for it."""

from __future__ import annotations

import pytest

from greenloop.core.records.spec import Region
from greenloop.plugins.repairs.importable import depends_on_stand_in, function_replaced, places, with_stand_in
from greenloop_sandbox import Failure, Frame

CODE = """import os

SIZE = 3
TABLE = dict(
    [(1, 2, 3)],
)  # pairs


def build(n):
    return n / 0


class P:
    limit = build(SIZE)
    xs: list = []

    def __init__(self):
        raise ValueError


for n in range(3):
    build(n)
"""


def found(*frames, message="", code=CODE):
    failure = Failure(type="E", message=message, frames=tuple(Frame(path=p, line=n, function="") for p, n in frames))
    return [(each.qualname, each.assigns) for each in places(failure, {"m.py": code}.get, ("test_*.py",))]


@pytest.mark.parametrize(
    ("line", "message", "wanted"),
    [
        (5, "", [("TABLE", True)]),
        (10, "", [("build", False)]),
        (14, "", [("P.limit", True)]),
        (18, "", [("P.__init__", False)]),
        (13, "mutable default <class 'list'> for field xs is not allowed", [("P.xs", True)]),
        (13, "something else", []),
        (21, "", []),  # a loop
        (1, "", []),  # an import
    ],
)
def test_what_a_line_belongs_to(line, message, wanted):
    assert found(("m.py", line), message=message) == wanted


def test_the_innermost_comes_first_and_tests_and_libraries_never():
    frames = [("test_m.py", 1), ("m.py", 14), ("m.py", 10), ("/usr/lib/python3/json.py", 3)]
    assert found(*frames) == [("build", False), ("P.limit", True)]


def test_text_that_does_not_parse_has_no_assignment():
    assert found(("m.py", 1), code="x = (\n") == []


def run(text):
    values = {}
    exec(compile(text, "m.py", "exec"), values)
    return values


def test_a_stand_in_for_an_assignment_keeps_what_is_around_it():
    text = "é = 1\nTABLE: dict = dict(\n    [(1, 2, 3)],\n)  # pairs\nx = list(TABLE[0] for n in TABLE.items())\n"
    new = with_stand_in(Region(path="m.py", qualname="TABLE", start=2, end=4, assigns=True), text)
    assert new.startswith("é = 1\nTABLE: dict = __import__(")
    assert ")  # pairs\n" in new
    assert run(new)["x"] == []


def test_a_stand_in_for_a_decorator_keeps_what_is_decorated():
    text = "def named(f):\n    return 1 / 0\n\n\n@named\ndef g():\n    return 3\n\n\nh = named('h')(g)\n"
    values = run(with_stand_in(Region(path="m.py", qualname="named", start=1, end=2), text))
    assert values["g"]() == 3
    assert values["h"] is values["g"]


def test_a_stand_in_for_a_constructor_returns_nothing():
    text = "class P:\r\n\tdef __init__(self):\r\n\t\traise ValueError\r\n\r\n\r\np = P()\r\n"
    new = with_stand_in(Region(path="m.py", qualname="P.__init__", start=2, end=3), text)
    assert new == "class P:\r\n\tdef __init__(*args, **kwargs):\r\n\t\treturn None\r\n\r\n\r\np = P()\r\n"
    assert type(run(new)["p"]).__name__ == "P"


@pytest.mark.parametrize("text", ["x = (\n", "y = 1\n"])
def test_there_is_no_stand_in_for_an_assignment_that_is_not_there(text):
    assert with_stand_in(Region(path="m.py", qualname="x", start=1, end=1, assigns=True), text) is None


def test_a_replaced_function_has_the_statement_alone():
    region = Region(path="m.py", qualname="f", start=1, end=3)
    assert function_replaced(region, "@a\nasync def f(x):\n    return x\n", "raise E") == (
        "async def f(*args, **kwargs):\n    raise E\n"
    )


@pytest.mark.parametrize(
    ("case", "wanted"),
    [("test_m.py::test[NOTSET]", True), ("test_m.py::test[<MagicMock id='1'>]", True), ("test_m.py::test[1]", False)],
)
def test_tests_that_were_made_from_a_stand_in_are_known(case, wanted):
    assert depends_on_stand_in(case) is wanted
