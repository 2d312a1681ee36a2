"""Varies a prompt for further samples: its parts in another order, other tests where there are more than it shows.

It must not know which sample it is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from greenloop.core.records.problem import Excerpt


def vary(excerpts: Sequence[Excerpt], variant: int) -> list[Excerpt]:
    """The excerpts with other texts, where they have some, and begun at another one; 0: as they are."""
    texts = [replace(each, text=(each.text, *each.others)[variant % (1 + len(each.others))]) for each in excerpts]
    turn = variant % len(texts) if texts else 0
    return [*texts[turn:], *texts[:turn]]
