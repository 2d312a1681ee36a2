"""Adds to a candidate the imports that it lacks, where only one can be meant: no model has to be asked for them.

Whatever else is not defined is for the gate.
"""

from __future__ import annotations

from dataclasses import replace

from greenloop.core.compose import compose, text_in
from greenloop.core.python.names import free_names, undefined_at_import, undefined_names
from greenloop.core.records.attempt import Attempt, Candidate
from greenloop.core.records.problem import Problem
from greenloop.project import sources
from greenloop.project.missing_imports import find_imports


def add_missing_imports(problem: Problem, candidate: Candidate) -> Candidate:
    """The candidate with an import for each name that its code lacks, or other code of its file lacks at import."""
    used = set().union(*(free_names(text) for text in (*candidate.texts.values(), *candidate.helpers)))
    statements: dict[str, None] = {}
    for path, text in compose(problem, candidate).items():
        if not (undefined := undefined_names(text)):
            continue
        needed = undefined_at_import(text) | (used & undefined.keys())
        statements |= dict.fromkeys(find_imports(text, path, sorted(needed), problem.root, _reader(problem)))
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


def _reader(problem: Problem) -> sources.ReadText:
    return lambda path: problem.files.get(path) or sources.read_text(problem.root, path, problem.buffers)
