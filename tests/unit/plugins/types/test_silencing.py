from __future__ import annotations

import pytest

from greenloop.plugins.types.silencing import find_silencing

OLD = "def f(a: int, b: str = '') -> str:\n    return b\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (OLD.replace("return b", "return b  # type: ignore[return-value]"), "a comment `# type: ignore`"),
        (OLD.replace("return b", "return b  #pyright: ignore"), "a comment `# pyright:`"),
        ("# mypy: ignore-errors\n" + OLD, "a comment `# mypy:`"),
        (OLD.replace("return b", "x: Any = b\n    return x"), "the type `Any`"),
        (OLD.replace("return b", "x: 't.Any' = b\n    return x"), "the type `Any`"),
        (OLD.replace("return b", "return cast(str, b)"), "a `cast`"),
        (OLD.replace("return b", "return typing.cast('str', b)"), "a `cast`"),
        ("@typing.no_type_check\n" + OLD, "`@no_type_check`"),
        (OLD + "if not TYPE_CHECKING:\n    f = str\n", "`TYPE_CHECKING`"),
        (OLD.replace(" -> str", ""), "weakens the signature of f"),
        (OLD.replace("a: int", "a"), "weakens the signature of f"),
        (OLD.replace("a: int", "a: object"), "weakens the signature of f"),
        (OLD.replace("-> str", "-> str | None"), "weakens the signature of f"),
        (OLD.replace("-> str", "-> Optional[str]"), "weakens the signature of f"),
    ],
)
def test_what_silences_a_checker(text, told):
    assert told in find_silencing({"m.py": OLD}, {"m.py": text})


@pytest.mark.parametrize(
    "text",
    [
        OLD,
        OLD.replace("return b", "return str(a)  # type of a is an int"),
        OLD.replace("-> str", "-> int"),
        OLD.replace("a: int", "a: int | str"),
        OLD.replace("a: int, ", ""),
        OLD + "\n\ndef helper(x):\n    return 'Any'.lower()\n",
        "from typing import TYPE_CHECKING\n" + OLD,
        "def g() -> int:\n    return 1\n",
    ],
)
def test_what_does_not(text):
    assert find_silencing({"m.py": OLD}, {"m.py": text}) == ""


def test_what_was_there_before_counts_not():
    old = OLD.replace("return b", "return b  # type: ignore")
    assert find_silencing({"m.py": old}, {"m.py": "\n" + old, "notes.txt": "# type: ignore\n"}) == ""


def test_a_new_stub_is_refused():
    assert find_silencing({}, {"m.pyi": "x: int\n"}) == "m.pyi would say what the types are in place of the code."
