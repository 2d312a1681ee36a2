"""How many tokens a text has, roughly, where no tokenizer is at hand."""

from __future__ import annotations

import math
from collections.abc import Iterable

from greenloop.core.nouns import Message

# Source code and English have between 3 and 4 characters a token with today's tokenizers.
CHARACTERS_A_TOKEN = 3.5
# Chat templates wrap each message in a few tokens that name its role.
TOKENS_A_MESSAGE = 4


def estimate(text: str) -> int:
    """Tokens of `text`, rounded up."""
    return math.ceil(len(text) / CHARACTERS_A_TOKEN)


def estimate_messages(messages: Iterable[Message]) -> int:
    """Tokens of a whole prompt, rounded up message by message."""
    return sum(estimate(message.content) + TOKENS_A_MESSAGE for message in messages)
