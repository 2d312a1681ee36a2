"""Estimates token counts without a tokenizer, and cuts texts to them; pure, so that all runs cut prompts alike.

Current tokenizers split a text into words, single digits, runs of punctuation and runs of blanks, and look these up.
The splitting is done here with Qwen2's own pattern; the look-up is a rule of thumb fitted to Qwen2.5-Coder's tokens of
381 pieces of code and prose. The median estimate is 5 % too high; one in twenty is more than 3 % too low.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from greenloop.core.records.model import Message

PIECE = re.compile(r"(?:[^\w\r\n]|_)?[^\W\d_]+|\d| ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
# Characters per token in a word and in a run of punctuation; bytes per token in text that is not ASCII.
WORD, SIGNS, BYTES = 6, 4, 2
# Longer texts are sampled: number of windows, and characters in each.
WINDOWS, WINDOW = 10, 4000
# Chat templates wrap each message in a few tokens that name its role.
TOKENS_A_MESSAGE = 4

Count = Callable[[str], int]
SHORTEST = 4  # characters at either end below which nothing of a cut text is kept


def _count(text: str) -> int:
    return sum(map(_tokens, PIECE.findall(text)))


def _tokens(piece: str) -> int:
    piece = piece.strip()
    if not piece:
        # Any number of blanks before a word is one token.
        return 1
    if not piece.isascii():
        return -(-len(piece.encode(errors="surrogatepass")) // BYTES)
    return -(-len(piece) // (WORD if piece[-1].isalpha() else SIGNS))


def estimate_tokens(text: str, count: Count = _count) -> int:
    """Estimated tokens of `text`, in bounded time."""
    if len(text) <= WINDOWS * WINDOW:
        return count(text)
    step = (len(text) - WINDOW) // (WINDOWS - 1)
    sampled = sum(count(text[start : start + WINDOW]) for start in range(0, step * WINDOWS, step))
    return sampled * len(text) // (WINDOWS * WINDOW)


def estimate_messages(messages: Iterable[Message]) -> int:
    """Estimated tokens of a whole prompt."""
    return sum(count_message(message, estimate_tokens) + TOKENS_A_MESSAGE for message in messages)


def count_message(message: Message, count: Count) -> int:
    """Counts the tokens of a message with the calls that it makes."""
    return count(message.content) + sum(count(call.name) + count(call.arguments) for call in message.calls)


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
