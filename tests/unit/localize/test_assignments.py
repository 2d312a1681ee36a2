"""Assignments that suspicious functions or the failing test read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop.core.records.spec import Region
from greenloop.localize import assignments
from greenloop.localize.evidence import CoverageEvidence, Reached
from greenloop_sandbox import Failure, Frame
from project_files import write_files

SHOP = """\
import re

import limits
from rates import RATES as TABLE, Base

_WORD = r"[a-z]+"
_LINE = re.compile("^" + _WORD)
UNUSED = 1


class Shop(Base):
    kinds = ("pen",)
    first = 3

    def tax(self, kind, more=first):
        kind = self.name(kind)
        if kind in self.kinds and type(self).open:
            return TABLE[kind] + limits.HIGHEST
        return more

    def name(self, text: UNUSED) -> UNUSED:
        _WORD = text
        return _LINE.match(_WORD)


class Closed(Shop):
    kinds = ()
"""
TEXTS = {
    "shop.py": SHOP,
    "rates.py": 'RATES = {"pen": 19}\n\n\nclass Base:\n    open = True\n',
    "limits.py": "HIGHEST = 9\n",
    "conftest.py": "LIMITS = 3\n",
    "test_shop.py": "import limits\nfrom shop import Closed\nfrom conftest import LIMITS\n\n\n"
    "def test_kinds():\n    closed = Closed()\n    assert closed.kinds == LIMITS and limits.HIGHEST\n",
}


def function(name: str, path: str = "shop.py") -> Region:
    lines = TEXTS[path].split("\n")
    start = next(number for number, line in enumerate(lines, 1) if line.strip().startswith(f"def {name}("))
    end = next((number for number in range(start + 1, len(lines)) if not lines[number].strip()), len(lines))
    owner = "Shop." if path == "shop.py" else ""
    return Region(path=path, qualname=f"{owner}{name}", start=start, end=end)


def evidence(*suspects: Region, failing: Failure | None = None) -> CoverageEvidence:
    return CoverageEvidence(
        suspects={each: Reached(depth=1, order=0) for each in suspects},
        entered={},
        failing={"test_shop.py::test_kinds": failing},
        passing=(),
        frames={},
        text_of=TEXTS.get,
    )


@pytest.fixture
def root(tmp_path):
    write_files(tmp_path, TEXTS)
    return tmp_path


def read(root, region: Region) -> dict[str, float]:
    names = assignments.Names(root=root, text_of=TEXTS.get, patterns=None)
    return {each.qualname: share for each, share in names.read_by(region, ["shop.py"])}


def test_names_of_the_module_of_imports_and_of_the_class_with_its_bases_and_derived_classes(root):
    assert read(root, function("tax")) == {
        "RATES": 0.5,
        "Shop.first": 0.5,
        "Shop.kinds": 0.5,
        "Closed.kinds": 0.5,
        "Base.open": 0.5,
        "HIGHEST": 0.5,
    }


def test_what_another_assignment_is_made_of_is_read_with_it_but_local_names_are_not(root):
    assert read(root, function("name")) == {"_LINE": 0.5, "_WORD": 0.25}


def test_what_the_failing_test_reads_is_suspicious_without_any_function(root):
    frames = (Frame(path="test_shop.py", line=8, function="test_kinds"),)
    failure = Failure(type="AssertionError", message="", frames=frames)
    found = assignments.find_read(evidence(failing=failure), [], {}, root)
    assert {each.qualname for each in found} == {"Closed.kinds", "Shop.kinds", "HIGHEST"}  # never a conftest's
    assert all(each.assigns for each in found)


def test_names_of_modules_whose_every_name_is_imported(root):
    test = "from limits import *\nfrom shop import *\n\n\ndef test_kinds():\n    assert Closed.kinds == HIGHEST == unknown\n"
    names = assignments.Names(root=root, text_of={**TEXTS, "test_shop.py": test}.get, patterns=None)
    region = Region(path="test_shop.py", qualname="test_kinds", start=5, end=6)
    assert {each.qualname for each, _share in names.read_by(region, [])} == {"Closed.kinds", "Shop.kinds", "HIGHEST"}


def test_a_class_attribute_that_is_read_by_its_name_is_suspicious_in_the_classes_of_the_test(tmp_path):
    texts = {
        "lexer.py": "class Lexer:\n    rules = ()\n    name = 'plain'\n\n    def run(self):\n"
        "        return [vars(each).get('rules', 1) for each in type(self).__mro__]\n",
        "tex.py": "from lexer import Lexer\n\n\nclass Tex(Lexer):\n    name = 'TeX'\n    rules = (1,)\n\n\n"
        "class Markdown(Lexer):\n    rules = (2,)\n",
        "test_tex.py": "from tex import Tex\n\n\ndef test_rules():\n    assert Tex().run() == [(2,)]\n",
    }
    write_files(tmp_path, texts)
    run = Region(path="lexer.py", qualname="Lexer.run", start=5, end=6)
    frames = (Frame(path="test_tex.py", line=5, function="test_rules"),)
    failure = Failure(type="AssertionError", message="", frames=frames)
    known = replace(evidence(run, failing=failure), text_of=texts.get)
    found = assignments.find_read(known, [run], {run: 1.0}, tmp_path)
    assert [(each.path, each.qualname) for each in found] == [("tex.py", "Tex.rules"), ("lexer.py", "Lexer.rules")]


def test_a_region_is_the_whole_statement(root):
    tax = function("tax")
    found = assignments.find_read(evidence(tax), [tax], {tax: 2.0}, root)
    rates = next(each for each in found if each.qualname == "RATES")
    assert (rates.path, rates.start, rates.end, rates.label) == ("rates.py", 1, 1, "the assignment to RATES")
    assert len(found) == assignments.MOST


def test_the_first_functions_stay_before_every_assignment():
    functions = [Region(path="m.py", qualname=name, start=1, end=2) for name in "abcd"]
    table = Region(path="m.py", qualname="T", start=9, end=9, assigns=True)
    scores = dict(zip(functions, (4.0, 3.0, 2.0, 1.0), strict=True))

    def names(score: float, others=functions) -> str:
        return "".join(each.qualname for each in assignments.insert(others, {table: score}, scores))

    assert names(9.0) == "abTcd"
    assert names(1.5) == "abcTd"
    assert names(0.1) == "abcdT"
    assert names(1.0, functions[:1]) == "aT"
    assert names(1.0, []) == "T"
