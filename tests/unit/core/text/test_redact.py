import pytest

from greenloop.core.text.redact import clean_for_display, redact


@pytest.mark.parametrize(
    ("text", "secrets", "expected"),
    [
        ("key=sk-123456!", ["sk-123456"], "key=[redacted]!"),
        ("abcdefgh abcdef", ["abcdef", "abcdefgh"], "[redacted] [redacted]"),
        ("short abc", ["abc"], "short abc"),
        ("token hunter2x", ["hunter2x\n"], "token [redacted]"),
        ("nothing", [""], "nothing"),
    ],
)
def test_redact(text, secrets, expected):
    assert redact(text, secrets) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\r\nb\rc\td\n", "a\nb\nc\td\n"),
        ("a\x00\x07\x7f\x9bb", "a"),
        ("user\u202egpj.exe", "usergpj.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("half \ud800 pair", "half  pair"),
        ("é 日本 \U0001f600", "é 日本 \U0001f600"),
    ],
)
def test_clean(text, expected):
    assert clean_for_display(text) == expected
