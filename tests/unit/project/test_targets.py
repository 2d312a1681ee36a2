"""What a position or a name points at."""

from __future__ import annotations

import pytest

from greenloop.core.records.spec import TargetKind
from greenloop.project import targets
from greenloop.project.test_naming import NamingRules
from targets_texts import CODE, TESTS


def line_of(text, part):
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize(
    ("part", "selector"),
    [
        ("@pytest.mark.parametrize", "test_plain"),
        ("def test_plain", "test_plain"),
        ("return x", "test_plain"),
        ("async def test_async", "test_async"),
        ("class TestThing", "TestThing"),
        ('"""Doc."""', "TestThing"),
        ("def test_one", "TestThing::test_one"),
        ("def test_two", "TestThing::TestInner::test_two"),
        ("class TestInner", "TestThing::TestInner"),
        ("class Base", "Base"),
        ("def test_base", "Base::test_base"),
        ("def test_derived", "Derived::test_derived"),
        ("import pytest", None),
        ("def test_data", None),
        ("def helper():\n    pass", None),
        ("def setup_method", None),
        ("def check", None),
        ("class TestWithInit", None),
        ("class Plain", None),
    ],
)
def test_at_in_a_test_file(part, selector):
    target = targets.target_at(TESTS, "tests/test_m.py", line_of(TESTS, part))
    assert (target and target.selector) == (selector and f"tests/test_m.py::{selector}")
    assert target is None or target.kind is TargetKind.TEST


@pytest.mark.parametrize(
    ("part", "qualname"),
    [
        ("def area", "area"),
        (">>> area", "area"),
        ('"""Inner."""', "area"),
        ("return w * h", "area"),
        ("def __init__", "Box.__init__"),
        ("@property", "Box.size"),
        ("class Box", "Box"),
        (">>> Box", "Box"),
        ("class Bare", None),
        ("LIMIT", None),
        ("def test_drive", "test_drive"),
    ],
)
def test_at_in_other_files(part, qualname):
    target = targets.target_at(CODE, "m.py", line_of(CODE, part))
    assert (target and target.selector) == (qualname and f"m.py::{qualname}")
    assert target is None or target.kind is TargetKind.FUNCTION


MORE = '''\
import pytest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    def test_for_checkers(): ...
else:
    def test_at_run_time():
        assert 1

# between

@pytest.mark.parametrize(
    "x",
    [1, 2],
)
@pytest.mark.asyncio
async def test_parametrised(x):
    """Doc.

    of several lines
    """
    async def inner():
        return x

    # within
    assert await inner()
    # after

if sys.platform == "linux":
    def test_here(): pass

class TestOuter:

    # in the class, between

    limit = 3

    class TestInner:
        @pytest.mark.skip
        def test_deep(self):
            def helper():
                pass

    @property
    def name(self): return self._name

    @name.setter
    def name(self, value): self._name = value

    def test_last(self):
        pass

        # still of it
        assert (1,
'''


@pytest.mark.parametrize(
    ("part", "selector"),
    [
        ("def test_for_checkers", "test_for_checkers"),
        ("else:", None),
        ("assert 1\n", "test_at_run_time"),
        ("# between", None),
        ('    "x",', "test_parametrised"),
        ("@pytest.mark.asyncio", "test_parametrised"),
        ("of several lines", "test_parametrised"),
        ("return x", "test_parametrised"),
        ("# within", "test_parametrised"),
        ("# after", None),
        ("if sys.platform", None),
        ("def test_here", "test_here"),
        ("class TestOuter", "TestOuter"),
        ("\n    # in the class", None),
        ("# in the class", None),
        ("limit = 3", "TestOuter"),
        ("class TestInner", "TestOuter::TestInner"),
        ("@pytest.mark.skip", "TestOuter::TestInner::test_deep"),
        ("def helper", "TestOuter::TestInner::test_deep"),
        ("@property", None),
        ("@name.setter", None),
        ("# still of it", "TestOuter::test_last"),
        ("assert (1,", "TestOuter::test_last"),
    ],
)
@pytest.mark.parametrize("damage", ["", "\n\ndef broken(:\n    x = [\n"])
def test_at_everywhere_also_in_broken_files(part, selector, damage):
    target = targets.target_at(MORE + damage, "tests/test_more.py", line_of(MORE, part))
    assert (target and target.selector) == (selector and f"tests/test_more.py::{selector}")


SETTERS = '''\
class Box:
    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, value):
        self._size = value

    def area(self):
        """Area."""

    try:
        def fast(self): return 1
    except ImportError:
        def fast(self): return 2
'''


@pytest.mark.parametrize(
    ("part", "qualname", "start"),
    [
        ("return self._size", "Box.size", 2),
        ("@size.setter", "Box.size", 6),
        ("self._size = value", "Box.size", 6),
        ("Area.", "Box.area", 10),
        ("return 1", "Box.fast", 14),
        ("return 2", "Box.fast", 16),
        ("try:", None, 0),
        ("class Box", "Box", 1),  # one of its methods is still to be written
    ],
)
def test_setters_and_conditional_definitions(part, qualname, start):
    target = targets.target_at(SETTERS, "m.py", line_of(SETTERS, part))
    assert (target and (target.qualname, target.start)) == (qualname and (qualname, start))


def test_headings_are_all_targets():
    for text, path in ((TESTS, "test_m.py"), (MORE, "test_m.py"), (CODE, "m.py"), (SETTERS, "m.py")):
        found = [(item.kind, item.qualname, item.selector, item.line) for item in targets.list_headings(text, path)]
        expected = targets.list_targets(text, path)
        assert found == [(item.kind, item.qualname, item.selector, item.start) for item in expected]
    examples = {item.qualname: (item.is_class, item.examples) for item in targets.list_headings(CODE, "m.py")}
    assert examples["area"] == (False, True)
    assert examples["Box"] == (True, True)
    assert examples["Box.size"] == (False, False)


def test_at_gives_lines_and_region():
    target = targets.target_at(TESTS, "test_m.py", line_of(TESTS, "def test_plain"))
    assert (target.start, target.end, target.name_line) == (10, 14, 11)
    function = targets.target_at(CODE, "m.py", line_of(CODE, "def area"))
    region = function.region
    assert (region.path, region.qualname, region.start, region.end, region.created) == ("m.py", "area", 5, 14, False)


def test_patterns_of_the_project_decide_what_a_test_file_is():
    text = "def test_a():\n    pass\n"
    assert targets.target_at(text, "check_m.py", 1).kind is TargetKind.FUNCTION
    assert targets.target_at(text, "check_m.py", 1, python_files=("check_*.py",)).kind is TargetKind.TEST
    assert targets.target_at(text, "test_m.py", 1, python_files=("check_*.py",)).kind is TargetKind.FUNCTION


@pytest.mark.parametrize(
    ("mark", "is_test"),
    [
        ('pytest.mark.parametrize("x", [load_fixture("a.json")])', True),
        ("with_fixture", True),
        ("pytest.mark.usefixtures('fixture(')", True),
        ("fixture", False),
        ("pytest.fixture(name='x')", False),
        ("pytest_asyncio.fixture", False),
        ("pytest.yield_fixture()", False),
    ],
)
def test_a_test_is_no_fixture_for_what_its_marks_speak_of(mark, is_test):
    assert bool(targets.target_at(f"@{mark}\ndef test_a(x):\n    pass\n", "test_m.py", 2)) == is_test


def test_names_of_the_project_decide_what_a_test_is():
    text = (
        "class ListSpec:\n    def it_works(self): pass\n    def test_it(self): pass\n"
        "def check_a(): pass\n"
        "class Old(unittest.TestCase):\n    def test_b(self): pass\n    def it_b(self): pass\n"
    )
    names = NamingRules(functions=("it_", "check*a"), classes=("Test", "*Spec"))
    found = [each.selector.partition("::")[2] for each in targets.list_targets(text, "test_m.py", names=names)]
    assert found == ["ListSpec", "ListSpec::it_works", "check_a", "Old", "Old::test_b"]
    usual = [each.qualname for each in targets.list_targets(text, "test_m.py")]
    assert usual == ["Old", "Old.test_b"]


OVERLOADS = """\
from typing import overload


@overload
def double(x: int) -> int: ...
@overload
def double(x: str) -> str: ...
def double(x):
    return x + x
"""


@pytest.mark.parametrize("line", [4, 5, 6, 7, 8, 9])
def test_an_overload_stands_for_its_function(line):
    target = targets.target_at(OVERLOADS, "m.py", line)
    assert (target.qualname, target.start, target.end) == ("double", 8, 9)
    assert [each.start for each in targets.list_targets(OVERLOADS, "m.py")] == [8]
    assert [each.line for each in targets.list_headings(OVERLOADS, "m.py")] == [8]


def test_a_test_of_unittest_is_no_function_where_its_file_is_none_of_tests():
    """As in a Django project's `tests.py`: to refine it would be to change the test."""
    text = "class Tests(TestCase):\n    def test_a(self):\n        pass\n    def made(self):\n        pass\n"
    assert [targets.target_at(text, "app/tests.py", line) for line in (1, 2, 3)] == [None] * 3
    assert targets.target_at(text, "app/tests.py", 4).qualname == "Tests.made"
    assert [each.qualname for each in targets.list_targets(text, "app/tests.py")] == ["Tests.made"]
    assert targets.target_at(text, "app/tests.py", 3, python_files=("tests.py",)).kind is TargetKind.TEST


def test_a_test_of_unittest_is_found_by_its_name_in_any_file():
    """pytest collects a file that is named, whatever `python_files` says; peewee's tests are in `tests/models.py`."""
    text = "class Tests(ModelTestCase):\n    def test_a(self):\n        pass\n    def made(self):\n        pass\n"
    found = targets.find_target(text, "tests/models.py", "Tests::test_a[1]")
    assert (found.kind, found.selector) == (TargetKind.TEST, "tests/models.py::Tests::test_a[1]")
    assert targets.find_target(text, "tests/models.py", "Tests.made").kind is TargetKind.FUNCTION


def test_a_test_that_a_plugin_of_the_project_collects_is_found_by_its_name():
    """SQLAlchemy's conftest collects classes that inherit from its own base, whatever they are called."""
    text = "class NumericTest(fixtures.TestBase):\n    def test_a(self):\n        pass\n    def made(self):\n        pass\n"
    found = targets.find_target(text, "test_m.py", "NumericTest::test_a")
    assert (found.kind, found.selector) == (TargetKind.TEST, "test_m.py::NumericTest::test_a")
    assert targets.find_target(text, "test_m.py", "NumericTest::made") is None
    assert targets.find_target(text.replace("(fixtures.TestBase)", ""), "test_m.py", "NumericTest::test_a") is None
    assert targets.list_targets(text, "test_m.py") == []


def test_a_byte_order_mark_hides_nothing():
    assert targets.target_at("\ufeffdef first():\n    pass\n", "m.py", 1).qualname == "first"
    assert targets.target_at("\ufeffclass TestA:\n    def test_b(self):\n        pass\n", "test_m.py", 2).end == 3


@pytest.mark.parametrize(
    ("path", "patterns", "expected"),
    [
        ("test_m.py", None, True),
        ("a/b/m_test.py", None, True),
        ("a/test_m.pyi", None, False),
        ("test_m.txt", None, False),
        ("tests/m.py", None, False),
        ("a/tests/m.py", ("tests/*.py",), True),
        ("m.py", ("*.py",), True),
        ("test_m.py", (), False),
    ],
)
def test_is_test_file(path, patterns, expected):
    assert targets.is_test_file(path, patterns) is expected


@pytest.mark.parametrize(
    ("name", "selector"),
    [
        ("test_plain", "test_plain"),
        ("test_plain[1]", "test_plain[1]"),
        ("test_plain[a::b/c-[]", "test_plain[a::b/c-[]"),
        ("TestThing::TestInner::test_two", "TestThing::TestInner::test_two"),
        ("TestThing.test_one", "TestThing::test_one"),
        ("Derived", "Derived"),
        ("TestThing[1]", None),
        ("helper", None),
        ("nothing", None),
    ],
)
def test_find_in_a_test_file(name, selector):
    target = targets.find_target(TESTS, "test_m.py", name)
    assert (target and target.selector) == (selector and f"test_m.py::{selector}")


def test_all_targets():
    names = [target.qualname for target in targets.list_targets(TESTS, "test_m.py")]
    assert names == [
        "test_plain",
        "test_async",
        "TestThing",
        "TestThing.test_one",
        "TestThing.TestInner",
        "TestThing.TestInner.test_two",
        "Base",
        "Base.test_base",
        "Derived",
        "Derived.test_derived",
    ]
    functions = [target.qualname for target in targets.list_targets(CODE, "m.py")]
    assert functions == ["area", "Box", "Box.__init__", "Box.size", "test_drive"]


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("slugfy", ["slugify", "area"], ["slugify"]),
        ("TestA::test_b", ["test_m.py::test_b", "x"], ["test_m.py::test_b"]),
        ("zzz", ["slugify"], []),
    ],
)
def test_nearest(name, candidates, expected):
    assert targets.nearest_names(name, candidates) == expected
