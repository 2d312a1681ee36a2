"""Finds the code in a model's answer: fenced blocks, unfenced code, search/replace blocks.

This module must not know what the code is used for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from greenloop.core.python.ast_source import Fragment, parse_fragment
from greenloop.core.python.indentation import indentation_of
from greenloop.core.text.diff import with_plain_ends

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
# Outside of a folder only usual extensions make a name: `1.5` and `e.g.` are none.
_EXTENSIONS = "py|pyi|pyx|json|ya?ml|toml|sql|html?|xml|css|js|txt|md|rst|csv|tsv|ini|cfg|j2|jinja2?|tmpl|tpl|mako|lark"
_PATH = re.compile(
    rf"(?<![\w./-])(?:\./)?(?:(?:[\w.-]+/)+[\w-][\w.-]*\.\w{{1,8}}|[\w-][\w.-]*\.(?:{_EXTENSIONS}))(?![\w/])"
)
LONGEST_LINE = 200  # characters of a line that names a file
MOST_ENDS = 8  # fences that may end a block
_MAX_PARSES = 200  # parses spent on finding the ends of unfenced code
_MAX_CHARACTERS = 400_000  # parsed by all of these

_SEARCH = re.compile(r"^[ \t>]*<{5,9}[ \t]*(?:SEARCH|ORIGINAL|OLD)\b.*$", re.IGNORECASE)
_DIVIDER = re.compile(r"^[ \t]*={5,9}[ \t]*$")
_REPLACE = re.compile(r"^[ \t]*>{5,9}[ \t]*(?:REPLACE|UPDATED|NEW)\b.*$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A piece of code in an answer. `closed`: its end was found. `is_python`: its label is Python or missing.

    `path` is the file that its label, its first line or the line above it names, as written there.
    """

    text: str
    closed: bool = True
    is_python: bool = True
    is_fenced: bool = True
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class BlockEdit:
    """Lines to search and their replacement; `closed` is false where the answer ended inside.

    `path` is the file that the edit, or one before it, names, as written there; `is_deletion`: that file is to go.
    Hunks of a diff set the other fields. `origins`: the index of the searched line that each line of `replace`
    keeps (None: a new line). `anchor`: the index of a searched line whose indentation is reliable. `line_hint`: the
    line of the file near which the hunk belongs (0: unknown).
    """

    search: tuple[str, ...]
    replace: tuple[str, ...]
    closed: bool = True
    origins: tuple[int | None, ...] = ()
    anchor: int | None = None
    line_hint: int = 0
    path: str = ""
    is_deletion: bool = False


def strip_thinking(answer: str) -> str:
    r"""The answer without the model's thinking and without control tokens, with `\n` as the only line end.

    Thinking that never ends is kept without its tag, since some models put their answer in it.
    """
    text = _SPECIAL.sub("", with_plain_ends(answer).replace("\ufeff", "").replace("\u200b", ""))
    opening = _OPEN.search(text)
    lone = _LONE_CLOSE.search(text)
    if lone and (opening is None or opening.start() > lone.start()):
        text = text[lone.end() :]  # the chat template removed the opening tag
    # After the first fence, a tag like this is part of the code: in a string or a docstring.
    while (opening := _OPEN.search(text, 0, _code_start(text))) and (end := _CLOSE.search(text, opening.end())):
        text = text[: opening.start()] + text[end.end() :]
    opening = _OPEN.search(text, 0, _code_start(text))
    return text[: opening.start()] + text[opening.end() :] if opening else text


def _code_start(text: str) -> int:
    fence = _FENCE_LINE.search(text)
    return fence.start() if fence else len(text)


def defined_names(text: str) -> list[str]:
    """Names of functions and classes that a text seems to define, even where it does not parse."""
    return _DEFINES.findall(text)


def find_blocks(text: str) -> list[Block]:
    """All blocks of code in an answer, in order; unfenced code where there is no fence."""
    fenced = list(_fenced_blocks(text.split("\n")))
    if fenced:
        return fenced
    return _unfenced_blocks(text.split("\n"))


def find_edits(text: str) -> list[BlockEdit]:
    """The search/replace blocks of an answer, in order; each is about the file that was named last."""
    result: list[BlockEdit] = []
    search: list[str] = []
    replace: list[str] = []
    state = path = ""
    for line in text.split("\n"):
        if _SEARCH.match(line) and state != "search":
            if state:
                result.append(BlockEdit(search=tuple(search), replace=tuple(replace), closed=False, path=path))
            path = named_path(line) or path
            state, search, replace = "search", [], []
        elif state == "search" and _DIVIDER.match(line):
            state = "replace"
        elif state == "replace" and _REPLACE.match(line):
            result.append(BlockEdit(search=tuple(search), replace=tuple(replace), path=path))
            state = ""
        elif state == "search":
            search.append(line)
        elif state == "replace":
            replace.append(line)
        else:
            path = named_path(line) or path
    if state:
        result.append(BlockEdit(search=tuple(search), replace=tuple(replace), closed=False, path=path))
    return result


def complete_part(text: str) -> str:
    """Cut-off code without its unfinished last top-level statement; "" where nothing complete remains."""
    lines = text.split("\n")
    indentation = min((len(indentation_of(line)) for line in lines if line.strip()), default=0)
    starts = [
        n
        for n, line in enumerate(lines)
        if line.strip() and len(indentation_of(line)) <= indentation and line[indentation : indentation + 1] != ")"
    ]
    for start in reversed(starts[-20:]):
        rest = "\n".join(lines[:start])
        if rest.strip() and isinstance(parse_fragment(rest), Fragment):
            return rest
    return ""


def _fenced_blocks(lines: Sequence[str]) -> Iterator[Block]:
    start = 0
    while start < len(lines):
        opening = _FENCE.match(lines[start])
        if not opening:
            start += 1
            continue
        fence, labels = opening[1], opening[2].split()
        language = labels[0].strip("{}.").lower() if labels else ""
        is_python = language.split(":")[0] in PYTHON
        found = (
            other
            for other in range(start + 1, len(lines))
            if (end := _FENCE.match(lines[other])) and not end[2] and end[1].startswith(fence)
        )
        ends = [*islice(found, MOST_ENDS)]
        indentation = indentation_of(lines[start])
        # A docstring may contain a fence: the block ends at the first fence that makes it valid code.
        first_end = ends[0] if ends else None
        end_line = next((one for one in ends if _is_sensible(lines[start + 1 : one], indentation)), first_end)
        text = "\n".join(_without_margin(lines[start + 1 : end_line], indentation))
        if text.strip():
            above = next((line for line in reversed(lines[:start]) if line.strip()), "")
            path = named_path(opening[2]) or named_path(text.lstrip().split("\n")[0], mark="#") or named_path(above)
            yield Block(text=text, closed=end_line is not None, is_python=is_python, path=path)
        start = len(lines) if end_line is None else end_line + 1


def named_path(line: str, *, mark: str = "") -> str:
    """The only file that a short line names, such as `src/m.py` in "In `src/m.py`:"; "" for any other line.

    With a `mark` the line has to begin with it.
    """
    if not line.lstrip().startswith(mark) or len(line) > LONGEST_LINE:
        return ""
    words = line.strip().strip("`*#:").split()
    if len(words) == 1 and re.search(r"[./]", words[0]) and not mark:
        return words[0].removeprefix("./")
    paths = {*_PATH.findall(line)}
    return paths.pop().removeprefix("./") if len(paths) == 1 else ""


def _is_sensible(lines: Sequence[str], edge: str) -> bool:
    parsed = parse_fragment("\n".join(_without_margin(lines, edge)))
    return isinstance(parsed, Fragment) and bool(parsed.body)


def _without_margin(lines: Sequence[str], edge: str) -> list[str]:
    return [line[len(edge) :] if edge and line.startswith(edge) else line for line in lines]


def _unfenced_blocks(lines: Sequence[str]) -> list[Block]:
    """Code without fences: from each line that looks like code, as far as it parses."""
    found_blocks: list[Block] = []
    starts = [number for number, line in enumerate(lines) if _CODE.match(line)]
    tries, room, taken = _MAX_PARSES, _MAX_CHARACTERS, 0
    for start in starts:
        for end in range(len(lines), start, -1) if start >= taken and tries > 0 and room > 0 else ():
            if end < len(lines) and lines[end].strip() and indentation_of(lines[end]) > indentation_of(lines[start]):
                continue  # never between a line and its indented block
            if not lines[end - 1].strip():
                continue
            text = "\n".join(lines[start:end])
            tries, room = tries - 1, room - len(text)
            if tries < 0 or room < 0:
                break
            if defined_names(text) and isinstance(parse_fragment(text), Fragment):
                found_blocks.append(Block(text=text, closed=end < len(lines), is_fenced=False))
                taken = end
                break
    defining = next((number for number in range(len(lines) - 1, -1, -1) if _DEFINES.match(lines[number])), -1)
    rest = next((start for start in starts if taken <= start <= defining), None)
    if rest is not None:  # code that does not parse: the model can learn from its error
        found_blocks.append(Block(text="\n".join(lines[rest:]), closed=False, is_fenced=False))
    return found_blocks
