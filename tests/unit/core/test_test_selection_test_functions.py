"""Names of test functions, in a text and in ids."""

from __future__ import annotations

import pytest

from greenloop.core.test_selection import find_tests, function_of


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("a/test_m.py::test_b", "test_b"),
        ("test_m.py::TestC::test_b[x::y]", "TestC::test_b"),
        ("doctest:m.py::f", "f"),
        ("test_m.py", ""),
    ],
)
def test_the_function_of_a_case(case, name):
    assert function_of(case) == name


TEXT = """\
import pytest

def test_a():
    def test_inner(): pass

async def test_b(): pass

class TestC:
    def test_d(self): pass
    def helper(self): pass
    class TestInner:
        def test_e(self): pass

if True:
    def test_f(): pass
try:
    pass
except ImportError:
    def test_g(): pass

def helper(): pass
"""


def test_the_tests_of_a_file():
    assert find_tests(TEXT) == {"test_a", "test_b", "TestC::test_d", "TestC::TestInner::test_e", "test_f", "test_g"}
    assert find_tests("\ufeffdef test_a(): pass\n") == {"test_a"}


def test_a_file_that_cannot_be_parsed_names_them_all_the_same():
    assert find_tests("def test_a(:\n    pass\n\n  async def test_b():\n") == {"test_a", "test_b"}
