"""Specifications from collected tests and from docstrings."""

from __future__ import annotations

import pytest

from greenloop.core.records.spec import Provenance
from greenloop.project import targets
from greenloop.specs import doctest as doctest_spec

MODULE = '''\
"""Module."""

class Box:
    """A box.

    >>> Box()
    <Box>
    """

    def area(self, w,
             h):
        r"""Area.

        >>> b = Box()
        >>> b.area(2,
        ...        3)
        6

        Text between.

            >>> print("a\\\\nb")
            a
            b
        """
        text = """
at the margin
"""
        raise NotImplementedError

def plain():
    """No examples."""

def broken_docstring():
    """
    >>>missing blank
    """

async def waits():
    """>>> 1 + 1
    2
    """
'''


def spec_of(text, qualname, path="pkg/m.py"):
    target = targets.find_target(text, path, qualname)
    return doctest_spec.examples(target, text)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_each_example_is_a_case_at_its_line(end):
    text = MODULE.replace("\n", end)
    spec = spec_of(text, "Box.area")
    assert spec.selectors == ("doctest:pkg/m.py::Box.area",)
    assert [case.id for case in spec.cases] == [f"pkg/m.py::Box.area::doctest-{number}" for number in (1, 2, 3)]
    rows = MODULE.split("\n")
    assert [rows[case.line - 1].strip() for case in spec.cases] == [
        ">>> b = Box()",
        ">>> b.area(2,",
        '>>> print("a\\\\nb")',
    ]
    assert {(case.path, case.provenance, case.confirmed) for case in spec.cases} == {
        ("pkg/m.py", Provenance.DOCTEST, True)
    }


@pytest.mark.parametrize(("name", "lines"), [("Box", [6]), ("waits", [39]), ("plain", []), ("broken_docstring", [])])
def test_other_docstrings(name, lines):
    spec = spec_of(MODULE, name)
    assert [case.line for case in spec.cases] == lines
    assert bool(spec.selectors) is bool(lines)


def test_a_file_that_is_broken_elsewhere_still_has_its_examples():
    assert len(spec_of(MODULE + "def broken(:\n", "Box.area").cases) == 3


def test_tabs_and_a_class_in_a_block():
    text = 'if True:\n\tclass A:\n\t\tdef f(self):\n\t\t\t"""\n\t\t\t>>> A().f()\n\t\t\t1\n\t\t\t"""\n'
    assert [case.line for case in spec_of(text, "A.f").cases] == [5]
