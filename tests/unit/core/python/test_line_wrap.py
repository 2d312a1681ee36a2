"""Long lines break as black breaks them."""

from __future__ import annotations

from greenloop.core.python.line_wrap import wrap_line


def test_long_lines_break_at_their_brackets_as_black_does():
    line = "assert f([1, 2, 3], name='aaaaaaaaaaaaaaaaaaaa') == {'one': [1, 2], 'two': (3, 4), 'three': 'aaaaaaaaaaaa'}"
    assert wrap_line(line, 56, "    ") == [
        "assert f([1, 2, 3], name='aaaaaaaaaaaaaaaaaaaa') == {",
        "    'one': [1, 2],",
        "    'two': (3, 4),",
        "    'three': 'aaaaaaaaaaaa',",
        "}",
    ]
    assert wrap_line("    assert f('aaaaaaaaaa') == 'bbbbbbbbbbbbbb'", 40, "    ") == [
        "    assert f(",
        "        'aaaaaaaaaa'",
        "    ) == 'bbbbbbbbbbbbbb'",
    ]
    assert wrap_line("x = 1", 40, "    ") == ["x = 1"]
