"""Reads a prompt: tests and functions in its text and among its files, and the goal for them.

Pure: it only reads the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from acp.schema import EmbeddedResourceContentBlock, ResourceContentBlock, TextContentBlock

ASK = (
    "Name a failing test (`fix tests/test_m.py::test_x`), a function to write from its docstring (`fix m.py::f`) or a "
    "line (`m.py:12`), or ask to `fix the failing tests` or to `improve m.py::f`. What follows a colon, or in the "
    "lines after it, is a comment for the model."
)

# A path with what follows it in pytest's notation, as a line, or as a link's fragment; or a mentioned file by number.
_TARGET = re.compile(
    r"\x00(?P<mention>\d+)\x00"
    r"|(?P<path>[^\s`'\"<>()\[\],;\x00]+?\.py)(?P<rest>(?:::\w+(?:\.\w+)*)+(?:\[[^\n]*?\](?=[\s`'\",;:.)]|$))?|:\d+)?(?!\w)"
)
_LINK = re.compile(r"\[[^\]\n]*\]\((file:[^)\s]+)\)")
_NAME = re.compile(r"\b(test_\w+)\b|`(\w+(?:\.\w+)*)(?:\(\))?`|\b(\w+)\(\)")
_LINE = re.compile(r"L?(\d+)")
_FAILING = re.compile(r"\b(fail\w*|red|broken|tests?|suite|everything|all)\b", re.IGNORECASE)
_REPAIR = re.compile(r"\b(fix|repair|solve|green|pass)\b", re.IGNORECASE)
_GOALS = (
    (re.compile(r"\bmemory\b", re.IGNORECASE), "memory"),
    (re.compile(r"\bsimpl(?:er|ify)\b", re.IGNORECASE), "limits"),
    (re.compile(r"\b(?:improve|faster|optimi[sz]e|speed)\b", re.IGNORECASE), "time"),
)


@dataclass(frozen=True, kw_only=True)
class Wish:
    """A prompt's request: targets as typed (none: every failing test), a goal for code that passes, a comment."""

    targets: tuple[str, ...] = ()
    goal: str | None = None
    comment: str = ""


def read_prompt(blocks: Sequence[object]) -> Wish | None:
    """The wish of a prompt's content blocks; None where it asks for nothing that can be done."""
    text, mentions, attached = _join(blocks)
    found = list(_TARGET.finditer(text))
    # An editor attaches the open file to a prompt that names another one.
    found = [match for match in found if int(match["mention"] or -1) not in attached] or found
    if not found:
        first = text.strip().partition("\n")[0]
        is_all = _REPAIR.search(first) and _FAILING.search(first)
        return Wish() if is_all or re.fullmatch(r"\s*/fix\s*", text) else None
    first, _, later = text[found[-1].end() :].partition("\n")
    after = first.lstrip("`'\")")
    comment = f"{after[1:] if after.startswith(':') else ''}\n{later}".strip()
    words = text[: found[-1].end()] + ("" if after.startswith(":") else first)
    asked = _TARGET.sub(" ", words)
    names = [name for groups in _NAME.findall(asked) for name in groups if name]
    targets = [target for match in found for target in _targets(match, mentions, names)]
    named = [target for target in targets if "::" in target or re.search(r":\d+$", target)]
    # A link's label repeats its file, and an editor adds the open file to a prompt that names a test.
    return Wish(
        targets=tuple(dict.fromkeys(named or targets)),
        goal=next((goal for pattern, goal in _GOALS if pattern.search(asked)), None),
        comment=re.sub(r"\x00\d+\x00", "", comment).strip(),
    )


def _join(blocks: Sequence[object]) -> tuple[str, list[str], set[int]]:
    """The text with a number in place of each mentioned file, their targets, and which are outside a sentence."""
    mentions: list[str] = []
    attached: set[int] = set()

    def mention(uri: str) -> str:
        target = target_of(uri)
        if not target:
            return " "
        mentions.append(target)
        return f" \x00{len(mentions) - 1}\x00 "

    parts: list[str] = []
    is_sentence_over = False
    for block in blocks:
        if isinstance(block, TextContentBlock):
            parts.append(_LINK.sub(lambda match: mention(match[1]), block.text.replace("\x00", "")))
            is_sentence_over = bool(block.text) and not block.text[-1].isspace()
        elif isinstance(block, ResourceContentBlock | EmbeddedResourceContentBlock):
            uri = block.uri if isinstance(block, ResourceContentBlock) else block.resource.uri
            before = len(mentions)
            parts.append(mention(uri))
            attached |= {*range(before, len(mentions))} if is_sentence_over else set()
    return "".join(parts).replace("\r\n", "\n"), mentions, attached


def target_of(uri: str) -> str:
    """The target of a mentioned file: `/p/m.py`, or `/p/m.py:3` for `file:///p/m.py#L3:9`; empty for other things."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    path = unquote(parts.path)
    if parts.scheme not in ("", "file") or not path.endswith(".py") or "\x00" in path:
        return ""
    line = _LINE.match(parts.fragment)
    return f"{path}:{line[1]}" if line else path


def _targets(match: re.Match[str], mentions: Sequence[str], names: Sequence[str]) -> list[str]:
    if match["mention"] is None:
        path, rest = match["path"].removeprefix("@"), match["rest"] or ""
    else:
        path, rest = mentions[int(match["mention"])], ""
    if rest or re.search(r":\d+$", path):
        return [path + rest]
    return [f"{path}::{name}" for name in names] or [path]
