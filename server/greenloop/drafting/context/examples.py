"""Every example that documents the code; the first prompt holds them all, even when it is short.

These are `>>>` examples, and those that docstring and comments state in other ways (`f(2) returns 4`,
`assert f(1) == 2`). Examples help mostly in the first round ("The First Prompt Counts the Most!", arXiv 2411.06774).
Where the whole code is shown, its docstring has them already, and `drafting/prompt.fit_excerpts` drops this excerpt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from greenloop.core.documentation import find_prose_reader
from greenloop.core.ports import Tools
from greenloop.core.records.problem import Excerpt, Problem
from greenloop.core.records.spec import Provenance
from greenloop.project.syntax import definitions

PROMPT = ">>>"
_ENDS = {"", '"""', "'''"}


async def gather(problem: Problem, tools: Tools) -> Sequence[Excerpt]:
    """One excerpt with the examples of the regions' docstrings and of the doctests in the spec."""
    del tools
    prompted = "\n\n".join(dict.fromkeys(block for path, text in _docstrings(problem) for block in examples(text)))
    regions = problem.regions if (reader := find_prose_reader()) else ()
    stating = [reader.stating_lines(region, problem.files.get(region.path, "")) for region in regions]
    listing = "\n\n".join(filter(None, (prompted, "\n".join(dict.fromkeys(chain(*stating))))))
    if not listing:
        return ()
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(region.qualname for region in problem.regions))
    return (Excerpt(title=f"Examples of {names} that must hold:", text=listing, value=0.95),)


def examples(text: str) -> Iterator[str]:
    """Each block of consecutive examples with the expected output, without indentation."""
    block: list[str] = []
    margin = 0
    for line in [*definitions.split_lines(text), ""]:
        row = line.rstrip()
        stripped = row.lstrip()
        if stripped.startswith(PROMPT) and not block:
            margin = len(row) - len(stripped)
        if not (block or stripped.startswith(PROMPT)):
            continue
        if stripped not in _ENDS:
            block.append(row[margin:] if not row[:margin].strip() else stripped)
        else:
            yield "\n".join(block)
            block = []


def _docstrings(problem: Problem) -> Iterator[tuple[str, str]]:
    """Path and text of each relevant docstring, and of a module's text above its definitions."""
    places = [(region.path, region.start, region.qualname) for region in problem.regions]
    cases = [case for case in problem.spec.cases if case.provenance is Provenance.DOCTEST]
    places += [(case.path, case.line, "") for case in cases]
    for path, line, name in places:
        text = problem.files.get(path, "")
        items = definitions.find_definitions(text, path)
        item = definitions.find_by_qualname(items, name) if name else definitions.enclosing_definition(text, line, path)
        if item is not None and item.docstring is not None:
            yield path, _without_quotes(definitions.line_span(text, *item.docstring))
        elif item is None and not name:
            yield path, definitions.line_span(text, 1, min((other.start for other in items), default=line + 1) - 1)


_OPENING = re.compile(r"""^[ \t]*[a-zA-Z]{0,2}(\"{3}|'{3}|"|')""")


def _without_quotes(source: str) -> str:
    """A string's source without its quotes; escapes stay as written, since the prompt shows source."""
    opening = _OPENING.match(source)
    if opening is None:
        return source
    return source[opening.end() :].rstrip().removesuffix(opening[1])
