"""Which functions of a file are still to be written."""

from __future__ import annotations

import pytest

from greenloop.project.syntax.definitions import unwritten_functions


def names(text: str, **more) -> list[str]:
    return [each.qualname for each in unwritten_functions(text, **more)]


def test_placeholders_in_the_order_of_the_text():
    text = "def a(): ...\n\ndef b():\n    return 1\n\nclass C:\n    def d(self):\n        raise NotImplementedError\n"
    assert names(text) == ["a", "C.d"]
    assert names(text, owner="C") == ["C.d"]


@pytest.mark.parametrize(
    "text",
    [
        "from typing import overload\n@overload\ndef a(x: int) -> int: ...\ndef a(x):\n    return x\n",
        "import abc\nclass C(abc.ABC):\n    @abc.abstractmethod\n    def d(self): ...\n",
        "import typing as t\nclass C(t.Protocol[int]):\n    def d(self): ...\n",
        "def a(): ...\n\ndef a():\n    return 1\n",
    ],
)
def test_what_stays_as_it_is(text):
    assert names(text) == []


def test_a_file_with_a_syntax_error():
    assert names("def a():\n    pass\n\nx = ((\n\ndef b():\n    pass\n")[0] == "a"
