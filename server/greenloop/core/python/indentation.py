r"""Indentation of Python source: the unit that a text uses, and code moved to another depth.

`\n` is the only line end here, as in `ast_source`.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Sequence

from greenloop.core.python.ast_source import MARGIN, Fragment
from greenloop.core.text.diff import with_plain_ends

_QUOTED = ("FSTRING", "TSTRING")  # token families that newer tokenizers split into start, middle and end


def indentation_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(MARGIN))]


def indentation_unit(text: str) -> str:
    """The step of indentation that a text uses most: a tab, two spaces, four."""
    counts: Counter[str] = Counter()
    previous = ""
    for line in with_plain_ends(text).split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        previous_indent = indentation_of(previous)
        if (
            re.search(r":\s*(#.*)?$", previous)
            and indentation_of(line).startswith(previous_indent)
            and len(indentation_of(line)) > len(previous_indent)
        ):
            counts[indentation_of(line)[len(previous_indent) :]] += 1
        previous = line
    return counts.most_common(1)[0][0] if counts else "    "


def reindent(source: Fragment, first: int, last: int, base_indent: str, unit: str) -> list[str]:
    """The lines `first`..`last` (1-based, inclusive) indented from `base_indent` in steps of `unit`.

    The contents of strings stay unchanged; continuation lines move with the line they continue.
    """
    depths, verbatim, continuations = _layout(source.lines)
    # Leading comments come before the first logical line.
    first_logical = next((number for number in range(first, last + 1) if number in depths), first)
    top_depth = depths.setdefault(first_logical, 0)
    step = _indentation_step(source.lines, depths, first_logical, last, unit)
    result: list[str] = []
    old_indent = new_indent = ""
    for number in range(first, last + 1):
        line = source.lines[number - 1]
        code = line.lstrip(MARGIN)
        if number in verbatim:
            result.append(line)
        elif not code:
            result.append(line.strip(" \t"))
        elif number in depths:
            old_indent, new_indent = indentation_of(line), base_indent + unit * max(depths[number] - top_depth, 0)
            result.append(new_indent + code)
        elif number in continuations:
            result.append(_move_indent(indentation_of(line), old_indent, new_indent, step, unit) + code)
        else:
            depth = _comment_depth(source.lines, number, depths)
            result.append(base_indent + unit * max(depth - top_depth, 0) + code)
    return result


def _layout(lines: Sequence[str]) -> tuple[dict[int, int], set[int], set[int]]:
    """Depth of each logical line, by its first line's number; lines that begin inside a string; continuation lines."""
    depths: dict[int, int] = {}
    verbatim: set[int] = set()
    continuations: set[int] = set()
    depth, statement_line = 0, 0
    string_starts: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            name = tokenize.tok_name[token.type]
            if name in ("INDENT", "DEDENT"):
                depth += 1 if name == "INDENT" else -1
            elif name == "NEWLINE":
                continuations.update(range(statement_line + 1, token.start[0] + 1))
                statement_line = 0
            elif name not in ("NL", "COMMENT", "ENDMARKER", "ENCODING") and not statement_line:
                statement_line = token.start[0]
                depths[statement_line] = depth
            if name == "STRING":
                verbatim.update(range(token.start[0] + 1, token.end[0] + 1))
            elif name.endswith("_START") and name.startswith(_QUOTED):
                string_starts.append(token.start[0])
            elif name.endswith("_END") and name.startswith(_QUOTED):
                verbatim.update(range(string_starts.pop() + 1, token.end[0] + 1))
    except (tokenize.TokenError, SyntaxError):
        pass  # the rest is moved by its indentation alone
    return depths, verbatim, continuations - verbatim


def _indentation_step(lines: Sequence[str], depths: dict[int, int], first: int, last: int, default: str) -> str:
    """The step of indentation that the lines `first`..`last` use."""
    previous = first
    for number in range(first + 1, last + 1):
        if number in depths:
            if depths[number] == depths[previous] + 1:
                return indentation_of(lines[number - 1])[len(indentation_of(lines[previous - 1])) :] or default
            previous = number
    return default


def _move_indent(indent: str, old: str, new: str, step: str, unit: str) -> str:
    if not indent.startswith(old):
        return indent
    extra = indent[len(old) :]
    if step != unit and extra in (step, step * 2):  # a hanging indent; any other is aligned with a bracket
        extra = unit * (len(extra) // len(step))
    return new + extra


def _comment_depth(lines: Sequence[str], number: int, depths: dict[int, int]) -> int:
    """The depth of the line below where its indentation is the same, else of the nearest such line above."""
    comment_indent = indentation_of(lines[number - 1])
    below = next((line for line in range(number + 1, len(lines) + 1) if line in depths), None)
    above = [line for line in range(number - 1, 0, -1) if line in depths]
    for line in [*([below] if below else []), *above]:
        if indentation_of(lines[line - 1]) == comment_indent:
            return depths[line]
    nearest = below or (above[0] if above else None)
    return depths[nearest] if nearest else 0


# -- where a block ends -----------------------------------------------------------------------------------------------


def cut_block(text: str, indent: str, most: int, after: str, *, is_statement: bool = False) -> tuple[str, bool]:
    """The part of a text that fills a hole, and whether more text would change nothing.

    The text begins behind `indent` and ends at an empty line, a line with less indentation, the line `after` that
    follows the hole, or after `most` lines. `is_statement`: it ends with its first line, or with the block that this
    line opens. The last line may still be incomplete.
    """
    first, *others = text.split("\n")
    kept = [first]
    for number, line in enumerate(others, 2):
        is_whole = number <= len(others)
        has_begun = bool(line.strip())
        depth = len(line) - len(line.lstrip())
        is_outside = has_begun and (depth <= len(indent) if is_statement else depth < len(indent))
        is_after = is_whole and bool(after.strip()) and line.rstrip() == after.rstrip()
        is_over = len(kept) == most or (is_statement and not first.rstrip().endswith(":"))
        if is_over or is_outside or is_after or (is_whole and not has_begun):
            return "\n".join(kept), True
        kept.append(line)
    return "\n".join(kept).rstrip(), False
