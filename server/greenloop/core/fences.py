"""Finds the code in a model's answer: fenced blocks, bare code between prose, search/replace blocks.

This module must not know what the code is wanted for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.core.diff import flat
from greenloop.core.source import Piece, margin, piece

PYTHON = {"", "python", "py", "python3", "py3", "python2", "pyi", "code", "tool_code"}

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})[ \t]*([^`\n]*?)[ \t]*$")
_THINK = r"(?:think|thinking|thought|reasoning|reflection|scratchpad)"
_OPEN = re.compile(rf"^[ \t]*<{_THINK}>", re.IGNORECASE | re.MULTILINE)
_LONE_CLOSE = re.compile(rf"^[ \t]*</{_THINK}>[ \t]*$", re.IGNORECASE | re.MULTILINE)
_FENCE_LINE = re.compile(r"^[ \t>]*(?:`{3}|~{3})", re.MULTILINE)
_CLOSE = re.compile(rf"</{_THINK}>[ \t]*", re.IGNORECASE)
_SPECIAL = re.compile(r"<\|[A-Za-z0-9_▁]{2,40}\|>|<\uff5c[^\uff5c\n]{2,40}\uff5c>|</?s>\s*$")
_CODE = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+\w+|^[ \t]*@\w|^(?:import|from)[ \t]+[\w.]+")
_DEFINES = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
_TRIES = 200  # parses spent on finding where bare code ends

_SEARCH = re.compile(r"^[ \t>]*<{5,9}[ \t]*(?:SEARCH|ORIGINAL|OLD)\b.*$", re.IGNORECASE)
_DIVIDER = re.compile(r"^[ \t]*={5,9}[ \t]*$")
_REPLACE = re.compile(r"^[ \t]*>{5,9}[ \t]*(?:REPLACE|UPDATED|NEW)\b.*$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A stretch of code in an answer. `closed`: its end was seen. `known`: it was announced as Python or not at all."""

    text: str
    closed: bool = True
    known: bool = True
    fenced: bool = True


@dataclass(frozen=True, kw_only=True)
class Edit:
    """Replace these lines by those; `closed` is false where the answer ended inside.

    Of a hunk also: which searched line each line of `replace` is (None: a new one), which one's margin can be trusted
    (`anchor`), and near which line of the file it may stand (0: not said).
    """

    search: tuple[str, ...]
    replace: tuple[str, ...]
    closed: bool = True
    kept: tuple[int | None, ...] = ()
    anchor: int | None = None
    line: int = 0


def body_of(answer: str) -> str:
    r"""The answer without the model's thinking and without control tokens, `\n` as the only line end.

    Thinking that never ends is kept (some models put their answer in it), only its tag goes.
    """
    text = _SPECIAL.sub("", flat(answer).replace("\ufeff", "").replace("\u200b", ""))
    opening = _OPEN.search(text)
    lone = _LONE_CLOSE.search(text)
    if lone and (opening is None or opening.start() > lone.start()):
        text = text[lone.end() :]  # a template that swallowed the opening tag
    # Behind the first fence such a tag is part of the code: a string, a docstring.
    while (opening := _OPEN.search(text, 0, _code_start(text))) and (end := _CLOSE.search(text, opening.end())):
        text = text[: opening.start()] + text[end.end() :]
    opening = _OPEN.search(text, 0, _code_start(text))
    return text[: opening.start()] + text[opening.end() :] if opening else text


def _code_start(text: str) -> int:
    fence = _FENCE_LINE.search(text)
    return fence.start() if fence else len(text)


def defined_names(text: str) -> list[str]:
    """Names of functions and classes that a text seems to define, also where it does not parse."""
    return _DEFINES.findall(text)


def blocks(text: str) -> list[Block]:
    """All blocks of code in an answer, in order; bare code where there is no fence."""
    found = list(_fenced(text.split("\n")))
    if found:
        return found
    return _bare(text.split("\n"))


def edits(text: str) -> list[Edit]:
    """The search/replace blocks of an answer, in order."""
    result: list[Edit] = []
    search: list[str] = []
    replace: list[str] = []
    state = ""
    for line in text.split("\n"):
        if _SEARCH.match(line) and state != "search":
            if state:
                result.append(Edit(search=tuple(search), replace=tuple(replace), closed=False))
            state, search, replace = "search", [], []
        elif state == "search" and _DIVIDER.match(line):
            state = "replace"
        elif state == "replace" and _REPLACE.match(line):
            result.append(Edit(search=tuple(search), replace=tuple(replace)))
            state = ""
        elif state == "search":
            search.append(line)
        elif state == "replace":
            replace.append(line)
    if state:
        result.append(Edit(search=tuple(search), replace=tuple(replace), closed=False))
    return result


def whole_part(text: str) -> str:
    """What remains of cut-off code when everything from its last unfinished top-level statement on is left out."""
    lines = text.split("\n")
    edge = min((len(margin(line)) for line in lines if line.strip()), default=0)
    starts = [
        n for n, line in enumerate(lines) if line.strip() and len(margin(line)) <= edge and line[edge : edge + 1] != ")"
    ]
    for start in reversed(starts[-20:]):
        rest = "\n".join(lines[:start])
        if rest.strip() and isinstance(piece(rest), Piece):
            return rest
    return ""


def _fenced(lines: Sequence[str]) -> Iterator[Block]:
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if not opening:
            number += 1
            continue
        mark, words = opening[1], opening[2].split()
        language = words[0].strip("{}.").lower() if words else ""
        known = language.split(":")[0] in PYTHON
        ends = [
            other
            for other in range(number + 1, len(lines))
            if (end := _FENCE.match(lines[other])) and not end[2] and end[1].startswith(mark)
        ]
        edge = margin(lines[number])
        # A docstring may hold a fence of its own: the block ends where it first makes sense.
        first = ends[0] if ends else None
        last = next((one for one in ends[:8] if _sensible(lines[number + 1 : one], edge)), first)
        text = "\n".join(_unmargined(lines[number + 1 : last], edge))
        if text.strip():
            yield Block(text=text, closed=last is not None, known=known)
        number = len(lines) if last is None else last + 1


def _sensible(lines: Sequence[str], edge: str) -> bool:
    found = piece("\n".join(_unmargined(lines, edge)))
    return isinstance(found, Piece) and bool(found.body)


def _unmargined(lines: Sequence[str], edge: str) -> list[str]:
    return [line[len(edge) :] if edge and line.startswith(edge) else line for line in lines]


def _bare(lines: Sequence[str]) -> list[Block]:
    """Code without a fence: from each line that looks like code as far as it parses."""
    found: list[Block] = []
    starts = [number for number, line in enumerate(lines) if _CODE.match(line)]
    tries, done = 0, 0
    for start in starts:
        for end in range(len(lines), start, -1) if start >= done else ():
            if end < len(lines) and lines[end].strip() and margin(lines[end]) > margin(lines[start]):
                continue  # never between a line and what is indented below it
            if not lines[end - 1].strip() or tries > _TRIES:
                continue
            tries += 1
            text = "\n".join(lines[start:end])
            if defined_names(text) and isinstance(piece(text), Piece):
                found.append(Block(text=text, closed=end < len(lines), fenced=False))
                done = end
                break
    rest = next((start for start in starts if start >= done and defined_names("\n".join(lines[start:]))), None)
    if rest is not None:  # code that does not parse: its error is worth telling
        found.append(Block(text="\n".join(lines[rest:]), closed=False, fenced=False))
    return found
