"""Decorators that a function lacks, and caches that its arguments do not fit."""

from __future__ import annotations

import pytest

from greenloop.drafting.candidates.changes.slips.decorators import decorators

NO_CONTEXT = ("'generator' object does not support the context manager protocol", None, None)
NO_ASYNC = ("'async_generator' object does not support the asynchronous context manager protocol", None, None)
UNHASHABLE = ("unhashable type: 'list'", None, None)
OTHER_NAME = ("", "'f'", "'inner'")
WRAPPER = "def traced(f):\n    {}def inner(*a):\n        return {}(*a)\n    return inner\n"


@pytest.mark.parametrize(
    ("text", "failure", "wanted", "imports"),
    [
        (
            "def f():\n    yield 1\n",
            NO_CONTEXT,
            "@contextmanager\ndef f():\n    yield 1\n",
            "from contextlib import contextmanager",
        ),
        (
            "    def f(self):\n        yield\n",
            ("__enter__", None, None),
            "    @contextmanager\n    def f(self):\n        yield\n",
            "from contextlib import contextmanager",
        ),
        (
            "async def f():\n    yield 1\n",
            NO_ASYNC,
            "@asynccontextmanager\nasync def f():\n    yield 1\n",
            "from contextlib import asynccontextmanager",
        ),
        ("@x\ndef f():\n    yield 1\n", NO_CONTEXT, None, ""),
        ("def f():\n    return g()\n", NO_CONTEXT, None, ""),
        (
            "@a\n@functools.lru_cache(\n    None)\ndef f(x):\n    return x\n",
            UNHASHABLE,
            "@a\ndef f(x):\n    return x\n",
            "",
        ),
        ("@cached\ndef f(x):\n    return x\n", UNHASHABLE, None, ""),
        (WRAPPER.format("", "f"), OTHER_NAME, WRAPPER.format("@functools.wraps(f)\n    ", "f"), "import functools"),
        (WRAPPER.format("", "g"), OTHER_NAME, None, ""),
        (WRAPPER.format("@x\n    ", "f"), OTHER_NAME, None, ""),
        (WRAPPER.format("", "f"), ("", "'f'", "'other'"), None, ""),
        ("x = 1\n", NO_CONTEXT, None, ""),
        ("def f(:\n", NO_CONTEXT, None, ""),
    ],
)
def test_a_function_is_decorated_as_the_tests_use_it(failing, text, failure, wanted, imports):
    found = [(change.text, *change.imports) for change in decorators(text, failing(failure))]
    assert found == ([(wanted, *filter(None, [imports]))] if wanted else [])
