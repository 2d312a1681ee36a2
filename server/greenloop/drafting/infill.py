"""Infills: masks some lines of a region and has a model's fill-in-the-middle mode fill them again.

An infill costs a dozen tokens where a whole answer costs a hundred, and its answer cannot just repeat the code shown.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from string import Template

from greenloop.core.compose import text_in
from greenloop.core.python.ast_source import FUNCTIONS, Fragment, docstring_statement, parse_fragment, statement_blocks
from greenloop.core.python.indentation import cut_block, indentation_unit
from greenloop.core.records.attempt import Attempt, Candidate, Draft, Finding, Mask
from greenloop.core.records.model import ChatRequest, InfillRequest, Message
from greenloop.core.records.problem import Excerpt, Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.answers import code_blocks
from greenloop.drafting.prompt import fenced

NO_LINE = "EmptyHole"
SHORT = 60  # lines of a region that is shown as a whole
BEFORE, AFTER = 15, 8  # lines of a longer one that are shown before (at least) and after the mask
STEP = 15  # the shown part begins at a multiple of so many lines: masks near one another share what stands before
OMITTED = "# ..."  # in place of the lines between the function's head and the shown part
BLOCK = 6  # lines of a statement with its block
TOKENS_A_LINE = 40
TOKENS_OF_BLOCK = 100
MOST_MASKED = 6  # lines of one statement
MOST_ABOUT = 1200  # characters of one excerpt
BLANK = "<FILL>"
ANOTHER = 0.7  # temperature of another answer to the same question


def region_lines(problem: Problem, attempt: Attempt, region: Region) -> list[str]:
    """The lines of a region in an attempt, without line ends."""
    return with_plain_ends(text_in(problem, attempt.candidate, region)).rstrip("\n").split("\n")


def infill_request(problem: Problem, attempt: Attempt, draft: Draft, excerpts: Sequence[Excerpt]) -> InfillRequest:
    """The request to fill the masked lines of a draft.

    The context excerpts and the function's head come first: they are the same for every infill of the function, so a
    prompt cache reads them once. Of a long function only the lines around the mask are shown.
    A new line may be a statement with its block. Raises `ValueError` for a draft without a mask.
    """
    mask = draft.masked
    if mask is None:
        raise ValueError("the draft masks no lines")
    lines = region_lines(problem, attempt, mask.region)
    is_short = len(lines) <= SHORT
    before = lines[: mask.start - 1] if is_short else _lines_before(lines, mask)
    after = lines[mask.end :] if is_short else lines[mask.end :][:AFTER]
    indent = margin_of(lines, mask)
    lines_masked = mask.end - mask.start + 1
    is_new = lines_masked == 0
    stood = "\n".join(lines[mask.start - 1 : mask.end]).strip()
    context = "\n\n".join(excerpt.text[:MOST_ABOUT] for excerpt in excerpts if not excerpt.own)
    head = "\n".join([*([context, "", ""] if context else []), *before])
    return InfillRequest(
        prefix=f"{head}\n{indent}" if head else indent,
        suffix="\n" + "\n".join(after) + "\n",
        role=draft.role,
        temperature=draft.temperature,
        max_tokens=TOKENS_OF_BLOCK if is_new else TOKENS_A_LINE * lines_masked,
        stop=("\n",) if lines_masked == 1 else (),
        lines=BLOCK if is_new else 1 if lines_masked == 1 else lines_masked + 1,
        is_statement=is_new,
        avoid=stood,
        fillings=draft.choice + 1,
    )


def _lines_before(lines: list[str], mask: Mask) -> list[str]:
    """Returns the lines shown before the mask: all, or the function's head and those from a multiple of `STEP` on."""
    head = _head(lines)
    start = max(0, mask.start - 1 - BEFORE) // STEP * STEP
    if start <= len(head):
        return lines[: mask.start - 1]
    return [*head, margin_of(lines, mask) + OMITTED, *lines[start : mask.start - 1]]


def _head(lines: list[str]) -> list[str]:
    """The lines of a function up to its docstring, and that docstring's first sentence or line."""
    parsed = parse_fragment("\n".join(lines))
    functions = [node for node in getattr(parsed, "body", ()) if isinstance(node, FUNCTIONS)]
    if not isinstance(parsed, Fragment) or not functions:
        return lines[:1]
    function = functions[0]
    docstring = docstring_statement(function)
    first = docstring or function.body[0]
    head = lines[: max(1, first.lineno - parsed.shift - 1)]
    if docstring is None:
        return head
    line = lines[docstring.lineno - parsed.shift - 1]
    if docstring.end_lineno != docstring.lineno:
        line = line.rstrip() + line.lstrip().lstrip("rRuUbB")[:3]  # closes it
    return [*head, line]


def as_chat(request: InfillRequest, template: str) -> ChatRequest:
    """The same request for a model without a fill-in-the-middle mode; `template` uses `$code` and `$blank`.

    Such a model cannot tell its next best filling, so that is a sample.
    """
    code = fenced(f"{request.prefix}{BLANK}{request.suffix}".strip("\n"))
    return ChatRequest(
        messages=(Message(role="user", content=Template(template).substitute(code=code, blank=BLANK).strip()),),
        role=request.role,
        temperature=ANOTHER if request.fillings > 1 else request.temperature,
        max_tokens=request.max_tokens + 20,  # a fence around it
        seed=request.seed,
    )


def margin_of(rows: list[str], mask: Mask) -> str:
    """The indentation of the masked line; for an inserted line, that of its neighbour."""
    line = rows[mask.start - 1] if mask.start <= len(rows) else rows[-1]
    if mask.end < mask.start and mask.start >= 2 and not line.strip():
        line = rows[mask.start - 2]
    return line[: len(line) - len(line.lstrip())]


def fill_mask(problem: Problem, attempt: Attempt, mask: Mask, text: str) -> Candidate | Finding:
    """The candidate with the masked lines filled in; the first line's indentation precedes the mask already.

    A filling that cannot stand in their place is taken for what it can be: the header of a block around them, or a
    statement before them.
    """
    lines = region_lines(problem, attempt, mask.region)
    margin = margin_of(lines, mask)
    blocks = code_blocks.find_blocks(text) if "```" in text else []
    body = with_plain_ends(blocks[0].text if blocks else text).strip("\n").rstrip()
    if not body.strip():
        return Finding(error_class=NO_LINE, message="The hole was left empty.")
    if mask.end < mask.start and body.split("\n")[0].rstrip().endswith(":"):
        following = lines[mask.end] if mask.end < len(lines) else ""
        body, _is_whole = cut_block(body, margin, BLOCK, following, is_statement=True)
        answer_lines = body.split("\n")
    else:
        answer_lines = body.split("\n")[: max(1, mask.end - mask.start + 1) + 1]
    filling = [margin + answer_lines[0].lstrip(), *answer_lines[1:]]
    texts = ["\n".join(rows) + "\n" for rows in _place_filling(lines, mask, filling)]
    new_text = next((each for each in texts if isinstance(parse_fragment(each), Fragment)), None)
    if new_text is None:
        error = parse_fragment(texts[0])
        assert isinstance(error, SyntaxError)
        return Finding(error_class=type(error).__name__, message=f"{error.msg} in the filled hole", line=error.lineno)
    previous = attempt.candidate
    base = previous or Candidate(texts={})
    return replace(base, texts={**base.texts, mask.region: new_text})


def _place_filling(lines: list[str], mask: Mask, filling: list[str]) -> list[list[str]]:
    """The lines with a filling in place of the masked ones, as a header above them, and before them."""
    before, stood, after = lines[: mask.start - 1], lines[mask.start - 1 : mask.end], lines[mask.end :]
    unit = indentation_unit("\n".join(lines))
    return [
        [*before, *filling, *after],
        [*before, *filling, *(unit + row for row in stood), *after],
        [*before, *filling, *stood, *after],
    ]


def rank_masks(problem: Problem, attempt: Attempt) -> list[Mask]:
    """Every statement of the regions, or header of one, that can be masked; the most suspicious ones first."""
    scores = problem.suspicion if attempt.candidate is None else {}
    ranked: list[tuple[float, int, Mask]] = []
    for region in problem.regions:
        suspicion = scores.get(region.path, {})
        for start, end in _statements(problem, attempt, region):
            score = max((suspicion.get(region.start + line - 1, 0.0) for line in range(start, end + 1)), default=0.0)
            ranked.append((-score, len(ranked), Mask(region=region, start=start, end=end)))
    return [mask for _score, _order, mask in sorted(ranked, key=lambda item: item[:2])]


def pair_masks(ordered: Sequence[Mask]) -> list[Mask]:
    """Masks over two adjacent statements, in the order in which either of them comes first."""
    by_start = {(mask.region, mask.start): mask for mask in ordered}
    joined: dict[Mask, None] = {}
    for mask in ordered:
        for first in (mask, *(one for one in ordered if one.region == mask.region and one.end + 1 == mask.start)):
            second = by_start.get((first.region, first.end + 1))
            if second is not None:
                joined[replace(first, end=second.end)] = None
    return list(joined)


def insertion_masks(ordered: Sequence[Mask]) -> list[Mask]:
    """Masks that insert a new line before each of the given ones, in their order."""
    return [replace(mask, end=mask.start - 1) for mask in ordered]


def _statements(problem: Problem, attempt: Attempt, region: Region) -> list[tuple[int, int]]:
    """First and last line of each simple statement and each header of a compound one, in source order.

    Of an assignment of several lines those of each item of what it assigns.
    """
    parsed = parse_fragment("\n".join(region_lines(problem, attempt, region)))
    if not isinstance(parsed, Fragment):
        return []
    ranges = []
    if region.assigns:
        ranges = [(first - parsed.shift, last - parsed.shift) for node in parsed.body for first, last in _items(node)]
    for function in (node for item in parsed.body for node in ast.walk(item) if isinstance(node, FUNCTIONS)):
        nodes = [node for item in function.body if item is not docstring_statement(function) for node in ast.walk(item)]
        for node in nodes:
            if isinstance(node, ast.stmt) and docstring_statement(node) is None:
                block = next(iter(statement_blocks(node)), [])
                end = max(node.lineno, block[0].lineno - 1) if block else node.end_lineno or node.lineno
                ranges.append((node.lineno - parsed.shift, end - parsed.shift))
    return sorted({(start, end) for start, end in ranges if end - start < MOST_MASKED})


def _items(node: ast.stmt) -> list[tuple[int, int]]:
    """First and last line of a whole statement, and of each item in it that has its lines to itself."""
    whole = (node.lineno, node.end_lineno or node.lineno)
    spans = {whole}
    for inner in (each for each in ast.walk(node) if isinstance(each, ast.expr)):
        lines = [(first.lineno, last.end_lineno or last.lineno) for first, last in _parts(inner)]
        for number, (first, last) in enumerate(lines):
            above = inner.lineno if number == 0 else lines[number - 1][1]
            below = lines[number + 1][0] if number + 1 < len(lines) else inner.end_lineno
            if above < first and below is not None and last < below:
                spans.add((first, last))
    return sorted(spans)


def _parts(node: ast.expr) -> list[tuple[ast.expr | ast.keyword, ast.expr | ast.keyword]]:
    """The first and last node of each item of a display or call."""
    if isinstance(node, ast.Dict):
        return [(key or value, value) for key, value in zip(node.keys, node.values, strict=True)]
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [(each, each) for each in node.elts]
    items: list[ast.expr | ast.keyword] = [*node.args, *node.keywords] if isinstance(node, ast.Call) else []
    return [(each, each) for each in items]
