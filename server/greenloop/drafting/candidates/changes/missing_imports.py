"""Adds to a candidate the imports that it lacks, and corrects those of what does not exist, where only one is meant.

No model has to be asked for them. Whatever else is not defined is for the gate.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from greenloop.core.compose import compose, text_in
from greenloop.core.python.ast_source import Fragment, parse_fragment
from greenloop.core.python.names import free_names, undefined_at_import, undefined_names
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import ImportCorrection, Problem
from greenloop.core.text.diff import with_plain_ends
from greenloop.drafting.candidates.changes.change import ChangeKind, Edit, change_of
from greenloop.project import sources
from greenloop.project.imports.missing_imports import find_imports


def add_missing_imports(problem: Problem, candidate: Candidate) -> Candidate:
    """The candidate with an import for each name that its code lacks, or other code of its file lacks at import."""
    candidate = _with_corrections(problem, candidate)
    used = set().union(*(free_names(text) for text in (*candidate.texts.values(), *candidate.helpers)))
    statements: dict[str, None] = {}
    for path, text in compose(problem, candidate).items():
        if not (undefined := undefined_names(text)):
            continue
        needed = undefined_at_import(text) | (used & undefined.keys())
        statements |= dict.fromkeys(find_imports(text, path, sorted(needed), problem.root, reader_of(problem)))
    return replace(candidate, imports=(*candidate.imports, *statements)) if statements else candidate


def with_missing_imports(problem: Problem, attempt: Attempt) -> Candidate | None:
    """The attempt's own code with the imports that it lacks; None where it lacks none that is known."""
    base = attempt.candidate or Candidate(texts={})
    completed = None
    for region in problem.regions:
        changed = replace(base, texts={**base.texts, region: text_in(problem, base, region)})
        if (added := add_missing_imports(problem, changed)) != changed:
            completed = base = added
    return completed


def _with_corrections(problem: Problem, candidate: Candidate) -> Candidate:
    """The candidate with all corrected imports, and with the names that they bind now."""
    texts = dict(candidate.texts)
    for each in problem.corrections:
        for region in each.uses:
            if not any(region.overlaps(other) for other in texts):
                texts[region] = text_in(problem, None, region)
        same_file = [region for region in texts if region.path == each.region.path and not region.imports]
        texts |= {region: renamed(texts[region], each) for region in same_file} if each.renamed else {}
        texts[each.region] = each.text
    return replace(candidate, texts=texts) if problem.corrections else candidate


def renamed(text: str, correction: ImportCorrection) -> str:
    """A text with the names that an import binds now; unchanged where it cannot be parsed or has none of them."""
    parsed = parse_fragment(with_plain_ends(text))
    nodes = [node for item in parsed.body for node in ast.walk(item)] if isinstance(parsed, Fragment) else []
    names = [node for node in nodes if isinstance(node, ast.Name) and node.id in correction.renamed]
    edits = [
        Edit(line=node.lineno, start=node.col_offset, end=node.end_col_offset or 0, new=correction.renamed[node.id])
        for node in names
    ]
    return change_of(parsed, edits, ChangeKind.SLIP).text if isinstance(parsed, Fragment) and edits else text


def reader_of(problem: Problem) -> sources.ReadText:
    """Reads the files of the workspace as the problem has them."""
    return lambda path: problem.files.get(path) or sources.read_text(problem.root, path, problem.buffers)
