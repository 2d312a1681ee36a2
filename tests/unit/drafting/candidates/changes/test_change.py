"""Edits of a fragment's text."""

from __future__ import annotations

from greenloop.core.python.ast_source import Fragment, parse_fragment, source_of
from greenloop.drafting.candidates.changes.change import (
    Change,
    ChangeKind,
    Edit,
    change_of,
    insert_after,
    insert_before,
    replace_node,
)

TEXT = "    def é(a):\n        return g('é',\n            a)\n"


def fragment(text):
    parsed = parse_fragment(text)
    assert isinstance(parsed, Fragment)
    return parsed


def test_edits_count_bytes_and_lines_of_the_text():
    parsed = fragment(TEXT)
    returned = parsed.body[0].body[0]
    edits = [insert_after(returned, " + 1"), insert_before(returned.value, "-")]
    assert change_of(parsed, edits, ChangeKind.SLIP) == Change(
        line=2,
        text=TEXT.replace("g(", "-g(").replace("a)\n", "a) + 1\n", 2).replace("é(a) + 1:", "é(a):"),
        kind=ChangeKind.SLIP,
    )


def test_an_expression_on_several_lines():
    parsed = fragment(TEXT)
    value = parsed.body[0].body[0].value
    assert source_of(value, parsed.lines) == "g('é',\n            a)"
    assert change_of(parsed, [replace_node(value, "é")], ChangeKind.NAME).text == "    def é(a):\n        return é\n"


def test_a_line_is_left_out_also_at_the_end_of_the_text():
    for text, wanted in (("a\nb\nc\n", "a\nc\n"), ("a\nb", "a")):
        assert change_of(fragment(text), [Edit(line=2, end_line=3)], ChangeKind.DELETION).text == wanted
