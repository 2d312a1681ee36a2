"""Names by which a test expects less than it did."""

from __future__ import annotations

import enum
from typing import Protocol

import pytest

from two_sides import apart

expected = apart["apart_expected"]


class Sized(Protocol):
    size: int

    def __len__(self) -> int: ...

    def grow(self): ...


class Plain(Protocol):
    pass


class Larger(Sized, Protocol):
    size: int

    def __len__(self) -> int: ...

    def grow(self): ...

    def shrink(self): ...


class Access(enum.Flag):
    READ = 1
    WRITE = 2
    EDIT = READ | WRITE


class Narrow(enum.Flag):
    READ = 1
    WRITE = 2
    EDIT = READ


class Own(Exception):
    pass


def weaker(before: object, after: object) -> set[str]:
    own = {"name": before}
    parts = {name: expected.parts_of(value) for name, value in own.items()}
    return set(expected.weaker_names(own, parts, {"name": after}, lambda kind: kind.__module__ == __name__))


def test_parts_of_a_protocol_are_its_members():
    assert expected.parts_of(Sized) == {"": {"size", "__len__", "grow"}}
    assert expected.parts_of(int) is None


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        (Sized, Plain, {"name"}),
        (Sized, Larger, set()),
        (Access, Narrow, {"name", "EDIT"}),
        (Narrow, Access, set()),
        ((Own,), (Exception,), {"name"}),
        ((Own,), (Own, KeyError), set()),
        (Own, Exception, {"name"}),
    ],
)
def test_what_a_name_has_lost(before, after, names):
    assert weaker(before, after) == names
