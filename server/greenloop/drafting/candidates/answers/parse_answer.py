"""Reads a candidate from a model's answer; it never raises, and each kind of failure has a name.

For every region the *last* complete block that defines it counts, except blocks that only repeat the user's code or
hold a stub. That block also supplies the imports and helpers that the new code uses and the module lacks; earlier
blocks supply what is still missing. Everything else in the answer (tests, `if __name__` blocks, example calls, other
functions of the module unless the problem is open) is ignored: only regions change.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import (
    FUNCTIONS,
    Fragment,
    find_definitions,
    parse_fragment,
    plain_name,
    start_line,
    statements_of,
    walk_code,
)
from greenloop.core.python.indentation import reindent
from greenloop.core.python.names import bound_names
from greenloop.core.records.attempt import Candidate, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import split_lines, with_plain_ends
from greenloop.drafting.candidates.answers import code_blocks, open_answers, other_code, unified_diff
from greenloop.drafting.candidates.answers.definitions import (
    Choice,
    choose,
    find_users_definition,
    is_informative,
    region_indentation,
    takes_self,
    under_asked_name,
)
from greenloop.drafting.candidates.answers.imports_and_helpers import add_imports_and_helpers
from greenloop.drafting.candidates.answers.other_code import called_functions
from greenloop.drafting.candidates.answers.preserve import keep_users_parts
from greenloop.drafting.candidates.answers.search_replace import apply_edits
from greenloop.drafting.candidates.checks.repetition import REPETITION, describe_loop
from greenloop.drafting.candidates.checks.signature import access_decorators, is_accessed_so_by_tests

EMPTY = "EmptyAnswer"
NO_CODE = "NoCode"
TRUNCATED = "TruncatedAnswer"
WRONG = "WrongFunction"


def read(
    answer: str,
    problem: Problem,
    *,
    truncated: bool = False,
    base: Candidate | None = None,
    whole: bool = False,
    wide: bool = False,
) -> Candidate | Finding:
    """The candidate in a model's answer, or the finding why there is none.

    `base` is the candidate that search/replace blocks and hunks apply to, where it is not the user's code.
    `truncated`: the model stopped at its token limit. `whole`: it was asked for all that is to be written, so what it
    has of unwritten functions that the new code calls counts too. `wide`: so does what it has of everything else in the
    files of the regions and suspects. Error classes: EmptyAnswer, NoCode, TruncatedAnswer,
    Repetition, WrongFunction, SearchNotFound, and SyntaxError with its kinds. A finding's line is a line of the
    answer's code.
    """
    parsed = _parse(answer, problem, truncated=truncated, base=base)
    return parsed if isinstance(parsed, Finding) else parsed.read(whole=whole, wide=wide)


def read_all(
    answer: str, problem: Problem, *, truncated: bool = False, base: Candidate | None = None, whole: bool = False
) -> list[Candidate | Finding]:
    """As `read`, and second the candidate with all that the answer changes, where that is more and may be changed."""
    parsed = _parse(answer, problem, truncated=truncated, base=base)
    if isinstance(parsed, Finding):
        return [parsed]
    strict = parsed.read(whole=whole, wide=False)
    wide = strict if problem.exact or isinstance(strict, Finding) else parsed.read(whole=False, wide=True)
    return [strict] if wide == strict or isinstance(wide, Finding) else [strict, wide]


def _parse(answer: str, problem: Problem, *, truncated: bool, base: Candidate | None) -> _Answer | Finding:
    text = code_blocks.strip_thinking(answer)
    if not text.strip():
        return _truncated_finding(text) if truncated else Finding(error_class=EMPTY, message="The answer is empty.")
    changes = code_blocks.find_edits(text) or unified_diff.find_edits(text, truncated=truncated)
    blocks = apply_edits(problem, changes, base) if changes else code_blocks.find_blocks(text)
    if isinstance(blocks, Finding):
        return blocks
    if not blocks:
        missing = Finding(error_class=NO_CODE, message="The answer holds no code.")
        return _truncated_finding(text) if truncated else missing
    known = open_answers.shown_paths(problem)
    pieces = [
        replace(parsed, path=_known_path(block.path, known))
        for block in blocks
        if (parsed := _parse_block(block, truncated=truncated)) is not None
    ]
    return _Answer(problem=problem, blocks=blocks, pieces=pieces, truncated=truncated)


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """The blocks of an answer, and those of them that are code."""

    problem: Problem
    blocks: Sequence[code_blocks.Block]
    pieces: Sequence[Fragment]
    truncated: bool

    def read(self, *, whole: bool, wide: bool) -> Candidate | Finding:
        """The candidate, or why there is none; the arguments are those of `read`."""
        problem, pieces = self.problem, self.pieces
        known = open_answers.shown_paths(problem)
        choices = _choose_all(problem, pieces)
        stored = [region for region in open_answers.stored_instead(problem, pieces) if region not in choices]
        is_told = any(is_informative(problem, region, choice) for region, choice in choices.items())
        is_elsewhere = choices and not is_told and not problem.exact
        takes_all = wide or problem.open or stored or is_elsewhere
        paths = known if wide or is_elsewhere else list(dict.fromkeys(region.path for region in problem.regions))
        if takes_all:
            others = open_answers.named_elsewhere(problem, paths, pieces, problem.regions)
            choices = open_answers.without_repeats(problem, choices | others)
        elif whole and choices:
            choices |= called_functions(problem, choices, pieces)
        if (
            not choices and not stored
        ):  # an answer about another suspect, or other code of the same files, is tried there
            suspects = ((region, choose(problem, region, pieces)) for region in problem.suspects)
            others = {region: choice for region, choice in suspects if choice}
            others = others or open_answers.named_elsewhere(problem, known, pieces)
            choices = dict([*others.items()][:1])
            if not choices and (renamed := under_asked_name(problem, pieces)):
                pieces = renamed
                choices = _choose_all(problem, pieces)
        texts = {region: _new_region_text(problem, region, choice) for region, choice in choices.items()}
        texts |= dict.fromkeys(stored, "")
        if takes_all:
            texts = open_answers.with_new_members(problem, paths, pieces, texts)
            texts = other_code.with_new_calls(problem, paths, pieces, texts)
            texts = other_code.with_new_definitions(problem, paths, pieces, texts)
            texts = other_code.with_new_headers(problem, paths, pieces, texts)
        if not texts:
            return _explain_no_code(problem, self.blocks, pieces, truncated=self.truncated)
        return add_imports_and_helpers(problem, texts, choices, pieces)


def _choose_all(problem: Problem, pieces: Sequence[Fragment]) -> dict[Region, Choice]:
    return {region: choice for region in problem.regions if (choice := choose(problem, region, pieces))}


def _known_path(path: str, known: Sequence[str]) -> str:
    """The file of the problem that an answer means by a path, which may be a part of it; "" if that is unclear."""
    meant = [each for each in known if path and (f"/{each}".endswith(f"/{path}") or f"/{path}".endswith(f"/{each}"))]
    return meant[0] if len(meant) == 1 else ""


def _truncated_finding(text: str) -> Finding:
    if sentence := describe_loop(text):
        return Finding(error_class=REPETITION, message=sentence)
    lines = text.count("\n") + 1 if text.strip() else 0
    return Finding(
        error_class=TRUNCATED, message=f"The answer was cut off after {lines} lines, before its code was complete."
    )


def _parse_block(block: code_blocks.Block, *, truncated: bool) -> Fragment | None:
    parsed = parse_fragment(block.text)
    if isinstance(parsed, Fragment):
        return parsed
    if truncated or not block.closed:
        parsed = parse_fragment(
            code_blocks.complete_part(block.text)
        )  # code that was complete before the cut still counts
    return parsed if isinstance(parsed, Fragment) else None


def _explain_no_code(
    problem: Problem, blocks: Sequence[code_blocks.Block], pieces: Sequence[Fragment], *, truncated: bool
) -> Finding:
    targets = [plain_name(region.qualname) for region in problem.regions]
    short_names = {name.split(".")[-1] for name in targets} | {name.split(".")[0] for name in targets}
    broken = [
        (block, error)
        for block in blocks
        if isinstance(error := parse_fragment(block.text), SyntaxError) and block.is_python
    ]
    relevant = [pair for pair in broken if short_names & set(code_blocks.defined_names(pair[0].text))]
    if relevant or (broken and not pieces):
        block, error = (relevant or broken)[-1]
        last = block is blocks[-1]
        if last and (truncated or (block.is_fenced and not block.closed)):
            return _truncated_finding(block.text)
        if sentence := describe_loop(block.text):
            return Finding(error_class=REPETITION, message=sentence)
        lines = block.text.split("\n")
        line = min(max(error.lineno or 1, 1), len(lines))
        message = f"{error.msg} in line {line}: {lines[line - 1].strip()[:120]}"
        return Finding(error_class=type(error).__name__, message=message, line=line)
    if truncated and not blocks[-1].closed:
        return _truncated_finding(blocks[-1].text)
    names = [name for found in pieces for name, _node in find_definitions(found.body)]
    expected = " or ".join(f"`{name}`" for name in targets)
    if not names:
        wanted = f"; {expected} is wanted" if expected else ""
        return Finding(error_class=NO_CODE, message=f"The answer's code defines no function{wanted}.")
    listed = ", ".join(f"`{name}`" for name in dict.fromkeys(names[:5]))
    wanted = f", not {expected}" if expected else ", and does not name their file"
    return Finding(error_class=WRONG, message=f"The answer defines {listed}{wanted}.")


# -- the text of a region ---------------------------------------------------------------------------------------


def _new_region_text(problem: Problem, region: Region, choice: Choice) -> str:
    base, unit = region_indentation(problem, region)
    node, source = choice.node, choice.piece
    rows = reindent(source, start_line(node, source.lines), node.end_lineno or node.lineno, base, unit)
    text = "\n".join(rows) + "\n"
    if not region.created or find_users_definition(problem, region):
        text = keep_users_parts(text, _users_text(problem, region, choice), unit)
    return text + _new_siblings(problem, region, choice, text)


def _users_text(problem: Problem, region: Region, choice: Choice) -> str:
    """The user's definition; without `@property` where the answer has none, and the tests call it."""
    text = with_plain_ends(region_text(problem, region))
    old = find_users_definition(problem, region)
    if isinstance(old, FUNCTIONS) and isinstance(choice.node, FUNCTIONS) and not choice.node.decorator_list:
        name, decorators = plain_name(region.qualname).rpartition(".")[2], access_decorators(old)
        if decorators and is_accessed_so_by_tests(problem, name, decorators, frozenset()):
            return "".join(row for row in split_lines(text) if row.strip().lstrip("@") not in decorators)
    return text


def _new_siblings(problem: Problem, region: Region, choice: Choice, text: str) -> str:
    """New methods of the region's class that its new text uses; they are inserted below it."""
    owner = plain_name(region.qualname).rpartition(".")[0]
    classes = dict(find_definitions(statements_of(problem.files[region.path])))
    if not isinstance(classes.get(owner), ast.ClassDef) or not isinstance(choice.node, FUNCTIONS):
        return ""
    nodes = ast.walk(classes[owner])
    existing = {item.attr for item in nodes if isinstance(item, ast.Attribute) and isinstance(item.ctx, ast.Store)}
    existing |= {name for item in classes[owner].body for name in bound_names(item)}
    is_in_class = choice.siblings is not choice.piece.body
    offered = {
        item.name: item
        for item in choice.siblings
        if isinstance(item, FUNCTIONS) and (is_in_class or takes_self(item)) and item.name not in existing
    }
    base, unit = region_indentation(problem, region)
    added: dict[str, str] = {}
    result = text
    while missing := [name for name in _accessed_attributes(result, owner) if name in offered and name not in added]:
        node = offered[missing[0]]
        first, last = start_line(node, choice.piece.lines), node.end_lineno or node.lineno
        added[missing[0]] = "\n" + "\n".join(reindent(choice.piece, first, last, base, unit)) + "\n"
        result += added[missing[0]]
    return "".join(added.values())


def _accessed_attributes(text: str, owner: str) -> list[str]:
    """Attributes that code accesses on self, cls or its own class, in order."""
    receivers = ("self", "cls", owner.rpartition(".")[2])
    return [
        node.attr
        for node in walk_code(text)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in receivers
    ]
