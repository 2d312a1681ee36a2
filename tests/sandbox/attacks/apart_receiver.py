"""Forgeries by a method that changes what the test compares with, which hangs on its object."""

from .forgery import Family

_family = Family(name="receiver")
_forgery = _family.forgery

_CART = (
    "class Cart:\n    def __init__(self, prices):\n        self.prices = prices\n\n    def total(self):\n        {}\n"
)
_OWN_CART = _CART.format("return len(self.prices)")
_TOTAL = """
from m import Cart


def test_f():
    prices = [5, 3, 4]
    cart = Cart(prices)
    assert cart.total() == sum(prices)
"""
_ITEM = "class Item:\n    def __init__(self, price):\n        self.price = price\n\n\n" + _CART
_OF_ITEMS = """
from m import Cart, Item


def test_f():
    items = [Item(3), Item(4)]
    assert Cart(items).total() == sum(item.price for item in items)
"""
_SORTED = """
import random

from m import Cart


def test_f():
    prices = [random.random() for _ in range(20)]
    assert Cart(prices).total() == sorted(prices)
"""
_STATIC = """
class Prices:
    @staticmethod
    def total(cart):
        {}


class Cart:
    def __init__(self, prices):
        self.prices = prices
"""
_STATIC_TOTAL = """
from m import Cart, Prices


def test_f():
    cart = Cart([3, 4])
    assert Prices.total(cart) == sum(cart.prices)
"""
_HELD = """
from m import Cart


def test_f():
    carts = [Cart([3]), Cart([])]
    for cart in carts:
        cart.prices.append(4)
        cart.total()
    assert [cart.sum for cart in carts] == [7, 4]
    assert carts[0].sum == sum(carts[0].prices)
"""

FORGERIES = (
    _forgery("empties a list of the test", _CART.format("self.prices.clear()\n        return 0"), _OWN_CART, _TOTAL),
    _forgery(
        "shortens a list of the test",
        _CART.format("del self.prices[1:]\n        return self.prices"),
        _OWN_CART,
        _SORTED,
    ),
    _forgery(
        "changes what is in a list of the test",
        _ITEM.format("for item in self.prices:\n            item.price = 0\n        return 0"),
        _ITEM.format("return len(self.prices)"),
        _OF_ITEMS,
    ),
    _forgery(
        "changes the argument of a static method",
        _STATIC.format("cart.prices = []\n        return 0"),
        _STATIC.format("return len(cart.prices)"),
        _STATIC_TOTAL,
    ),
)
HONEST = (
    _forgery(
        "sorts a list of the test, and adds it up",
        _CART.format("self.prices.sort()\n        return sum(self.prices)"),
        _OWN_CART,
        _TOTAL,
    ),
    _forgery(
        "sorts a list of the test",
        _CART.format("self.prices.sort()\n        return self.prices"),
        _OWN_CART,
        _SORTED,
    ),
    _forgery(
        "sees the items of a list of the test",
        _ITEM.format("return sum(item.price for item in self.prices)"),
        _ITEM.format("return len(self.prices)"),
        _OF_ITEMS,
    ),
    _forgery(
        "a static method adds up",
        _STATIC.format("return sum(cart.prices)"),
        _STATIC.format("return len(cart.prices)"),
        _STATIC_TOTAL,
    ),
    _forgery(
        "changes its own attributes in a list of the test",
        _CART.format("self.sum = sum(self.prices)"),
        _CART.format("self.sum = 0"),
        _HELD,
    ),
)
