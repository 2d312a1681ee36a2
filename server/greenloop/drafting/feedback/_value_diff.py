"""Compares two values: shortens them and finds their first difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from greenloop.core.python.ast_source import read_literal

WIDTH = 400  # maximum characters of one value
MOST = 20_000  # characters of both values together, beyond which they are not compared


def shorten(text: str, width: int = WIDTH) -> str:
    """The text in one row of at most `width` characters; a cut one ends with the length of the whole text."""
    squeezed = " ".join(text[: 4 * width].split())
    if len(squeezed) <= width and len(text) <= 4 * width:
        return squeezed
    return f"{squeezed[: width - 20]} … ({len(text)} characters)"


def first_difference(expected: str, observed: str) -> str:
    """Returns where two reprs first differ: an index, a key, a type; "" where none can be named."""
    if len(expected) + len(observed) > MOST:
        return ""
    left, right = read_literal(expected), read_literal(observed)
    return _first_difference(left[0], right[0]) if left and right else ""


def _first_difference(left: object, right: object) -> str:
    if type(left) is not type(right):
        return f"expected {type(left).__name__}, observed {type(right).__name__}"
    if isinstance(left, dict) and isinstance(right, dict):
        return _in_dict(left, right)
    if isinstance(left, (set, frozenset)) and isinstance(right, (set, frozenset)):
        pieces = [f"missing {left - right!r}"] if left - right else []
        return "; ".join([*pieces, f"too many {right - left!r}"] if right - left else pieces)
    if isinstance(left, (list, tuple, str)) and isinstance(right, (list, tuple, str)):
        return _in_sequence(left, right)
    return ""


def _in_dict(left: Mapping[object, object], right: Mapping[object, object]) -> str:
    for key in left:
        if key not in right:
            return f"key {key!r} is missing"
        if left[key] != right[key]:
            return f"key {key!r}: {_inner(left[key], right[key])}"
    return next((f"key {key!r} is too many" for key in right if key not in left), "")


def _in_sequence(left: Sequence[object], right: Sequence[object]) -> str:
    for index, (expected, observed) in enumerate(zip(left, right, strict=False)):
        if expected != observed:
            return f"index {index}: {_inner(expected, observed)}"
    if len(right) > len(left):
        return f"index {len(left)}: observed has {right[len(left)]!r} too many"
    if len(left) > len(right):
        return f"index {len(right)}: {left[len(right)]!r} is missing"
    return ""


def _inner(left: object, right: object) -> str:
    """The place in nested containers; other values are shown whole."""
    nested = (
        _first_difference(left, right)
        if isinstance(left, (list, tuple, dict, set)) and type(left) is type(right)
        else ""
    )
    return nested or f"expected {left!r}, observed {right!r}"
