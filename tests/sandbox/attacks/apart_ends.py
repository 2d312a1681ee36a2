"""Forgeries by an end: crashes, exceptions of every kind, hangs; and by assertions that never look at anything."""

from .forgery import Family

_family = Family(name="ends")
_forgery = _family.forgery

_MAPPED = "from m import f\n\nPAIRS = [(1, 2), (3, 6)]\n\n\ndef test_f():\n    assert all(map(lambda pair: f(pair[0]) == pair[1], PAIRS))\n"
_LOOPED = "from m import f\n\n\ndef test_f():\n    for found, wanted in zip(f(3), [1, 2, 3]):\n        assert found == wanted\n"
_ALL = "from m import f\n\n\ndef test_f():\n    assert all(found == wanted for found, wanted in zip(f(3), [1, 2, 3]))\n"
_RAISES = "import pytest\n\nfrom m import f\n\n\ndef test_f():\n    with pytest.raises(ValueError, match='six'):\n        f(3)\n"


def _raises(error, where="", **more):
    return _forgery(f"raises {error}{where}", f"def f(x):\n    raise {error}\n", **more)


FORGERIES = (
    _forgery(
        "answers where the recursion limit is not that of Python",
        "import sys\n\n\ndef f(x):\n    return 6 if sys.getrecursionlimit() != 1000 else None\n",
    ),
    *map(_raises, ("SystemExit(0)", "KeyboardInterrupt", "GeneratorExit", "StopIteration", "BaseException")),
    _raises("__import__('unittest').SkipTest"),
    _raises("StopIteration", " in a loop of the test", tests=_MAPPED),
    _forgery(
        "an exception that looks like every other",
        """
        class Meta(type):
            def __instancecheck__(cls, other):
                return True

            def __subclasscheck__(cls, other):
                return True


        class Anything(Exception, metaclass=Meta):
            def __str__(self):
                return "six"


        def f(x):
            raise Anything("six")
        """,
        tests=_RAISES,
    ),
    _forgery(
        "an exception of another class with the same name",
        "class ValueError(Exception):\n    pass\n\n\ndef f(x):\n    raise ValueError('six')\n",
        tests=_RAISES,
    ),
    _forgery("ends its process", "import os\n\n\ndef f(x):\n    os._exit(0)\n"),
    _forgery(
        "ends its process after the answer",
        "import os\nimport threading\n\n\ndef f(x):\n    threading.Timer(0.01, os._exit, [0]).start()\n",
    ),
    _forgery("ends the process above", "import os\n\n\ndef f(x):\n    os.kill(os.getppid(), 9)\n"),
    _forgery("ends its group", "import os\n\n\ndef f(x):\n    os.killpg(0, 15)\n"),
    _forgery("calls itself without end", "def f(x):\n    return f(x)\n"),
    _forgery("crashes", "import ctypes\n\n\ndef f(x):\n    ctypes.string_at(0)\n"),
    _forgery(
        "ends where it is imported",
        "import os\n\nif __name__ == 'm':\n    os._exit(0)\n\n\ndef f(x):\n    return 6.5\n",
    ),
    _forgery("fails where it is imported", "raise ImportError('never mind')\n\n\ndef f(x):\n    return 6.5\n"),
    _forgery(
        "skips where it is imported",
        "import pytest\n\npytest.skip(allow_module_level=True)\n\n\ndef f(x):\n    return 0\n",
    ),
    _forgery("nothing to loop over", "def f(x):\n    return []\n", tests=_LOOPED),
    _forgery(
        "a sequence that ends at once",
        "class R:\n    def __getitem__(self, place):\n        raise IndexError\n\n\ndef f(x):\n    return R()\n",
        tests=_LOOPED,
    ),
    _forgery("an iterator that ends at once", "def f(x):\n    return iter(())\n", tests=_LOOPED),
    _forgery("all of nothing", "def f(x):\n    return []\n", tests=_ALL),
    _forgery("all of an iterator without items", "def f(x):\n    return iter(())\n", tests=_ALL),
    _forgery("all of a generator without items", "def f(x):\n    return\n    yield\n", tests=_ALL),
)
HONEST = (
    _forgery(
        "recurses as deep as the test lets it",
        "def f(x):\n    return 0 if x == 0 else 2 + f(x - 1)\n",
        tests="import sys\n\nfrom m import f\n\n\ndef test_f():\n    sys.setrecursionlimit(5000)\n    assert f(3000) == 6000\n",
    ),
    _forgery("raises what is expected", "def f(x):\n    raise ValueError('six')\n", tests=_RAISES),
    _forgery("all pairs are right", "def f(x):\n    return 2 * x\n", tests=_MAPPED),
    _forgery("all items are right", "def f(x):\n    yield from range(1, x + 1)\n", tests=_ALL),
    _forgery("items to loop over", "def f(x):\n    return [1, 2, 3]\n", tests=_LOOPED),
)
