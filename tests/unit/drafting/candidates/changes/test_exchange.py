"""Two texts of one function: the pieces in which they differ, and the texts between them."""

from __future__ import annotations

import pytest

from greenloop.core.python.ast_source import parse_fragment
from greenloop.drafting.candidates.changes.exchange import MOST, apply_changes, choices, find_changes, split_pieces

FIRST = '''def f(rows, limit):
    """Sums."""
    if not rows:  # nothing
        return 0
    total = 0
    for row in rows:
        if row > limit:
            continue
        total += row
    else:
        total -= 0
    return total
'''


def between(first: str, second: str) -> list[str]:
    pieces = split_pieces(first)
    changes = find_changes(pieces, split_pieces(second))
    return [apply_changes(pieces, [changes[number] for number in chosen]) for chosen in choices(len(changes))]


def test_pieces_are_statements_and_heads_and_together_the_text():
    pieces = split_pieces(FIRST)
    assert apply_changes(pieces, []) == FIRST
    firsts = [piece.lines[0].strip() for piece in pieces]
    assert firsts[3] == "return 0"
    assert "else:" in firsts
    assert len(firsts) == 12


def test_comments_and_layout_are_no_differences():
    other = FIRST.replace("  # nothing", "").replace("total += row", "total += (row)  # more")
    assert find_changes(split_pieces(FIRST), split_pieces(other)) == []


def test_the_guard_of_one_and_the_loop_of_the_other():
    second = FIRST.replace("    if not rows:  # nothing\n        return 0\n", "").replace("+= row", "+= row * 2")
    assert FIRST.replace("+= row", "+= row * 2") in between(FIRST, second)


def test_the_head_of_a_block_changes_without_its_body():
    second = FIRST.replace("row > limit", "row >= limit").replace("return total", "return [total]")
    assert between(FIRST, second) == [
        FIRST.replace("row > limit", "row >= limit"),
        FIRST.replace("return total", "return [total]"),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "try:\n    a()\nexcept A:\n    b()\nfinally:\n    c()\n",
            "try:\n    a(1)\nexcept B:\n    b()\nfinally:\n    c(1)\n",
        ),
        (
            "match a:\n    case 1:\n        b()\n    case _:\n        c()\n",
            "match a:\n    case 2:\n        b()\n    case _:\n        c(1)\n",
        ),
        (
            "if a:\n    b()\nelif c:\n    d()\nelse:\n    e()\n",
            "if a:\n    b(1)\nelif d:\n    d()\nelse:\n    e(1)\n",
        ),
    ],
    ids=["try", "match", "elif"],
)
def test_blocks_of_all_kinds_are_exchanged_piece_by_piece(first, second):
    first, second = (f"def f(a):\n    {text.strip().replace(chr(10), chr(10) + '    ')}\n" for text in (first, second))
    texts = between(first, second)
    assert not any(isinstance(parse_fragment(text), SyntaxError) for text in texts)
    pieces = split_pieces(first)
    assert len(texts) == 2 ** len(find_changes(pieces, split_pieces(second))) - 2 >= 2
    assert apply_changes(pieces, find_changes(pieces, split_pieces(second))) == second


def test_what_is_of_another_kind_can_come_in_addition():
    guard = "def f(a):\n    if a is None:\n        return 0\n    return a\n"
    other = "def f(a):\n    a = abs(a)\n    return a * 2\n"
    texts = between(guard, other)
    assert guard.replace("return a\n", "a = abs(a)\n    return a * 2\n") in texts
    assert guard.replace("return a\n", "return a * 2\n") in texts


def test_what_cannot_be_parsed_has_no_pieces():
    assert split_pieces("def f(:\n") == ()


def test_choices_begin_near_one_of_both_and_end():
    assert list(choices(1)) == []
    assert list(choices(3)) == [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    assert len(list(choices(30))) == MOST
