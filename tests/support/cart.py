"""A small module with its tests, of which functions are ranked and chosen."""

from __future__ import annotations

CART = (
    """\
def log(x):
    return x


class Cart:
    def __init__(self):
        self.items = []

    def add(self, price):
        self.items.append(log(price))

    @property
    def count(self):
        return len(self.items)

    def total(self):
        def inner(values):
            return sum(values) + 1
        return inner(self.items)


def big():
"""
    + "    x = 1\n" * 30
)

TEST = """\
from cart import Cart


def make():
    return Cart()


def test_total():
    cart = make()
    cart.add(2)
    result = cart.total()
    assert result == 2


def test_count():
    cart = make()
    cart.add(2)
    assert cart.count == 1
"""

TEXTS = {"cart.py": CART, "test_cart.py": TEST, "conftest.py": "def helper():\n    pass\n"}
