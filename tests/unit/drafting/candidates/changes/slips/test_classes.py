"""Declarations of a class, and attributes that all its objects share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.candidates.changes.slips.classes import declarations, own_attributes
from greenloop.drafting.candidates.checks.gate import check
from greenloop_sandbox import CaseResult, Failure, Frame


def failed(message: str, kind: str = "AssertionError", line: int = 2) -> Attempt:
    frame = Frame(path="test_m.py", line=line, function="test_it")
    failure = Failure(type=kind, message=message, frames=(frame,), text="")
    case = CaseResult(id="test_m.py::test_it", outcome="failed", failure=failure)
    return Attempt(number=0, verdict=Verdict(status=Status.FAILED, cases=(case,)))


def declared(text: str, attempt: Attempt, name: str = "C", test: str = "") -> list[str]:
    """The first class of a file, or a method of it, as the changes leave the file."""
    rows = text.splitlines()
    start = next(row for row, line in enumerate(rows, start=1) if line.startswith(("@", "class")))
    if "." in name:
        start = next(row for row, line in enumerate(rows, start=1) if f"def {name.rpartition('.')[2]}" in line)
    texts = {"m.py": text, "test_m.py": test}
    region = Region(path="m.py", qualname=name, start=start, end=len(rows))
    problem = Problem(root="/w", spec=Spec(), regions=(region,), originals=texts, files={"m.py": text})
    candidates = list(declarations(problem, region, attempt))
    files = [compose(problem, each) for each in candidates]
    assert [check(problem, *pair) for pair in zip(candidates, files, strict=True)] == [None] * len(files)
    return [each["m.py"] for each in files]


SUBCLASS = "assert False\n +  where False = issubclass(C, ValueError)"


@pytest.mark.parametrize(
    ("header", "message", "wanted"),
    [
        ("class C(Exception):", SUBCLASS, ["class C(ValueError):"]),
        ("class C:", SUBCLASS, ["class C(ValueError):"]),
        ("class C( ) :", SUBCLASS, ["class C(ValueError) :"]),
        ("class C(ValueError):", SUBCLASS, []),
        ("class C(B):", SUBCLASS, ["class C(B, ValueError):"]),
        ("class D(B):", SUBCLASS, []),
        (
            "class C(object):",
            "assert False\n +  where False = isinstance(<m.C object at 0x7f>, (<class 'm.B'>, <class 'int'>))",
            ["class C(B, object):"],
        ),
        ("class C:", "exceptions must derive from BaseException", ["class C(Exception):"]),
        ("class C(B):", "exceptions must derive from BaseException", []),
    ],
)
def test_a_class_gets_the_base_that_the_tests_ask_for(header, message, wanted):
    name = header.split()[1].split("(")[0].rstrip(":")
    found = declared(f"from b import B\n{header}\n    pass\n", failed(message), name)
    assert [each.splitlines()[1] for each in found] == wanted


COMPARED = "assert <C.LOW: {0}> == {0}\n +  where <C.LOW: {0}> = C.LOW"
UNORDERED = "'<' not supported between instances of 'C' and 'C'"


@pytest.mark.parametrize(
    ("header", "value", "message", "wanted"),
    [
        ("class C(Enum):", "'low'", COMPARED.format("'low'"), ["class C(str, Enum):"]),
        ("class C(enum.Enum):", "3", COMPARED.format("3"), ["class C(int, enum.Enum):"]),
        ("class C(Enum):", "3", UNORDERED, ["class C(int, Enum):"]),
        ("class C(Enum):", "()", UNORDERED, []),
        ("class C(str, Enum):", "'low'", UNORDERED, []),
        ("class C(Enum):", "'low'", "assert <C.LOW: 'low'> == 'high'", []),
    ],
)
def test_members_of_an_enumeration_compare_as_their_values(header, value, message, wanted):
    found = declared(f"{header}\n    LOW = {value}\n", failed(message))
    assert [each.splitlines()[0] for each in found] == wanted


@pytest.mark.parametrize(
    ("decorator", "message", "wanted"),
    [
        ("@dataclass", UNORDERED, ["@dataclass(order=True)"]),
        ("@dataclass()", UNORDERED, ["@dataclass(order=True)"]),
        ("@d.dataclass(slots=True)", UNORDERED, ["@d.dataclass(slots=True, order=True)"]),
        ("@dataclass(order=False)", UNORDERED, []),
        ("@total_ordering", UNORDERED, []),
        ("@dataclass", "unhashable type: 'C'", ["@dataclass(frozen=True)", "@dataclass(unsafe_hash=True)"]),
        ("@dataclass", "unhashable type: 'D'", []),
        ("@dataclass", "DID NOT RAISE <class 'dataclasses.FrozenInstanceError'>", ["@dataclass(frozen=True)"]),
        ("@dataclass", "DID NOT RAISE <class 'ValueError'>", []),
    ],
)
def test_a_dataclass_gets_the_option_that_it_lacks(decorator, message, wanted):
    found = declared(f"{decorator}\nclass C:\n    x: int\n", failed(message))
    assert [each.splitlines()[0] for each in found] == wanted


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("0", "y: int = 0"),
        ("None", "y: int = None"),
        ("[]", "y: int = field(default_factory=list)"),
        ("{'a': 1}", "y: int = field(default_factory=lambda: {'a': 1})"),
        ("other", None),
    ],
)
def test_a_field_gets_the_default_that_the_test_compares_with(value, wanted):
    test = f"def test_it():\n    c = C(1)\n    assert c.x == 1\n    assert c.y == {value}\n"
    message = "C.__init__() missing 1 required positional argument: 'y'"
    found = declared("@dataclass\nclass C:\n    x: int\n    y: int\n", failed(message, "TypeError"), test=test)
    assert [each.splitlines()[-1].strip() for each in found] == ([wanted] if wanted else [])
    assert all(("from dataclasses import field" in each) is ("field(" in each) for each in found)


@pytest.mark.parametrize(
    ("slots", "wanted"),
    [("('a',)", "('a', 'b',)"), ("['a']", "['a', 'b']"), ("()", "('b',)"), ("[]", "['b']"), ("names", None)],
)
def test_an_attribute_that_a_method_sets_becomes_a_slot(slots, wanted):
    text = "class C:\n    __slots__ = {}\n\n    def __init__(self, b):\n        self.b = b\n"
    attempt = failed("'C' object has no attribute 'b'", "AttributeError")
    expected = [text.format(wanted)] if wanted else []
    assert declared(text.format(slots), attempt, "C.__init__") == expected


def test_an_attribute_that_nothing_sets_becomes_no_slot():
    text = "class C:\n    __slots__ = ('a',)\n\n    def f(self):\n        return self.b\n"
    assert declared(text, failed("'C' object has no attribute 'b'", "AttributeError"), "C.f") == []


def test_a_class_is_changed_once_though_two_of_its_methods_are_asked_about():
    text = "class C:\n    def f(self):\n        pass\n\n    def g(self):\n        pass\n"
    regions = tuple(
        Region(path="m.py", qualname=f"C.{name}", start=at, end=at + 1) for name, at in (("f", 2), ("g", 5))
    )
    files = {"m.py": text}
    problem = Problem(root="/w", spec=Spec(), regions=regions, originals=files, files=files)
    found = [len(list(declarations(problem, each, failed(SUBCLASS)))) for each in regions]
    assert found == [1, 0]
    assert not list(
        declarations(replace(problem, files={"m.py": "def f():\n    pass\n"}), regions[0], failed(SUBCLASS))
    )


def shared(text, line, name="C.x", *, assigns=True):
    region = Region(path="m.py", qualname=name, start=line, end=line, assigns=assigns)
    texts = {"m.py": text}
    return Problem(
        root="/w", spec=Spec(cases=(), selectors=()), regions=(region,), originals=texts, files=texts
    ), region


OWN = Attempt(number=0, verdict=Verdict(status=Status.FAILED))
INHERITED = "def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "class C:\n    x = []\n    def f(self):\n        pass\n",
            "class C:\n    def __init__(self):\n        self.x = []\n\n    def f(self):\n        pass\n",
        ),
        (
            "class C(B):\n    x: dict[str, int] = {}\n\n    y = 1\n",
            f"class C(B):\n    {INHERITED}\n        self.x = {{}}\n\n    y = 1\n",
        ),
        (
            'class C:\n  x = deque()\n  def __init__(self, y):\n    """Doc."""\n    self.y = y\n',
            'class C:\n  x: deque\n  def __init__(self, y):\n    """Doc."""\n    self.x = deque()\n    self.y = y\n',
        ),
    ],
)
def test_each_object_makes_its_own(text, wanted):
    problem, region = shared(text, 2)
    (candidate,) = own_attributes(problem, region, OWN)
    files = compose(problem, candidate)
    assert files == {"m.py": wanted}
    assert check(problem, candidate, files) is None


@pytest.mark.parametrize(
    ("value", "factory"), [("[]", "list"), ("set()", "set"), ("[1]", "lambda: [1]"), ("{'a': 1}", "lambda: {'a': 1}")]
)
def test_a_field_of_a_dataclass_has_a_factory(value, factory):
    head = "@dataclasses.dataclass(slots=True)\nclass C:\n    x: "
    problem, region = shared(f"{head}list = {value}\n", 3)
    (candidate,) = own_attributes(problem, region, OWN)
    (text,) = compose(problem, candidate).values()
    assert text == f"from dataclasses import field\n\n\n{head}list = field(default_factory={factory})\n"


@pytest.mark.parametrize(
    ("text", "line", "name", "assigns"),
    [
        ("class C:\n    x = ()\n", 2, "C.x", True),
        ("class C:\n    x: list\n", 2, "C.x", True),
        ("x = []\n", 1, "x", True),
        ("class C:\n    def x(self): return []\n", 2, "C.x", False),
        ("class C:\n    x = []\n    def __init__(self): pass\n", 2, "C.x", True),
    ],
)
def test_other_code_stays(text, line, name, assigns):
    problem, region = shared(text, line, name, assigns=assigns)
    assert not list(own_attributes(problem, region, OWN))
