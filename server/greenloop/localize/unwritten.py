"""Finds the functions that are still to be written beside one that a test has reached: they are filled together.

A test stops at the first of them, so only its text says what else it needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.spec import Region, Target
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import Definition
from greenloop.project.test_naming import is_test

MOST = 12  # functions that are filled in one run
_LEFT_OPEN = re.compile(r"(?:\w+\.)*(?:abstract\w*|overload)\b")
_PROTOCOL = re.compile(r"(?:\w+\.)*Protocol\b")
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(?:\([^)]*\)|.*)", re.MULTILINE)


def members(owner: Region, text: str) -> tuple[Region, ...]:
    """The unwritten functions of a class, in the order of the text; at most `MOST`."""
    found = _unwritten(owner.path, text)
    return tuple(each for each in found if each.qualname.startswith(f"{owner.qualname}."))[:MOST]


def belonging(first: Region, text: str, user: str) -> tuple[Region, ...]:
    """The unwritten function that was reached, and the others of its module that `user`, a test's text, needs too.

    Those that the text of one of them names count as well. In the order in which they are called, as far as a text
    can tell: constructors, then by their first mention; at most `MOST`.
    """
    waiting = [each for each in _unwritten(first.path, text) if each.qualname != first.qualname]
    needed, words = [first], _IMPORT.sub("", user)
    while new := [each for each in waiting if _is_needed(each, needed, words)]:
        needed += new
        waiting = [each for each in waiting if each not in new]
        words += "\n".join(definitions.line_span(text, each.start, each.end) for each in new)
    return tuple(sorted(needed, key=lambda each: _call_order(each, words))[:MOST])


def text_of_user(target: Target, text: str) -> str:
    """The text of the target's tests, and of all in their file that is no test."""
    rows = definitions.split_lines(text)
    outline = definitions.cached_outline(text, target.path)
    for each in outline.definitions:
        is_inside = each.start <= target.end and target.start <= each.end
        if each.kind == "function" and not is_inside and is_test(each, outline):
            rows[each.start - 1 : each.end] = [""] * (each.end - each.start + 1)
    return "".join(rows)


def _unwritten(path: str, text: str) -> Sequence[Region]:
    """The functions that are to be written; an abstract method, an overload or a protocol's method stays as it is."""
    listed = definitions.find_definitions(text, path)
    protocols = {each.qualname for each in listed if any(_PROTOCOL.match(base) for base in each.bases)}
    return [
        Region(path=path, qualname=each.qualname, start=each.start, end=each.end)
        for each in _functions(listed)
        if each.owner not in protocols
        and not any(_LEFT_OPEN.match(mark) for mark in each.decorators)
        and is_unwritten(definitions.line_span(text, each.start, each.end))
    ]


def _functions(listed: Sequence[Definition]) -> Iterator[Definition]:
    """Each function by its last definition, which is the one that counts."""
    yield from {each.qualname: each for each in listed if each.kind == "function"}.values()


def _is_needed(region: Region, needed: Sequence[Region], words: str) -> bool:
    """Is it named, or a special method of a class of which something is needed?"""
    owner, _, name = region.qualname.rpartition(".")
    if owner and not any(each.qualname.startswith(f"{owner}.") for each in needed) and _position(owner, words) is None:
        return False
    return (bool(owner) and name.startswith("__")) or _position(name, words) is not None


def _call_order(region: Region, words: str) -> tuple[bool, int, int]:
    name = region.qualname.rpartition(".")[2]
    position = _position(name, words)
    return name != "__init__", len(words) if position is None else position, region.start


def _position(name: str, words: str) -> int | None:
    """Where a text mentions the last part of a name first."""
    match = re.search(rf"(?<!\w){re.escape(name.rpartition('.')[2])}(?!\w)", words)
    return match.start() if match else None
