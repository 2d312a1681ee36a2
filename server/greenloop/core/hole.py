"""Holes: a region with some lines masked, asked of a model's fill-in-the-middle mode, and the region filled again.

A hole costs a dozen tokens where a whole answer costs a hundred, and cannot be answered with the code as it was shown.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import Template

from greenloop.core import fences
from greenloop.core.compose import region_text
from greenloop.core.diff import flat
from greenloop.core.nouns import (
    Attempt,
    Candidate,
    Completion,
    Draft,
    Excerpt,
    Finding,
    Hole,
    Mask,
    Message,
    Problem,
    Region,
)
from greenloop.core.prompt import fenced
from greenloop.core.source import FUNCTIONS, Piece, blocks, docstring, piece

NO_LINE = "EmptyHole"
LONGEST = 120  # lines of the region shown on each side of the hole
TOKENS_A_LINE = 40
MOST_MASKED = 6  # lines of one statement
MOST_ABOUT = 1200  # characters of one excerpt
BLANK = "<FILL>"


def rows_of(problem: Problem, attempt: Attempt, region: Region) -> list[str]:
    """The lines of a region as an attempt has it, without line ends."""
    texts: Mapping[Region, str] = attempt.candidate.texts if attempt.candidate else {}
    text = texts[region] if region in texts else region_text(problem, region)
    return flat(text).rstrip("\n").split("\n")


def question(problem: Problem, attempt: Attempt, draft: Draft, excerpts: Sequence[Excerpt]) -> Hole:
    """What stands before and after the masked lines of the draft.

    What the region leans on and its tests go first: that part is the same for every hole, so that it is read once.
    Raises `ValueError` for a draft without a mask.
    """
    mask = draft.masked
    if mask is None:
        raise ValueError("the draft masks no lines")
    rows = rows_of(problem, attempt, mask.region)
    before, after = rows[: mask.start - 1][-LONGEST:], rows[mask.end :][:LONGEST]
    indent = margin_of(rows, mask)
    about = "\n\n".join(excerpt.text[:MOST_ABOUT] for excerpt in excerpts if not excerpt.own)
    head = "\n".join([*([about, "", ""] if about else []), *before])
    return Hole(
        prefix=f"{head}\n{indent}" if head else indent,
        suffix="\n" + "\n".join(after) + "\n",
        role=draft.role,
        temperature=draft.temperature,
        max_tokens=TOKENS_A_LINE * max(1, mask.end - mask.start + 1),
        stop=("\n",) if mask.end <= mask.start else ("\n\n",),
    )


def as_chat(hole: Hole, template: str) -> Completion:
    """The same question for a model that has no fill-in-the-middle mode; `template` uses `$code`."""
    code = fenced(f"{hole.prefix}{BLANK}{hole.suffix}".strip("\n"))
    return Completion(
        messages=(Message(role="user", content=Template(template).substitute(code=code, blank=BLANK).strip()),),
        role=hole.role,
        temperature=hole.temperature,
        max_tokens=hole.max_tokens + 20,  # a fence around it
        seed=hole.seed,
    )


def margin_of(rows: list[str], mask: Mask) -> str:
    """The indentation that belongs into the hole: that of the masked line, for a new line that of its neighbour."""
    row = rows[mask.start - 1] if mask.start <= len(rows) else rows[-1]
    if mask.end < mask.start and mask.start >= 2 and not row.strip():
        row = rows[mask.start - 2]
    return row[: len(row) - len(row.lstrip())]


def filled(problem: Problem, attempt: Attempt, mask: Mask, text: str) -> Candidate | Finding:
    """The candidate with the hole filled; the first line's indentation stands before the hole already."""
    rows = rows_of(problem, attempt, mask.region)
    wanted = max(1, mask.end - mask.start + 1)
    inside = fences.blocks(text) if "```" in text else []
    body = flat(inside[0].text if inside else text).strip("\n").rstrip()
    if not body.strip():
        return Finding(error_class=NO_LINE, message="The hole was left empty.")
    lines = body.split("\n")[: wanted + 1]
    fresh = [margin_of(rows, mask) + lines[0].lstrip(), *lines[1:]]
    new = "\n".join([*rows[: mask.start - 1], *fresh, *rows[mask.end :]]) + "\n"
    found = piece(new)
    if not isinstance(found, Piece):
        return Finding(error_class=type(found).__name__, message=f"{found.msg} in the filled hole", line=found.lineno)
    old = attempt.candidate
    return Candidate(
        texts={**(old.texts if old else {}), mask.region: new},
        imports=old.imports if old else (),
        helpers=old.helpers if old else (),
    )


def masks(problem: Problem, attempt: Attempt) -> list[Mask]:
    """Every statement of the regions, or head of one, that can be masked; where a failure is suspected first."""
    scores = problem.suspicion if attempt.candidate is None else {}
    found: list[tuple[float, int, Mask]] = []
    for region in problem.regions:
        known = scores.get(region.path, {})
        for start, end in _statements(problem, attempt, region):
            score = max((known.get(region.start + line - 1, 0.0) for line in range(start, end + 1)), default=0.0)
            found.append((-score, len(found), Mask(region=region, start=start, end=end)))
    return [mask for _score, _order, mask in sorted(found, key=lambda item: item[:2])]


def pairs(ordered: Sequence[Mask]) -> list[Mask]:
    """Ranges of two neighbouring masks, in the order of the first of them to come."""
    starts = {(mask.region, mask.start): mask for mask in ordered}
    joined: dict[Mask, None] = {}
    for mask in ordered:
        for first in (mask, *(one for one in ordered if one.region == mask.region and one.end + 1 == mask.start)):
            second = starts.get((first.region, first.end + 1))
            if second is not None:
                joined[replace(first, end=second.end)] = None
    return list(joined)


def inserts(ordered: Sequence[Mask]) -> list[Mask]:
    """A new line before each of the masks, in their order."""
    return [replace(mask, end=mask.start - 1) for mask in ordered]


def _statements(problem: Problem, attempt: Attempt, region: Region) -> list[tuple[int, int]]:
    """First and last line of each simple statement and each head of a compound one, in source order."""
    found = piece("\n".join(rows_of(problem, attempt, region)))
    if not isinstance(found, Piece):
        return []
    result = []
    for function in (node for item in found.body for node in ast.walk(item) if isinstance(node, FUNCTIONS)):
        inner = [node for item in function.body if item is not docstring(function) for node in ast.walk(item)]
        for node in inner:
            if isinstance(node, ast.stmt) and docstring(node) is None:
                block = next(iter(blocks(node)), [])
                end = max(node.lineno, block[0].lineno - 1) if block else node.end_lineno or node.lineno
                result.append((node.lineno - found.shift, end - found.shift))
    return sorted({(start, end) for start, end in result if end - start < MOST_MASKED})
