"""Puts the changes of two candidates together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import parse_fragment, parse_module
from greenloop.core.python.names import bound_names
from greenloop.core.records.attempt import Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.text import diff
from greenloop.drafting.candidates.changes.exchange import apply_changes, choices, find_changes, split_pieces


def merges(problem: Problem, first: Candidate, second: Candidate, base: Candidate | None = None) -> Iterator[Candidate]:
    """The candidate with the changes of both; where they touch, the first with some statements of the second instead.

    `base` is what both were made from, where that is not the user's code.
    """
    if merged := merge(problem, first, second, base):
        yield merged
    else:
        yield from _exchanges(first, second)


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
        originals={**first.originals, **second.originals},
    )


def _exchanges(first: Candidate, second: Candidate) -> Iterator[Candidate]:
    """The first candidate with some of the statements in which the second differs, never with all of them."""
    added = {region: text for region, text in second.texts.items() if region not in first.texts}
    if any(region.overlaps(other) for region in added for other in first.texts):
        return
    shared = [region for region in first.texts if region in second.texts]
    pieces = {region: split_pieces(first.texts[region]) for region in shared}
    changes = [
        (region, change)
        for region in shared
        for change in find_changes(pieces[region], split_pieces(second.texts[region]))
    ]
    both = _with_added(first, second)
    for chosen in choices(len(changes)):
        texts = dict(first.texts) | added
        for region in {changes[number][0]: None for number in chosen}:
            of_region = [changes[number][1] for number in chosen if changes[number][0] == region]
            texts[region] = apply_changes(pieces[region], of_region)
        if not any(isinstance(parse_fragment(text), SyntaxError) for text in texts.values()):
            yield replace(both, texts=texts)


def _with_added(first: Candidate, second: Candidate) -> Candidate:
    """The first candidate with the imports of both, and those helpers of the second that are not its own."""
    own = {name for text in first.helpers for name in _defined_names(text)}
    more = [text for text in second.helpers if text not in first.helpers and not own & _defined_names(text)]
    return replace(
        first,
        imports=tuple(dict.fromkeys((*first.imports, *second.imports))),
        helpers=(*first.helpers, *more),
        originals={**first.originals, **second.originals},
    )


def lay_over(lower: Candidate, upper: Candidate) -> Candidate:
    """The candidate with all of `upper`, and what `lower` has beside its regions; new helpers replace old ones."""
    kept_texts = {
        region: text
        for region, text in lower.texts.items()
        if region not in upper.texts and not any(region.overlaps(each) for each in upper.texts)
    }
    replaced = {name for text in upper.helpers for name in _defined_names(text)}
    kept = [text for text in lower.helpers if not replaced & _defined_names(text)]
    return Candidate(
        texts=kept_texts | dict(upper.texts),
        imports=tuple(dict.fromkeys((*lower.imports, *upper.imports))),
        helpers=(*kept, *upper.helpers),
        originals={**lower.originals, **upper.originals},
    )


def _defined_names(helper: str) -> set[str]:
    module = parse_module(helper)
    return set() if isinstance(module, SyntaxError) else {name for node in module.body for name in bound_names(node)}
