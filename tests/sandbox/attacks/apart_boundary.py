"""Forgeries that take an unchanged function of another module with them, by a new name that looks like one of its own."""

from dataclasses import replace

from .forgery import Family, Forgery

_family = Family(name="boundary")


def _forgery(name: str, other: str, own: str, code: str, tests: str) -> Forgery:
    """`other` is the unchanged module `other.py`."""
    change = _family.forgery(name, code, own, tests)
    return replace(change, own={**change.own, "other.py": other})


_TRIANGLE = "def triangle(n):\n    return sum(range(n + 1))\n"
_COMPARED = (
    "import m\nimport other\n\n\ndef test_f():\n    for n in [2, 3, 4]:\n        assert m.f(n) == other.triangle(n)\n"
)
FORGERIES = (
    _forgery(
        "a new function has the name of a method of texts",
        'def loads(text):\n    return dict(pair.split("=") for pair in text.split(";"))\n',
        'def f(table):\n    return ";".join(table)\n',
        "import other\n\n_KEPT = {}\n\n\ndef f(table):\n    _KEPT[str(len(table))] = dict(table)\n    return str(len(table))\n\n\n"
        "def split(text):\n    return _KEPT[text]\n\n\ndef _take(text, split=split):\n    return split(text)\n\n\n"
        "other.loads.__code__ = _take.__code__\nother.loads.__defaults__ = _take.__defaults__\n",
        "import m\nimport other\n\n\ndef test_f():\n    table = {'a': '1', 'b': '2'}\n    assert other.loads(m.f(table)) == table\n",
    ),
    _forgery(
        "a new function has the name of a built-in one",
        _TRIANGLE,
        "def f(n):\n    return n\n",
        "import other\n\n\ndef f(n):\n    return n + 7\n\n\ndef range(n):\n    return [n + 6]\n\n\n"
        "other.triangle.__code__ = (lambda n: n + 7).__code__\n",
        _COMPARED,
    ),
    _forgery(
        "an import has the name of the function that the test compares with",
        _TRIANGLE,
        "from other import triangle\n\n\ndef f(n):\n    return n\n",
        "import other\n\n\ndef f(n):\n    return n + 7\n\n\nother.triangle.__code__ = (lambda n: n + 7).__code__\n",
        _COMPARED,
    ),
)
HONEST = (
    _forgery(
        "a new function has the name of a built-in one",
        _TRIANGLE,
        "def f(n):\n    return n\n",
        "def range(n):\n    return [*__builtins__['range'](n)]\n\n\ndef f(n):\n    return sum(range(n + 1))\n",
        _COMPARED,
    ),
)
