"""Where the functions and classes are that a failure names."""

from __future__ import annotations

import pytest

from greenloop.localize.unreached.named_by_failure import (
    find_called,
    find_called_by,
    find_in_scripts,
    find_named,
    find_plain_classes,
    find_used,
    is_about_classes,
    names_something,
)
from greenloop_sandbox import Failure, Frame

TEXT = """\
class C:
    def f(self):
        pass

    class D:
        pass


def g():
    pass


class Color(str, Enum):
    RED = "r"
"""
TEXTS = {"m.py": TEXT, "n.py": "def g():\n    pass\n", "broken.py": "def"}


def calls(name):
    return Failure(type="TypeError", message=f"{name}() takes 0 positional arguments but 1 was given")


def lacks(message):
    return Failure(type="AttributeError", message=message)


@pytest.mark.parametrize(
    ("failure", "wanted"),
    [
        (calls("C.f"), [("m.py", "C.f", 2, 3)]),
        (calls("g"), [("m.py", "g", 9, 10), ("n.py", "g", 1, 2)]),
        (calls("C.__init__"), [("m.py", "C", 1, 6)]),
        (calls("C.D"), []),
        (calls("h"), []),
        (lacks("BLUE"), [("m.py", "Color", 13, 14)]),
        (lacks("type object 'Color' has no attribute 'BLUE'"), [("m.py", "Color", 13, 14)]),
        (lacks("GREEN"), []),
        (Failure(type="ValueError", message="BLUE"), []),
        (None, []),
    ],
)
def test_what_a_failure_names(failure, wanted):
    found = find_named([failure], TEXTS, "assert Color.BLUE.value == 'b'")
    assert [(each.path, each.qualname, each.start, each.end) for each in found] == wanted
    assert names_something([failure]) or not found


def test_a_failure_that_names_nothing():
    assert not names_something([None, Failure(type="AssertionError", message="assert 1 == 2")])


@pytest.mark.parametrize(
    ("uses", "wanted"),
    [
        ('run([sys.executable, "app.py"])', ["app.py:main", "app.py:App.go"]),
        ("run(['python', './tools/app.py', 'x'])", ["tools/app.py:tool"]),
        ("run(f'{ROOT}/tools/app.py')", ["tools/app.py:tool"]),
        ("run([sys.executable, '-m', 'tools.app'])", ["tools/app.py:tool"]),
        ("run(['python', 'pp.py'])", []),
        ("assert f() == 'app'", []),
    ],
)
def test_the_functions_of_programs(tmp_path, uses, wanted):
    files = {
        "app.py": "def main():\n    pass\n\n\nclass App:\n    def go(self):\n        pass\n",
        "tools/app.py": "def tool():\n    pass\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    found = [f"{each.path}:{each.qualname}" for each in find_in_scripts(uses, tmp_path, files.get)]
    assert [each for each in found if each in wanted] == wanted
    assert wanted or not found


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ("assert g([1]) == C().f()", [("m.py", "g"), ("n.py", "g")]),
        ("assert Color(1)", []),
        ("assert g == 1", []),
    ],
)
def test_what_the_failing_line_calls(row, wanted):
    frames = (Frame(path="helpers.py", line=9, function="check"), Frame(path="test_m.py", line=2, function="test_it"))
    failures = [Failure(type="TypeError", message="unhashable type: 'list'", frames=frames), None]
    test = f"def test_it():\n    {row}\n"
    found = find_called(failures, TEXTS, {"test_m.py": test}.get)
    assert [(each.path, each.qualname) for each in found] == wanted


RECORD = "@dataclass\nclass P:\n    x: int\n\n\nclass Q:\n    x = 1\n"


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("'P' object has no attribute 'y'", ["P"]),
        ("'<' not supported between instances of 'P' and 'P'", ["P"]),
        ("unhashable type: 'P'", ["P"]),
        ("'Q' object has no attribute 'y'", []),
        ("unsupported operand type(s) for +: 'P' and 'P'", []),
    ],
)
def test_a_record_that_lacks_what_its_fields_decide(message, wanted):
    failures = [Failure(type="TypeError", message=message)]
    assert [each.qualname for each in find_named(failures, {"m.py": RECORD}, "")] == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (2, ["Color"]),
        (3, ["g", "g", "C"]),
        (4, ["Color", "g", "g"]),  # the line names nothing, its test does
        (6, []),
    ],
)
def test_what_a_test_names_that_ran_nothing(line, wanted):
    test = "def test_a():\n    assert Color('blue')\n    signature(g, C)\n    assert x\n\nassert y\n"
    frames = tuple(Frame(path=path, line=line, function="f") for path in ("test_m.py", "/usr/lib/enum.py"))
    found = find_used([None, Failure(type="E", message="", frames=frames)], TEXTS, {"test_m.py": test}.get)
    assert [each.qualname for each in found] == wanted


def test_a_long_class_is_not_changed_as_a_whole():
    frames = (Frame(path="test_m.py", line=1, function="f"),)
    text = "class Big:\n" + "    x = 1\n" * 100
    assert not find_used([Failure(type="E", message="", frames=frames)], {"m.py": text}, {"test_m.py": "Big\n"}.get)


@pytest.mark.parametrize(
    ("message", "is_one"),
    [
        ("assert False\n +  where False = issubclass(Bad, ValueError)", True),
        ("assert False\n +  where False = isinstance(<m.Dog object at 0x7>, Animal)", True),
        ("assert False\n +  where False = hasattr(Bad, 'x')", False),
    ],
)
def test_whether_a_class_should_be_derived_from_another(message, is_one):
    assert is_about_classes([Failure(type="AssertionError", message=message)]) is is_one


@pytest.mark.parametrize(
    ("uses", "wanted"),
    [
        ("with raises(Closed): Color.RED", ["Color", "Closed"]),
        ("D(), C(), g()", ["C.D"]),
        ("C().f()", []),
        ("Closed(Color, D)", ["C.D", "Color"]),
    ],
)
def test_classes_without_functions_that_a_test_names(uses, wanted):
    texts = {**TEXTS, "errors.py": "class Closed(Exception):\n    pass\n"}
    assert [each.qualname for each in find_plain_classes(uses, texts)] == wanted


def test_a_long_class_that_a_test_names_is_left_out():
    text = "class C:\n" + "".join(f"    x{number} = 1\n" for number in range(100))
    assert find_plain_classes("C.x1", {"m.py": text}) == []


def test_functions_that_a_test_calls_in_the_order_of_the_calls():
    found = find_called_by("g(1)\nassert C().f() == h(g)", TEXT, "m.py")
    assert [each.qualname for each in found] == ["g", "C.f"]
    assert find_called_by("g(1)\nC().f()", TEXT, "m.py", most=1) == found[:1]
