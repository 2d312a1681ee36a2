"""Other functions as examples: those that the code calls, and one or two of its module that resemble it.

What is called is shown with its body where that is short; a function of the same class or module whose name, parameters
or words are like the region's shows how such things are written here. One step only: what those call is not followed.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop import sources, syntax
from greenloop.core.nouns import Excerpt, Problem, Region
from greenloop.core.ports import Tools
from greenloop.syntax import Definition

MOST_CALLED = 3
MOST_ALIKE = 2
MOST_LINES = 20  # of a function that is shown
ALIKE = 0.6  # 0..1: from here on a function resembles another


@dataclass(frozen=True, kw_only=True)
class Near:
    """A function that may be shown; `text` is that of its file."""

    path: str
    item: Definition
    text: str

    @property
    def body(self) -> str:
        return syntax.span(self.text, self.item.start, self.item.end).rstrip().replace("\r", "")


async def gather(problem: Problem, tools: Tools) -> Sequence[Excerpt]:
    """At most two excerpts: what the regions call, and what resembles them."""
    del tools
    called, alike = await asyncio.to_thread(_both, problem)
    found = []
    if called:
        found.append(Excerpt(title="It calls:", text=_shown(problem, called), value=0.4))
    if alike:
        found.append(Excerpt(title="Similar code beside it:", text=_shown(problem, alike), value=0.25))
    return found


def _both(problem: Problem) -> tuple[list[Near], list[Near]]:
    called: dict[tuple[str, str], Near] = {}
    for region in problem.regions:
        for near in (*_here(problem, region), *_imported(problem, region)):
            if len(called) < MOST_CALLED and not _is_region(problem, near) and _short(near.item):
                called.setdefault((near.path, near.item.qualname), near)
    alike: list[tuple[float, Near]] = []
    for region in problem.regions:
        own = problem.files[region.path]
        for item in syntax.definitions(own, region.path):
            near = Near(path=region.path, item=item, text=own)
            if item.kind != "function" or (region.path, item.qualname) in called or not _short(item):
                continue
            if not _is_region(problem, near) and (score := _resemblance(problem, region, near)) >= ALIKE:
                alike.append((score, near))
    best = sorted(alike, key=lambda pair: -pair[0])[:MOST_ALIKE]
    return list(called.values()), list({near.item.qualname: near for _score, near in best}.values())


def _here(problem: Problem, region: Region) -> Iterator[Near]:
    """Functions of the same file that the region calls, by name or through self."""
    text = problem.files[region.path]
    names = _called(syntax.span(text, region.start, region.end))
    owner = region.qualname.rpartition(".")[0]
    for item in syntax.definitions(text, region.path):
        if item.kind == "function" and item.name in names and item.owner in ("", owner):
            yield Near(path=region.path, item=item, text=text)


def _imported(problem: Problem, region: Region) -> Iterator[Near]:
    """Functions of other workspace modules that the region's file imports by name and the region calls."""
    text = problem.files[region.path]
    names = _called(syntax.span(text, region.start, region.end))
    for module, imported, _line in sources.imported(text, region.path):
        wanted = names & set(imported)
        path = sources.find_module(module, problem.root, region.path) if wanted and module else None
        if path is None or path == region.path:
            continue
        other = problem.files.get(path) or sources.text(problem.root, path, problem.buffers) or ""
        for item in syntax.definitions(other, path):
            if item.kind == "function" and not item.owner and item.name in wanted:
                yield Near(path=path, item=item, text=other)


_CALL = re.compile(r"(?<![\w.])(?:(?:self|cls)\.)?([^\W\d]\w*)[ \t]*\(")


def _called(source: str) -> set[str]:
    return set(_CALL.findall(source))


def _short(item: Definition) -> bool:
    return item.end - item.start < MOST_LINES


def _is_region(problem: Problem, near: Near) -> bool:
    """Is it a region, in one, or around one? Nothing is shown twice, and a stub is no example."""
    return any(
        region.path == near.path and region.start <= near.item.end and near.item.start <= region.end
        for region in problem.regions
    )


# -- resemblance ----------------------------------------------------------------------------------------------------


def _resemblance(problem: Problem, region: Region, near: Near) -> float:
    """0..1: how much names, parameters and words have in common; the body of what is to be written does not count."""
    text = problem.files[region.path]
    mine = syntax.lookup(syntax.definitions(text, region.path), region.qualname)
    if mine is None or (mine.owner != near.item.owner):
        return 0.0
    names = _shared(_parts(mine.name), _parts(near.item.name))
    heads = _shared(*(_parameters(syntax.span(text, each.name_line, each.header_end)) for each in (mine, near.item)))
    score = (names + heads) / 2
    if region.created or mine.end == mine.header_end:
        return score
    bodies = _shared(*(syntax.words(syntax.span(text, each.header_end + 1, each.end)) for each in (mine, near.item)))
    return max(score, bodies)


def _parts(name: str) -> set[str]:
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)}


def _parameters(header: str) -> set[str]:
    return syntax.words(header.partition("(")[2]) - {"self", "cls"}


def _shared(one: set[str], other: set[str]) -> float:
    """Jaccard's index."""
    return len(one & other) / len(one | other) if one and other else 0.0


def _shown(problem: Problem, found: Sequence[Near]) -> str:
    """Each function, under its file where that is not the regions' own; methods with their class's name."""
    own = {region.path for region in problem.regions}
    parts = []
    for near in found:
        notes = [near.path] if near.path not in own else []
        notes += [f"in {near.item.owner}"] if near.item.owner else []
        parts.append((f"# {', '.join(notes)}\n" if notes else "") + near.body)
    return "\n\n".join(parts)
