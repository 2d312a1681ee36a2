"""Shortens a text to a number of tokens, keeping its head and tail."""

from __future__ import annotations

from collections.abc import Callable

Count = Callable[[str], int]
SHORTEST = 4  # characters at either end below which nothing of the text is kept


def truncate(text: str, max_tokens: int, count: Count) -> str:
    """Keeps head and tail of a text, with the number of omitted lines between, so that it fits `max_tokens`."""
    most = max_characters(max_tokens)
    if len(text) <= most and count(text) <= max_tokens:
        return text
    lines = text.count("\n") + 1
    if len(text) > most:  # never count what cannot fit: it may be megabytes
        text = f"{text[: most // 2]}\n…\n{text[-most // 2 :]}"
    rows = text.split("\n")
    keep = len(rows)
    while keep > 2 and count(text) > max_tokens:
        keep = int(keep * 0.8)
        head = keep // 2
        text = "\n".join([*rows[:head], f"… {lines - keep} lines left out …", *rows[len(rows) - (keep - head) :]])
    while text and count(text) > max_tokens:
        half = int(len(text) * 0.4)
        text = f"{text[:half]}…{text[-half:]}" if half > SHORTEST else ""
    return text


def max_characters(max_tokens: int) -> int:
    """A generous upper bound for the characters in a number of tokens."""
    return max(max_tokens, 1) * 16
