import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenloop.core.text.diff import (
    apply_hunks,
    diff_hunks,
    keep_ends,
    main_line_end,
    merge,
    split_lines,
    unified_diff,
    with_plain_ends,
)

TEXTS = st.text(alphabet="ab\r\n\x0c\u2028", max_size=30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\nb\r\nc\rd", ["a\n", "b\r\n", "c\r", "d"]),
        ("\x0ca\u2028b\x85c\x1cd\n", ["\x0ca\u2028b\x85c\x1cd\n"]),
        ("\n\n", ["\n", "\n"]),
        ("\r\r\n", ["\r", "\r\n"]),
    ],
)
def test_only_three_line_ends_end_a_line(text, expected):
    assert split_lines(text) == expected


@given(TEXTS)
def test_lines_joined_are_the_text(text):
    assert "".join(split_lines(text)) == text


@given(TEXTS, TEXTS)
def test_hunks_give_the_new_text(old, new):
    found = diff_hunks(old, new)
    assert apply_hunks(old, found) == new
    assert all(a.end < b.start for a, b in itertools.pairwise(found))


@pytest.mark.timeout(600)
def test_a_file_that_was_reformatted_as_a_whole_stays_affordable():
    """Every line that says something is another, every blank line the same: hours for a method that counts those."""
    old = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(1250))
    spaced, tabs = old.replace("    ", "\t").replace("(x)", "( x )"), old.replace("    ", "\t")
    assert apply_hunks(old, diff_hunks(old, spaced)) == spaced
    assert len(diff_hunks(old, tabs)) == 1250
    assert merge(old, old.replace("x + 7\n", "x * 7\n"), spaced) is None
    assert merge(old, old.replace("x + 7\n", "x * 7\n"), tabs) is None
    assert merge(old, "import os\n" + old, tabs) == "import os\n" + tabs


def test_very_different_texts_stay_affordable():
    old = "".join(f"a{n}\n" for n in range(4000))
    new = "".join(f"b{n}\n" for n in range(4000))
    assert apply_hunks(old, diff_hunks(old, new)) == new


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "expected"),
    [
        ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
        ("a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n", None),  # adjacent lines touch
        ("a\nb\nc\n", "A\nb\nc\n", "A\nb\nc\n", "A\nb\nc\n"),
        ("a\nb\nc\n", "A\nb\nc\n", "X\nb\nc\n", None),
        ("a\nb\nc\n", "a\nb\nc\n", "a\nb\n", "a\nb\n"),
        ("a\nb\nc\n", "A\nb\nC\n", "A\nb\nc\n", "A\nb\nC\n"),  # one change is the same on both sides
        ("a\nb\nc\nd\n", "a\nb\nx\nc\nd\n", "a\nb\ny\nc\nd\n", None),  # two insertions at one place
        ("a\nb\nc\nd\n", "x\na\nb\nc\nd\n", "a\nb\nc\nd\ny\n", "x\na\nb\nc\nd\ny\n"),
        ("a\r\nb\r\nc\r\n", "A\r\nb\r\nc\r\n", "a\r\nb\r\nC", "A\r\nb\r\nC"),
    ],
)
def test_merge(base, ours, theirs, expected):
    assert merge(base, ours, theirs) == expected
    assert merge(base, theirs, ours) == expected


@given(st.data(), st.integers(min_value=3, max_value=15))
def test_disjoint_edits_always_merge_to_both(data, count):
    base = [f"line {n}\n" for n in range(count)]
    cut = data.draw(st.integers(min_value=1, max_value=count - 2))
    fresh = st.lists(st.sampled_from(["x\n", "y\n"]), max_size=3)
    ours_part, theirs_part = data.draw(fresh), data.draw(fresh)
    ours = [*ours_part, *base[cut:]]  # replaces what is above line `cut`
    theirs = [*base[: cut + 1], *theirs_part]  # replaces what is below it
    assert merge("".join(base), "".join(ours), "".join(theirs)) == "".join([*ours_part, base[cut], *theirs_part])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"),
        ("a\r\nb\nc\r\n", "a\nb\nx\nc\n", "a\r\nb\nx\r\nc\r\n"),  # mixed ends stay line by line
        ("a\r\nb\n\r\nc", "a\nB\n\nc", "a\r\nB\n\r\nc"),  # so does a line that takes the place of another
        ("a\r\nb\nc\r\n", "a\nB\nx\nc\n", "a\r\nB\nx\r\nc\r\n"),
        ("a\nb", "a\nc\n", "a\nc"),
        ("a\nb", "b\nc\n", "b\nc"),
        ("a\r\nb", "x\na\nb", "x\r\na\r\nb"),
        ("a\rb\r", "a\nb\nc\n", "a\rb\rc\r"),
        ("a\n", "a", "a\n"),
        ("\r\ra\n", "\n\n\n", "\n\n\n"),
        ("", "a\nb\n", "a\nb\n"),
    ],
)
def test_line_ends_of_the_old_text_are_kept(old, new, expected):
    assert keep_ends(old, new) == expected


@given(TEXTS, TEXTS)
def test_keeping_ends_changes_nothing_but_ends(old, new):
    assert [line.rstrip("\r\n") for line in split_lines(keep_ends(old, new))] == [
        line.rstrip("\r\n") for line in split_lines(new)
    ]
    assert keep_ends(old, with_plain_ends(old)) == old


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "\n"), ("a", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb\r", "\r"), ("a\rb\rc\n", "\n"), ("a\nb\r\n", "\n")],
)
def test_newline_of(text, expected):
    assert main_line_end(text) == expected


def test_unified_diff_of_a_change_an_empty_change_and_a_new_file():
    assert unified_diff("a\nb\nc\n", "a\nx\nc\nd", "p q.py").split("\n") == [
        "--- a/p q.py\t",
        "+++ b/p q.py\t",
        "@@ -1,3 +1,4 @@",
        " a",
        "-b",
        "+x",
        " c",
        "+d",
        "\\ No newline at end of file",
        "",
    ]
    assert unified_diff("a\n", "a\n", "m.py") == ""
    assert unified_diff(None, "x\n", "m.py") == "--- /dev/null\n+++ b/m.py\n@@ -0,0 +1 @@\n+x\n"


def test_unified_diff_separates_far_changes():
    old = "".join(f"{n}\n" for n in range(30))
    new = old.replace("3\n", "three\n", 1).replace("27\n", "x\ny\n", 1)
    heads = [row for row in unified_diff(old, new, "m.py").split("\n") if row.startswith("@@")]
    assert heads == ["@@ -1,7 +1,7 @@", "@@ -25,6 +25,7 @@"]
