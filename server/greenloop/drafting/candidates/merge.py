"""Puts the changes of two candidates together."""

from __future__ import annotations

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import parse_module
from greenloop.core.python.names import bound_names
from greenloop.core.records.attempt import Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.text import diff


def merge(problem: Problem, first: Candidate, second: Candidate, base: Candidate | None = None) -> Candidate | None:
    """The candidate with the changes of both; None where they touch, or where one already has all of the other's.

    `base` is what both were made from, where that is not the user's code.
    """
    texts = dict(first.texts)
    for region, text in second.texts.items():
        if region in texts:
            own = "" if region.created else diff.with_plain_ends(region_text(problem, region))
            own = base.texts.get(region, own) if base else own
            merged = diff.merge(own, diff.with_plain_ends(texts[region]), diff.with_plain_ends(text))
            if merged is None:
                return None
            texts[region] = merged
        elif any(region.overlaps(other) for other in texts):
            return None
        else:
            texts[region] = text
    if texts in (dict(first.texts), dict(second.texts)):
        return None
    return Candidate(
        texts=texts,
        imports=tuple(dict.fromkeys((*first.imports, *second.imports))),
        helpers=tuple(dict.fromkeys((*first.helpers, *second.helpers))),
    )


def lay_over(lower: Candidate, upper: Candidate) -> Candidate:
    """The candidate with all of `upper`, and what `lower` has for other regions; new helpers replace old ones."""
    replaced = {name for text in upper.helpers for name in _defined_names(text)}
    kept = [text for text in lower.helpers if not replaced & _defined_names(text)]
    return Candidate(
        texts={**{region: text for region, text in lower.texts.items() if region not in upper.texts}, **upper.texts},
        imports=tuple(dict.fromkeys((*lower.imports, *upper.imports))),
        helpers=(*kept, *upper.helpers),
    )


def _defined_names(helper: str) -> set[str]:
    module = parse_module(helper)
    return set() if isinstance(module, SyntaxError) else {name for node in module.body for name in bound_names(node)}
