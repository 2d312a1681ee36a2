"""Where lines go when a text changes: moved, edited in place, gone."""

import random

import pytest

from greenloop.lsp.documents.line_mapping import map_rows, split_rows

TEXT = "import os\n\n\ndef test_a():\n    assert f(1) == 2\n\n\ndef test_b():\n    assert f(2) == 3\n"


def moved(old, new, line):
    """What the line of `old` that holds some text has become: a line of `new`, or None."""
    row = next(n for n, text in enumerate(split_rows(old)) if line in text)
    there = map_rows(split_rows(old), split_rows(new))(row)
    return None if there is None else split_rows(new)[there]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("assert f(1) == 2\n", "", None),
        ("    assert f(1) == 2\n", "    \n", None),
        ("    assert f(1) == 2\n", "    assert f(1) == 22\n", "    assert f(1) == 22"),
        ("    assert f(1) == 2\n", "        assert f(1) == 2\n", "        assert f(1) == 2"),
        ("    assert f(1) == 2\n", "    assert f(1)\n    == 2\n", "    assert f(1)"),
        ("def test_a():\n    assert f(1) == 2\n", "def test_a(): assert f(1) == 2\n", "def test_a(): assert f(1) == 2"),
        ("    assert f(1) == 2\n", "    print('something else')\n", None),
        ("    assert f(1) == 2\n\n\ndef test_b():\n", "    1\ndef test_b():\n", None),
    ],
)
def test_a_line_is_edited_or_gone(old, new, expected):
    assert moved(TEXT, TEXT.replace(old, new, 1), "f(1) == 2") == expected


def test_a_deleted_line_does_not_become_its_like():
    """Both change at once, as when an editor sends its whole text: the one that is left is the other test's own."""
    new = TEXT.replace("import os\n", "import sys\n").replace("def test_a():\n    assert f(1) == 2\n\n\n", "")
    assert moved(TEXT, new, "f(1) == 2") is None
    assert moved(TEXT, new, "f(2) == 3") == "    assert f(2) == 3"


def test_lines_that_say_the_same_are_told_apart_by_what_stands_around_them():
    old = "def a():\n    return x\n\n\ndef b():\n    return x\n"
    new = "# new\ndef b():\n    return x\n\n\ndef a():\n    return x\n# end\n"
    assert [map_rows(split_rows(old), split_rows(new))(row) for row in (1, 5)] == [6, 2]


def test_a_text_that_was_wholly_replaced_holds_nothing_of_the_old():
    move = map_rows(split_rows(TEXT), split_rows("class Other:\n" + "    field: int = 0\n" * 8))
    assert [move(row) for row in range(len(split_rows(TEXT)) - 1)] == [None] * (len(split_rows(TEXT)) - 1)


def test_line_ends_do_not_matter():
    move = map_rows(split_rows(TEXT), split_rows("# first\r\n" + TEXT.replace("\n", "\r\n")))
    assert [move(row) for row in range(9)] == list(range(1, 10))


def test_whatever_is_inserted_or_deleted_the_others_keep_their_text():
    dice = random.Random(7)
    for _ in range(300):
        old = [f"line {n} {dice.random()}" for n in range(dice.randrange(1, 12))]
        new = list(old)
        for _change in range(dice.randrange(1, 4)):
            at = dice.randrange(len(new) + 1)
            if new and dice.random() < 0.5:
                del new[min(at, len(new) - 1)]
            else:
                new.insert(at, f"fresh {dice.random()} {dice.random()}")
        move = map_rows(old, new)
        assert [None if move(n) is None else new[move(n)] for n in range(len(old))] == [
            line if line in new else None for line in old
        ]
