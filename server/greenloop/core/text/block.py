"""Finds where the code ends that fills a hole, while it is written line by line."""

from __future__ import annotations


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
