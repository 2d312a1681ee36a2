"""Edit formats that a prompt asks for: the whole function, search/replace blocks, or a unified diff.

Answers are read in any format. A format is two templates: `system`, and `answer`, which replaces the last paragraph of
every template that asks for code.
"""

from __future__ import annotations

from collections.abc import Mapping

from greenloop.core.compose import region_text
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.problem import Problem
from greenloop.core.text.tokens import estimate_tokens

AUTO, WHOLE, SEARCH_REPLACE = "auto", "whole", "search-replace"
SHARE = 0.8  # of the answer's token limit that whole regions may take
OTHERS = ("system", "task", "infill", "reask")  # templates that ask for no code, or always for whole code


def choose_format(setting: str, problem: Problem, tokens: int) -> str:
    """The format to ask for, given the answer's token limit.

    Code that does not exist yet can only be written whole. `auto` means whole functions, which small models do best, as
    long as they fit into an answer.
    """
    texts = [region_text(problem, region) for region in problem.regions if not region.created]
    written = [text for text in texts if not is_unwritten(text)]
    if not written:
        return WHOLE
    if setting != AUTO:
        return setting
    return SEARCH_REPLACE if sum(map(estimate_tokens, written)) > SHARE * tokens else WHOLE


def adapt_templates(templates: Mapping[str, str], edit_format: Mapping[str, str]) -> dict[str, str]:
    """A preset's templates, changed to ask for another edit format."""
    adapted = dict(templates) | {"system": edit_format["system"]}
    for name in templates.keys() - set(OTHERS):
        instructions = templates[name].strip().rpartition("\n\n")[0]
        adapted[name] = f"{instructions}\n\n{edit_format['answer']}".strip()
    return adapted
