"""How many tokens a text has, roughly, without a tokenizer: a pure function, so that every run cuts its prompts alike.

Today's tokenizers split a text into words, single digits, runs of signs and runs of blanks, and look these up.
The first half is done here with Qwen2's own pattern; the second is a rule of thumb fitted to Qwen2.5-Coder's tokens of
381 pieces of code and prose: 5 % too many in the middle, more than 3 % too few for one piece in twenty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from greenloop.core.nouns import Message

PIECE = re.compile(r"(?:[^\w\r\n]|_)?[^\W\d_]+|\d| ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
# Characters that one token holds of a word and of a run of signs, and bytes of what is not ASCII.
WORD, SIGNS, BYTES = 6, 4, 2
# Longer texts are judged by so many windows of so many characters.
WINDOWS, WINDOW = 10, 4000
# Chat templates wrap each message in a few tokens that name its role.
TOKENS_A_MESSAGE = 4


def estimate(text: str) -> int:
    """Tokens of `text`; in bounded time."""
    if len(text) <= WINDOWS * WINDOW:
        return _count(text)
    step = (len(text) - WINDOW) // (WINDOWS - 1)
    seen = sum(_count(text[start : start + WINDOW]) for start in range(0, step * WINDOWS, step))
    return seen * len(text) // (WINDOWS * WINDOW)


def estimate_messages(messages: Iterable[Message]) -> int:
    """Tokens of a whole prompt, message by message."""
    return sum(estimate(message.content) + TOKENS_A_MESSAGE for message in messages)


def _count(text: str) -> int:
    return sum(map(_tokens, PIECE.findall(text)))


def _tokens(piece: str) -> int:
    piece = piece.strip()
    if not piece:
        # Blanks before a word are one token, however many.
        return 1
    if not piece.isascii():
        return -(-len(piece.encode(errors="surrogatepass")) // BYTES)
    return -(-len(piece) // (WORD if piece[-1].isalpha() else SIGNS))
