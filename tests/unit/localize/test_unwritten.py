"""Which unwritten functions are filled together, and in which order."""

from __future__ import annotations

import pytest

from greenloop.core.records.spec import Region, Target, TargetKind
from greenloop.localize.unwritten import MOST, around, belonging, members, modules_around, text_of_user
from greenloop.project.snapshot import Snapshot

CODE = '''from abc import abstractmethod
from typing import Protocol


def helper(values):
    """Used by `Shelf.total`."""
    raise NotImplementedError


def written(values):
    return sum(values)


class Shelf:
    """Holds boxes."""

    def total(self):
        """The sum of all weights, by `helper`."""
        ...

    def add(self, box):
        pass

    def __init__(self):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def remove(self, box):
        raise NotImplementedError

    def heaviest(self):
        return max(self.boxes)

    @abstractmethod
    def price(self):
        raise NotImplementedError


class Sized(Protocol):
    def add(self, box): ...


class Other:
    def add(self, box):
        raise NotImplementedError
'''


def region(name: str) -> Region:
    row = next(row for row, line in enumerate(CODE.split("\n"), 1) if f"def {name.rpartition('.')[2]}(" in line)
    return Region(path="m.py", qualname=name, start=row, end=row + 1)


def names(found) -> list[str]:
    return [each.qualname for each in found]


def test_what_the_test_calls_is_filled_constructor_first_then_in_the_order_of_the_calls():
    user = "from m import Shelf\n\ndef test():\n    shelf = Shelf()\n    shelf.add(1)\n    shelf.total()\n    shelf.price()\n"
    found = belonging(region("Shelf.__init__"), {"m.py": CODE}, user)
    assert names(found) == ["Shelf.__init__", "Shelf.add", "Shelf.total", "helper", "Shelf.__len__"]


def test_an_import_alone_is_no_need():
    user = "from m import (\n    Shelf,\n    helper,\n)\nfrom m import Other\n\ndef test():\n    helper([])\n"
    assert names(belonging(region("helper"), {"m.py": CODE}, user)) == ["helper"]


def test_members_are_all_unwritten_functions_but_abstract_ones():
    owner = Region(path="m.py", qualname="Shelf", start=14, end=38)
    assert names(members(owner, CODE)) == [
        "Shelf.total",
        "Shelf.add",
        "Shelf.__init__",
        "Shelf.__len__",
        "Shelf.remove",
    ]
    assert names(members(Region(path="m.py", qualname="Sized", start=41, end=42), CODE)) == []


def test_no_more_than_a_dozen():
    text = "class Big:\n" + "".join(f"    def m{number}(self): ...\n" for number in range(30))
    first = Region(path="m.py", qualname="Big.m0", start=2, end=2)
    user = " ".join(f"big.m{number}()" for number in range(30))
    assert names(belonging(first, {"m.py": text}, user)) == [f"Big.m{number}" for number in range(MOST)]


TESTS = """import pytest

@pytest.fixture
def shelf():
    return Shelf()

def test_add(shelf):
    shelf.add(1)

def test_remove(shelf):
    shelf.remove(1)

class TestTotal:
    def test_empty(self, shelf):
        assert shelf.total() == 0
"""


@pytest.mark.parametrize(
    ("name", "first", "last", "words", "not_words"),
    [
        ("test_add", 7, 8, ["Shelf()", ".add("], [".remove(", ".total("]),
        ("TestTotal", 13, 15, ["Shelf()", ".total("], [".add("]),
        ("", 1, 15, ["Shelf()", ".add(", ".remove(", ".total("], []),
    ],
)
def test_the_texts_of_other_tests_do_not_count(name, first, last, words, not_words):
    target = Target(
        kind=TargetKind.TEST, path="t.py", qualname=name, selector="t.py", start=first, end=last, name_line=first
    )
    text = text_of_user(target, TESTS)
    assert all(word in text for word in words)
    assert not any(word in text for word in not_words)


def test_a_private_method_of_a_class_is_needed_with_it():
    text = "class A:\n    def run(self): ...\n    def _check(self): ...\n    def stop(self): ...\n\nclass B:\n    def _check(self): ...\n"
    first = Region(path="m.py", qualname="A.run", start=2, end=2)
    assert names(belonging(first, {"m.py": text}, "A().run()")) == ["A.run", "A._check"]


def test_other_modules_that_are_imported_count(tmp_path):
    files = {
        "a.py": "from b import B\n\n\nclass A:\n    def run(self): ...\n",
        "b.py": "import c\n\n\nclass B:\n    def go(self): ...\n    def rest(self): ...\n",
        "c.py": "def far(): ...\n",
        "test_a.py": "import pytest\nfrom a import A\n\n\ndef test_a():\n    assert A().run().go() == 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    texts = modules_around("a.py", "test_a.py", Snapshot(root=tmp_path, buffers={}), None)
    assert [*texts] == ["a.py", "b.py"]
    first = Region(path="a.py", qualname="A.run", start=5, end=5)
    assert names(belonging(first, texts, files["test_a.py"])) == ["A.run"]  # nothing names B
    assert names(belonging(first, texts, files["test_a.py"] + "    B()\n")) == ["A.run", "B.go"]


def test_what_no_text_names_is_around():
    every = members(Region(path="m.py", qualname="", start=1, end=1), CODE)
    named = [each for each in every if each.qualname.startswith("Shelf.")]
    assert [each.qualname for each in around(named, {"m.py": CODE})] == ["helper", "Other.add"]


PROPERTY = """class Temp:
    @property
    def celsius(self):
        raise NotImplementedError

    @celsius.setter
    def celsius(self, value):
        raise NotImplementedError

    @celsius.deleter
    def celsius(self):
        del self._celsius
"""


def test_getter_and_setter_of_a_property_are_two():
    found = members(Region(path="t.py", qualname="Temp", start=1, end=1), PROPERTY)
    assert [(each.qualname, each.start) for each in found] == [("Temp.celsius", 2), ("Temp.celsius", 6)]
    assert belonging(found[0], {"t.py": PROPERTY}, "Temp().celsius = 1") == found


CODEC = """class Codec:
    def encode(self, text):
        raise NotImplementedError


class Reverse(Codec):
    def encode(self, text):
        raise NotImplementedError
"""


@pytest.mark.parametrize(
    ("test", "others"),
    [
        ("assert isinstance(Reverse(), Codec)\nReverse().encode(1)", []),
        ("Reverse().encode(1)\nCodec().encode(1)", ["Codec.encode"]),
    ],
)
def test_a_method_that_subclasses_define_is_left_to_them(test, others):
    reverse = members(Region(path="c.py", qualname="Reverse", start=1, end=1), CODEC)
    found = belonging(reverse[0], {"c.py": CODEC}, test)
    assert sorted(each.qualname for each in found) == [*others, "Reverse.encode"]
