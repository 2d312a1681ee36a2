"""Every example that documents the code: the first prompt must hold them all, also when it is short.

Those after `>>>`, and what docstring and comments state in other words (`f(2) returns 4`, `assert f(1) == 2`).
Nearly all that examples bring they bring in the first round ("The First Prompt Counts the Most!", arXiv 2411.06774).
Where the code is shown whole they stand in its docstring already, and `core/prompt.fit` does not say them twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from greenloop import syntax
from greenloop.core.documented import read
from greenloop.core.nouns import Excerpt, Problem, Provenance, Region
from greenloop.core.ports import Tools
from greenloop.core.stated import told

PROMPT = ">>>"
_CODE = re.compile(r"[#\s]*(?:assert|with)\b")
_ENDS = {"", '"""', "'''"}


async def gather(problem: Problem, tools: Tools) -> Sequence[Excerpt]:
    """One excerpt with the examples of the regions' docstrings and of those that the specification names."""
    del tools
    prompted = "\n\n".join(dict.fromkeys(block for path, text in _texts(problem) for block in examples(text)))
    others = "\n".join(dict.fromkeys(row for region in problem.regions for row in stated(region, problem)))
    shown = "\n\n".join(filter(None, (prompted, others)))
    if not shown:
        return ()
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(region.qualname for region in problem.regions))
    return (Excerpt(title=f"Examples of {names} that must hold:", text=shown, value=0.95),)


def examples(text: str) -> Iterator[str]:
    """Each example with the output it expects, without its margin; those that follow one another belong together."""
    block: list[str] = []
    margin = 0
    for line in [*syntax.lines(text), ""]:
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


def stated(region: Region, problem: Problem) -> Iterator[str]:
    """The rows of the file in which something is stated; statements of several rows as code."""
    text = problem.files.get(region.path, "")
    documented = read(text, region.start, region.end)
    inside = documented.pages[0].lines if documented.docstring is not None else ()
    rows = syntax.lines(text)
    for line, one in told(documented, region.qualname).checks:
        row = rows[line - 1].strip()
        row = row if line in inside else row[max(row.find("#"), 0) :]
        yield one.body if _CODE.match(row) and "\n" in one.body else row


def _texts(problem: Problem) -> Iterator[tuple[str, str]]:
    """Path and text of each docstring that counts, and of what stands above all definitions of a module."""
    wanted = [(region.path, region.start, region.qualname) for region in problem.regions]
    cases = [case for case in problem.spec.cases if case.provenance is Provenance.DOCTEST]
    wanted += [(case.path, case.line, "") for case in cases]
    for path, line, name in wanted:
        text = problem.files.get(path, "")
        found = syntax.definitions(text, path)
        item = syntax.lookup(found, name) if name else syntax.enclosing(text, line, path)
        if item is not None and item.docstring is not None:
            yield path, _unquoted(syntax.span(text, *item.docstring))
        elif item is None and not name:
            yield path, syntax.span(text, 1, min((other.start for other in found), default=line + 1) - 1)


_OPENING = re.compile(r"""^[ \t]*[a-zA-Z]{0,2}(\"{3}|'{3}|"|')""")


def _unquoted(source: str) -> str:
    """A string's source without its quotes; escapes stay as they are written, since the prompt shows source."""
    found = _OPENING.match(source)
    if found is None:
        return source
    return source[found.end() :].rstrip().removesuffix(found[1])
