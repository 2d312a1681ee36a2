"""In which form an answer is asked for: the whole function, search/replace blocks, or a unified diff.

Whatever comes is read all the same. A form is two templates: `system`, and `answer`, which takes the place of the last
paragraph of every template that asks for code.
"""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.core.compose import region_text
from greenloop.core.nouns import Problem
from greenloop.core.tokens import estimate
from greenloop.core.unwritten import unwritten

AUTO, WHOLE, SEARCH_REPLACE = "auto", "whole", "search-replace"
SHARE = 0.8  # of an answer's tokens that a whole region may take
OTHERS = ("system", "task", "infill", "reask")  # templates that ask for no code, or for the whole of it anyway


def chosen(wanted: str, problem: Problem, tokens: int) -> str:
    """The form to ask for when an answer may have so many tokens; `wanted` is the setting.

    What is yet to be written can only be written whole. `auto` is whole functions, which small models do best, as long
    as they fit into an answer.
    """
    texts = [region_text(problem, region) for region in problem.regions if not region.created]
    written = [text for text in texts if not unwritten(text)]
    if not written:
        return WHOLE
    if wanted != AUTO:
        return wanted
    return SEARCH_REPLACE if sum(map(estimate, written)) > SHARE * tokens else WHOLE


def asking(templates: Mapping[str, str], form: Mapping[str, str]) -> dict[str, str]:
    """A preset's templates that ask for another form of answer."""
    result = dict(templates) | {"system": form["system"]}
    for name in templates.keys() - set(OTHERS):
        before = templates[name].strip().rpartition("\n\n")[0]
        result[name] = f"{before}\n\n{form['answer']}".strip()
    return result
