"""Texts as the random editor and the protocol count them, and what an applied edit may change in them."""

import re
from hashlib import sha256

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
MARK = re.compile(r"# L(\d+)")
CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
WIDTHS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}


class Broken(AssertionError):
    """Something that must hold does not."""


def digest(text):
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def units(text, encoding="utf-16"):
    """A text's length as the positions of the protocol count it."""
    return len(text.encode(CODECS[encoding], "surrogatepass")) // WIDTHS[encoding]


def position(text, offset, encoding="utf-16"):
    before = text[:offset]
    rows = LINE.findall(before)
    if rows and rows[-1][-1] not in "\r\n":
        return {"line": len(rows) - 1, "character": units(rows[-1], encoding)}
    return {"line": len(rows), "character": 0}


def offset(text, point, encoding="utf-16"):
    rows = LINE.findall(text)
    before = sum(map(len, rows[: point["line"]]))
    if point["line"] >= len(rows):
        return before
    here = rows[point["line"]].rstrip("\r\n").encode(CODECS[encoding], "surrogatepass")
    return before + len(here[: WIDTHS[encoding] * point["character"]].decode(CODECS[encoding], "surrogatepass"))


def owned(text):
    """What of a text is the user's: all but values and marked lines; and those lines' numbers.

    The engine exchanges values and puts in or takes out lines that it marked as its own. Any other difference that an
    edit makes is a lost or damaged character of the user's.
    """
    mine, marks = [], []
    for row in LINE.findall(text):
        mark = MARK.fullmatch(row.rstrip("\r\n"))
        if mark:
            marks.append(mark[1])
        else:
            mine.append(re.sub(r"^(    value = )\w+", r"\1?", row))
    if mine:
        # What comes after a last line without an end gives it one.
        mine[-1] = mine[-1].rstrip("\r\n")
    return mine, marks


class Document:
    """One buffer. `disk` is what the editor believes the file to hold."""

    def __init__(self, uri, text, version):
        self.uri, self.text, self.version, self.first = uri, text, version, version
        self.undone, self.done = [], []
        self.typed = 0.0


def aligned(text, start, end):
    """No position lies between CR and LF."""
    if 0 < start < len(text) and text[start - 1 : start + 1] == "\r\n":
        start -= 1
    if 0 < end < len(text) and text[end - 1 : end + 1] == "\r\n":
        end += 1
    return start, end
