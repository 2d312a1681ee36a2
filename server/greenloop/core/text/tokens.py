"""Estimates token counts without a tokenizer; a pure function, so that all runs cut prompts alike.

Current tokenizers split a text into words, single digits, runs of punctuation and runs of blanks, and look these up.
The splitting is done here with Qwen2's own pattern; the look-up is a rule of thumb fitted to Qwen2.5-Coder's tokens of
381 pieces of code and prose. The median estimate is 5 % too high; one in twenty is more than 3 % too low.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from greenloop.core.records.model import Message

PIECE = re.compile(r"(?:[^\w\r\n]|_)?[^\W\d_]+|\d| ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
# Characters per token in a word and in a run of punctuation; bytes per token in text that is not ASCII.
WORD, SIGNS, BYTES = 6, 4, 2
# Longer texts are sampled: number of windows, and characters in each.
WINDOWS, WINDOW = 10, 4000
# Chat templates wrap each message in a few tokens that name its role.
TOKENS_A_MESSAGE = 4


def estimate_tokens(text: str) -> int:
    """Estimated tokens of `text`, in bounded time."""
    if len(text) <= WINDOWS * WINDOW:
        return _count(text)
    step = (len(text) - WINDOW) // (WINDOWS - 1)
    sampled = sum(_count(text[start : start + WINDOW]) for start in range(0, step * WINDOWS, step))
    return sampled * len(text) // (WINDOWS * WINDOW)


def estimate_messages(messages: Iterable[Message]) -> int:
    """Estimated tokens of a whole prompt."""
    return sum(estimate_tokens(message.content) + TOKENS_A_MESSAGE for message in messages)


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
