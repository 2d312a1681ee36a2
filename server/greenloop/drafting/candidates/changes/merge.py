"""Puts the functions that two candidates changed together."""

from __future__ import annotations

from greenloop.core.python.names import defined_names
from greenloop.core.records.attempt import Candidate


def merge(first: Candidate, second: Candidate, base: Candidate | None = None) -> Candidate | None:
    """The candidate with the functions that either changed; None where both changed one, or one has all of the other's.

    `base` is the candidate that both were made from, where that is not the user's code.
    """
    texts = dict(first.texts)
    for region, text in second.texts.items():
        own = base.texts.get(region) if base else None
        if region not in texts and any(region.overlaps(other) for other in texts):
            return None
        if texts.get(region) not in (None, own, text) and text != own:
            return None
        if text != own or region not in texts:
            texts[region] = text
    if texts in (dict(first.texts), dict(second.texts)):
        return None
    return Candidate(
        texts=texts,
        imports=tuple(dict.fromkeys((*first.imports, *second.imports))),
        helpers=tuple(dict.fromkeys((*first.helpers, *second.helpers))),
        originals={**first.originals, **second.originals},
    )


def lay_over(lower: Candidate, upper: Candidate) -> Candidate:
    """The candidate with all of `upper`, and what `lower` has beside its regions; new helpers replace old ones."""
    kept_texts = {
        region: text
        for region, text in lower.texts.items()
        if region not in upper.texts and not any(region.overlaps(each) for each in upper.texts)
    }
    replaced = {name for text in upper.helpers for name in defined_names(text)}
    kept = [text for text in lower.helpers if not replaced & defined_names(text)]
    return Candidate(
        texts=kept_texts | dict(upper.texts),
        imports=tuple(dict.fromkeys((*lower.imports, *upper.imports))),
        helpers=(*kept, *upper.helpers),
        originals={**lower.originals, **upper.originals},
    )
