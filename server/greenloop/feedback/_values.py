"""Two values beside each other: shortened, and where they first differ."""

from __future__ import annotations

import ast

WIDTH = 400  # characters of one value
MOST = 20_000  # characters of a value that is compared part by part


def short(text: str, width: int = WIDTH) -> str:
    """One row of at most `width` characters that ends in the text's whole length where it was cut."""
    flat = " ".join(text[: 4 * width].split())
    if len(flat) <= width and len(text) <= 4 * width:
        return flat
    return f"{flat[: width - 20]} … ({len(text)} characters)"


def first_difference(expected: str, observed: str) -> str:
    """Where two reprs differ first: an index, a key, a type; "" where there is none to name."""
    if len(expected) + len(observed) > MOST:
        return ""
    try:
        left, right = ast.literal_eval(expected), ast.literal_eval(observed)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return ""
    if type(left) is not type(right):
        return f"expected {type(left).__name__}, observed {type(right).__name__}"
    if isinstance(left, (list, tuple, str)):
        return _in_sequence(left, right)
    if isinstance(left, dict):
        for key in left:
            if key not in right:
                return f"key {key!r} is missing"
            if left[key] != right[key]:
                return f"key {key!r}: expected {left[key]!r}, observed {right[key]!r}"
        return next((f"key {key!r} is too many" for key in right if key not in left), "")
    if isinstance(left, (set, frozenset)):
        return "; ".join(
            text
            for text, items in (
                (f"missing {left - right!r}", left - right),
                (f"too many {right - left!r}", right - left),
            )
            if items
        )
    return ""


def _in_sequence(left: list[object] | tuple[object, ...] | str, right: list[object] | tuple[object, ...] | str) -> str:
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return f"index {index}: expected {one!r}, observed {other!r}"
    if len(right) > len(left):
        return f"index {len(left)}: observed has {right[len(left)]!r} too many"
    if len(left) > len(right):
        return f"index {len(right)}: {left[len(right)]!r} is missing"
    return ""
