"""Where the text ends that fills a hole."""

from __future__ import annotations

import pytest

from greenloop.core.python.indentation import cut_block

INDENT = "    "


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a = 1\n    b = 2\nc = 3\n", "a = 1\n    b = 2"),  # less indentation
        ("a = 1\n\n    b = 2\n", "a = 1"),  # an empty line
        ("a = 1\n    return a\n    b", "a = 1"),  # the line after the hole
        ("a\n    b\n    c\n    d\n", "a\n    b\n    c"),  # the most lines
    ],
)
def test_a_block_ends(text, kept):
    assert cut_block(text, INDENT, 3, "    return a") == (kept, True)


@pytest.mark.parametrize("text", ["a = 1", "a = 1\n", "a = 1\n    b", "a = 1\n    return"])
def test_what_may_go_on_is_not_finished(text):
    assert cut_block(text, INDENT, 3, "    return a") == (text.rstrip(), False)


def test_a_statement_ends_with_its_line_or_the_block_it_opens():
    assert cut_block("a = 1\n", INDENT, 6, "", is_statement=True) == ("a = 1", True)
    text = "if a:\n        b = 1\n        return b\n    c = 2"
    assert cut_block(text, INDENT, 6, "", is_statement=True) == ("if a:\n        b = 1\n        return b", True)
    assert cut_block("if a:\n", INDENT, 6, "", is_statement=True) == ("if a:", False)
