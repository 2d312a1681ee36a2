"""The step of a run in words; tests/unit/api/test_state.py has the events."""

from __future__ import annotations

import pytest

from greenloop.wording.step import reading_prompt


@pytest.mark.parametrize(
    ("seconds", "tokens", "said"),
    [
        (20.4, 660, "reading prompt, about 20 s"),
        (0.0, 660, "reading prompt, 660 tokens"),
        (0.4, 0, "reading prompt"),
    ],
)
def test_how_long_a_prompt_is_read(seconds, tokens, said):
    assert reading_prompt(seconds, tokens) == said
