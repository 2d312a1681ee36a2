"""Lines that fit the terminal."""

from __future__ import annotations

import io

import pytest

from greenloop.cli.width import break_lines, fit, terminal_width, wrap_words

PATH = "/home/somebody/a/very/long/path/to/python3"


@pytest.mark.parametrize(("line", "width", "fitted"), [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("", 3, "")])
def test_a_line_is_shortened_at_its_end(line, width, fitted):
    assert fit(line, width) == fitted


@pytest.mark.parametrize(
    ("text", "width", "indent", "lines"),
    [
        ("one two three", 9, 0, ["one two", "three"]),
        ("one two", 8, 2, ["  one", "     two"]),
        (f"run {PATH}", 20, 0, ["run", PATH]),  # a path stays whole
        ("a-b a-b", 4, 0, ["a-b", "a-b"]),
    ],
)
def test_lines_are_broken_between_words(text, width, indent, lines):
    assert wrap_words(text, width, indent=indent) == lines


@pytest.mark.parametrize(("columns", "width"), [("72", 72), ("", 100_000)])
def test_a_pipe_has_as_many_columns_as_a_line_needs(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal_width() == width


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "shown"),
    [
        (Terminal, f"Not verified:\nof 2 tests 1\nfails.\n\n  failed:\n     {PATH}"),
        (io.StringIO, f"Not verified: of 2 tests 1 fails.\n\n  failed: {PATH}"),
    ],
    ids=["a terminal", "a pipe"],
)
def test_sentences_are_broken_between_words_on_a_terminal_alone(monkeypatch, stream, shown):
    monkeypatch.setenv("COLUMNS", "14")
    assert break_lines(f"Not verified: of 2 tests 1 fails.\n\n  failed: {PATH}", stream()) == shown
