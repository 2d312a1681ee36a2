"""Fingerprints of code that ignore comments, layout and docstrings.

Search checks for every new candidate whether it was tried before; with `fingerprint` this is a set look-up.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import dump_words, parse_fragment
from greenloop.core.records.attempt import Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends


def is_same_code(problem: Problem, a: Candidate | None, b: Candidate | None) -> bool:
    """Are two candidates the same code? None is the user's own code."""
    return _changed_digests(problem, a) == _changed_digests(problem, b) and _added_digests(a) == _added_digests(b)


def fingerprint(problem: Problem, candidate: Candidate | None) -> str:
    """Equal for two candidates of one problem exactly when `is_same_code` holds. None is the user's own code."""
    regions = _changed_digests(problem, candidate)
    imports, helpers = _added_digests(candidate)
    region_lines = [*(f"{region.path}:{region.start}:{digest}" for region, digest in regions.items())]
    text = "\0".join([*sorted(region_lines), "", *sorted(imports), "", *sorted(helpers)])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=64)  # the user's own code is compared with every candidate
def code_digest(text: str) -> str:
    """A digest that is equal for equal code; for code that does not parse, of its lines that are not blank."""
    fragment = parse_fragment(text)
    if isinstance(fragment, SyntaxError):
        words = "\n".join(line.rstrip() for line in with_plain_ends(text).split("\n") if line.strip())
    else:
        words = " ".join(dump_words(fragment.body, docstrings=False))
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


def _changed_digests(problem: Problem, candidate: Candidate | None) -> dict[Region, str]:
    """Digests of the regions where the candidate differs from the user's code."""
    digests = {region: _digest(region, text) for region, text in (candidate.texts.items() if candidate else ())}
    own = {region: _digest(region, region_text(problem, region)) for region in digests}
    return {region: digest for region, digest in digests.items() if digest != own[region]}


def _digest(region: Region, text: str) -> str:
    """The digest of a region's text; of files that are not Python every character counts."""
    return (
        code_digest(text)
        if region.path.endswith(".py")
        else hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    )


def _added_digests(candidate: Candidate | None) -> tuple[frozenset[str], frozenset[str]]:
    if candidate is None:
        return frozenset(), frozenset()
    return frozenset(map(code_digest, candidate.imports)), frozenset(map(code_digest, candidate.helpers))
