"""Forgeries by two functions that are wrong alike, in tests that compare them in one form or another."""

from .forgery import Family

_family = Family(name="alike")
_forgery = _family.forgery

_OWN = "def f(n):\n    return {}\n\n\ndef g(n):\n    return sum(n for _ in range(n))\n"
_NEW = "def f(n):\n    return {0}\n\n\ndef g(n):\n    return {0}\n"
_FORMS = {
    "a list of mismatches": "assert not [n for n in range(9) if f(n) != g(n)]",
    "a difference": "for n in range(9):\n        assert f(n) - g(n) == 0",
    "a set": "for n in range(9):\n        assert len({f(n), g(n)}) == 1",
    "next to a length": "found = [f(n) for n in range(9)]\n    assert len(found) == 9 and found == [g(n) for n in range(9)]",
    "a condition": "for n in range(9):\n        if f(n) == g(n):\n            continue\n        raise ValueError(n)",
    "a helper": "def same(one, other):\n        if one != other:\n            raise AssertionError\n    same(f(5), g(5))",
    "calls of a fake": "from unittest.mock import Mock\n    one, other = Mock(), Mock()\n    one(f(5))\n    other(g(5))\n"
    "    assert one.mock_calls == other.mock_calls",
}
_EMPTIED = (
    "from m import f\n\n\ndef test_f():\n    prices = [1.25, 2.5]\n    assert round(f(prices) - sum(prices), 7) == 0\n"
)


def _test(form):
    return f"from m import f, g\n\n\ndef test_f():\n    {form}\n"


FORGERIES = (
    *(_forgery(name, _NEW.format("n + n"), _OWN.format("n"), _test(form)) for name, form in _FORMS.items()),
    _forgery(
        "an argument that is emptied",
        "def f(prices):\n    prices.clear()\n    return 0\n",
        "def f(prices):\n    return len(prices)\n",
        _EMPTIED,
    ),
)
HONEST = (
    *(_forgery(name, _OWN.format("n * n"), _OWN.format("n"), _test(form)) for name, form in _FORMS.items()),
    _forgery(
        "an argument that is used",
        "def f(prices):\n    return sum(prices)\n",
        "def f(prices):\n    return len(prices)\n",
        _EMPTIED,
    ),
)
