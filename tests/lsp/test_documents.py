"""Exact texts: the protocol's lines in every encoding, shifts of positions, least edits."""

import random

import pytest
from lsprotocol import types as lsp
from pygls.workspace import PositionCodec

from greenloop.core.text.diff import contains, split_lines
from greenloop.lsp.client_settings import section
from greenloop.lsp.connection.convert import (
    DocumentEdit,
    action_kind,
    line_range,
    old_line,
    text_edits,
    workspace_edit,
)
from greenloop.lsp.documents.open_documents import ChangeSignal, Documents

ENCODINGS = [lsp.PositionEncodingKind.Utf8, lsp.PositionEncodingKind.Utf16, lsp.PositionEncodingKind.Utf32]
PIECES = ["a", "é", "😋", "\t", "\x0c", "\u2028", "\x1c", "x = 1", "", "\n", "\r\n", "\r", "\n\n"]
URI = "file:///w/m.py"


def opened(text, encoding=ENCODINGS[1]):
    documents = Documents("file:///w", lsp.TextDocumentSyncKind.Incremental, [], encoding)
    documents.put_text_document(lsp.TextDocumentItem(uri=URI, language_id="python", version=0, text=text))
    return documents


def change(documents, start, end, text):
    part = lsp.TextDocumentContentChangePartial(
        range=lsp.Range(start=lsp.Position(*start), end=lsp.Position(*end)), text=text
    )
    documents.update_text_document(lsp.VersionedTextDocumentIdentifier(uri=URI, version=1), part)


@pytest.mark.parametrize(
    ("text", "start", "end", "new", "expected"),
    [
        ("a\x0cb\nc\n", (1, 0), (1, 1), "d", "a\x0cb\nd\n"),
        ("a\u2028b\nc\n", (1, 0), (1, 1), "d", "a\u2028b\nd\n"),
        ("a\r\nb\r\n", (0, 1), (1, 0), "", "ab\r\n"),
        ("a\rb\rc", (2, 0), (2, 1), "d", "a\rb\rd"),
        ("x😋y\n", (0, 3), (0, 4), "z", "x😋z\n"),
        ("ab\n", (0, 99), (0, 99), "c", "abc\n"),
        ("ab", (7, 0), (7, 0), "c", "abc"),
        ("", (0, 0), (0, 0), "x", "x"),
        ("a\n", (1, 0), (1, 0), "b", "a\nb"),
    ],
)
def test_incremental_changes(text, start, end, new, expected):
    documents = opened(text)
    change(documents, start, end, new)
    assert documents.get_text_document(URI).source == expected


def apply(text, edits, encoding):
    documents = opened(text, encoding)
    for edit in reversed(edits):
        start, end = edit.range.start, edit.range.end
        change(documents, (start.line, start.character), (end.line, end.character), edit.new_text)
    return documents.get_text_document(URI).source


@pytest.mark.story("a result is one edit of the text that the editor has")
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("seed", range(60))
def test_edits_make_the_new_text_of_the_old(seed, encoding):
    rng = random.Random(seed)
    before, after = ("".join(rng.choices(PIECES, k=rng.randrange(9))) for _ in range(2))
    assert apply(before, text_edits(before, after, PositionCodec(encoding)), encoding) == after


@pytest.mark.story("a result is one edit of the text that the editor has")
@pytest.mark.parametrize("seed", range(60))
def test_the_lines_after_a_change_are_those_of_the_whole_text(seed):
    rng = random.Random(seed)
    documents = opened("".join(rng.choices(PIECES, k=12)))
    for _change in range(20):
        start, end = ((rng.randrange(9), rng.randrange(4)) for _ in range(2))
        change(documents, start, end, "".join(rng.choices(PIECES, k=rng.randrange(4))))
        document = documents.get_text_document(URI)
        assert list(document.lines) == split_lines(document.source)


def test_old_line():
    back = old_line("a\nb\nc\nd\n", "new\na\nX\nY\nc\nd\n")
    assert [back(line) for line in range(1, 8)] == [0, 1, 0, 0, 3, 4, 0]


@pytest.mark.parametrize(
    ("before", "after", "current", "expected"),
    [
        ("a\nb\n", "a\nc\n", "a\nb\n", False),
        ("a\nb\n", "a\nc\n", "a\nc\n", True),
        ("a\nb\n", "a\nc\n", "x\na\nc\ntyped\n", True),
        ("a\nb\n", "a\nc\n", "a\nd\n", False),
        ("a\nb\n", "a\nc\n", "x\na\nb\n", False),
        ("a\nb\nc\n", "a\nc\n", "a\nc\nd\n", True),
        ("a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n", False),
        ("a\nb\n", "a\na\nb\n", "a\nb\nd\n", False),
        ("", "a\n", "a\nb\n", True),
        ("", "a\n", "", False),
        # One of two equal lines goes, or a second one comes, while something is typed elsewhere.
        ("a\nb\nb\nc\n", "a\nb\nc\n", "x\na\nb\nb\nc\n", False),
        ("a\nb\nb\nc\n", "a\nb\nc\n", "a\nb\nb\nc\nx\n", False),
        ("a\nb\nb\nc\n", "a\nb\nc\n", "x\na\nb\nc\n", True),
        ("a\nb\nc\n", "a\nb\nb\nc\n", "x\na\nb\nc\n", False),
        ("a\nb\nc\n", "a\nb\nb\nc\n", "x\na\nb\nb\nc\nx\n", True),
    ],
)
def test_contains(before, after, current, expected):
    assert contains(before, after, current) is expected


def test_line_range_leaves_out_the_indentation_and_counts_units():
    text = "x\n    é😋 = 1  \n"
    spans = [
        (found.start.character, found.end.character)
        for encoding in ENCODINGS
        for found in [line_range(2, text, PositionCodec(encoding))]
    ]
    assert spans == [(4, 14), (4, 11), (4, 10)]
    beyond = line_range(9, text)
    assert (beyond.start, beyond.end) == (lsp.Position(8, 0), lsp.Position(8, 0))


def test_version_zero_is_a_version():
    edit = DocumentEdit(uri=URI, before="a\n", after="b\n", version=0)
    change = workspace_edit([edit], PositionCodec(), document_changes=True).document_changes[0]
    assert change.text_document.version == 0


@pytest.mark.parametrize(
    ("natural", "only", "expected"),
    [
        ("quickfix", None, "quickfix"),
        ("quickfix", [], None),
        ("quickfix", ["refactor"], "refactor.rewrite"),
        ("refactor.rewrite", ["quickfix"], None),
        ("refactor.rewrite", [""], "refactor.rewrite"),
    ],
)
def test_action_kind(natural, only, expected):
    found = action_kind(lsp.CodeActionKind(natural), only)
    assert (found.value if found else None) == expected


def test_a_null_is_not_a_setting():
    assert section({"a": {"b": 1, "c": None}, "d.e": 2}) == {"a.b": 1, "d.e": 2}


class Clock:
    """Time that passes only while somebody sleeps; `typing` happens at its moments."""

    def __init__(self, *typing):
        self.now, self.typing = 100.0, [100.0 + each for each in typing]
        self.documents = ChangeSignal(self.monotonic, self.sleep)

    def monotonic(self):
        return self.now

    async def sleep(self, seconds):
        end = self.now + seconds
        while self.typing and self.typing[0] <= end:
            self.now = self.typing.pop(0)
            self.documents.notify_changed()
        self.now = end


@pytest.mark.parametrize(
    ("typing", "quiet", "at"),
    [
        ((), True, 0.0),
        ((0.0,), True, 0.3),
        ((0.0, 0.2, 0.4), True, 0.7),
        ([each / 4 for each in range(99)], False, None),
    ],
)
async def test_a_pause_in_the_typing_is_waited_for(typing, quiet, at):
    clock = Clock(*typing)
    if typing:
        await clock.sleep(0.0)
    assert await clock.documents.wait_for_quiet(0.3, 5.0) is quiet
    if at is not None:
        assert clock.now - 100.0 == pytest.approx(at)
