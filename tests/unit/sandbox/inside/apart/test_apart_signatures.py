"""Signatures, fields and methods as plain data, and what the standard library makes of them on the other side."""

from __future__ import annotations

import dataclasses
import inspect

import pytest

from two_sides import apart

signatures = apart["apart_signatures"]


def test_a_function_shows_the_signature_that_it_was_given():
    def own(a, /, b: int = 2, *rest, c=3, **more) -> str: ...

    def other(*args, **keywords): ...

    signatures.give_signature(other, *signatures.signature_of(own))
    assert inspect.signature(other) == inspect.signature(own)
    assert other.__annotations__ == own.__annotations__


def test_a_class_with_the_fields_of_another_is_copied_by_them():
    @dataclasses.dataclass
    class Item:
        name: str
        price: int = dataclasses.field(default=1, compare=False)

    class Mirror:
        def __init__(self, name, price):
            self.name, self.price = name, price

    rows = signatures.fields_of(Item)
    assert rows == [["name", True, True, True], ["price", True, False, True]]
    signatures.give_fields(Mirror, rows)
    assert dataclasses.asdict(Mirror("tea", 2)) == {"name": "tea", "price": 2}
    assert signatures.fields_of(object) == []


async def coroutine(self): ...


def generator(self):
    yield self


@pytest.mark.parametrize(
    ("value", "row"),
    [
        (coroutine, ["f", "", "async"]),
        (property(generator), ["f", "property", "generator"]),
        (property(generator, generator), ["f", "property+", "generator"]),
        (staticmethod(test_a_function_shows_the_signature_that_it_was_given), ["f", "staticmethod", "plain"]),
        (len, None),
        (1, None),
    ],
    ids=["coroutine", "property", "setter", "static", "built-in", "value"],
)
def test_a_method_is_named_with_its_decorator_and_kind(value, row):
    assert signatures.method_of("f", value) == row


def test_what_a_function_holds_may_change_with_its_call():
    held = []

    def call(default=held):
        return held

    assert [each is held for each in signatures.closure_roots(call)] == [True, True]
    assert signatures.closure_roots(held.append) == ()
