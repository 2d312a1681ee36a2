"""Other functions as examples: those that the code calls, and up to two similar ones.

Called functions are shown with their bodies where these are short. A function of the same class or module with similar
name, parameters or words shows the style of the project. What the called functions call is not followed.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from greenloop.core.ports import Tools
from greenloop.core.records.problem import Excerpt, Problem
from greenloop.core.records.spec import Region
from greenloop.project import sources
from greenloop.project.syntax import definitions
from greenloop.project.syntax.definitions import Definition

MOST_CALLED = 3
MOST_ALIKE = 2
MOST_LINES = 20  # of a function that is shown
ALIKE = 0.6  # 0..1: from this value on a function resembles another
_CALL = re.compile(r"(?<![\w.])(?:(?:self|cls)\.)?([^\W\d]\w*)[ \t]*\(")


@dataclass(frozen=True, kw_only=True)
class NearbyFunction:
    """A function that may be shown, with the text of its file."""

    path: str
    item: Definition
    text: str

    @property
    def body(self) -> str:
        return definitions.line_span(self.text, self.item.start, self.item.end).rstrip().replace("\r", "")


async def gather(problem: Problem, tools: Tools) -> Sequence[Excerpt]:
    """At most two excerpts: what the regions call, and what resembles them."""
    del tools
    called, alike = await asyncio.to_thread(_called_and_similar, problem)
    excerpts = []
    if called:
        excerpts.append(Excerpt(title="It calls:", text=_render(problem, called), value=0.4))
    if alike:
        excerpts.append(Excerpt(title="Similar code beside it:", text=_render(problem, alike), value=0.25))
    return excerpts


def _called_and_similar(problem: Problem) -> tuple[list[NearbyFunction], list[NearbyFunction]]:
    called: dict[tuple[str, str], NearbyFunction] = {}
    for region in problem.regions:
        for nearby in (*_called_in_file(problem, region), *_called_imports(problem, region)):
            if len(called) < MOST_CALLED and not _is_region(problem, nearby) and _is_short(nearby.item):
                called.setdefault((nearby.path, nearby.item.qualname), nearby)
    alike: list[tuple[float, NearbyFunction]] = []
    for region in problem.regions:
        text = problem.files[region.path]
        for item in definitions.find_definitions(text, region.path):
            nearby = NearbyFunction(path=region.path, item=item, text=text)
            if item.kind != "function" or (region.path, item.qualname) in called or not _is_short(item):
                continue
            if not _is_region(problem, nearby) and (score := _resemblance(problem, region, nearby)) >= ALIKE:
                alike.append((score, nearby))
    similar = sorted(alike, key=lambda pair: -pair[0])[:MOST_ALIKE]
    return list(called.values()), list({nearby.item.qualname: nearby for _score, nearby in similar}.values())


def _called_in_file(problem: Problem, region: Region) -> Iterator[NearbyFunction]:
    """Functions of the same file that the region calls, by name or through self."""
    text = problem.files[region.path]
    names = set(_CALL.findall(definitions.line_span(text, region.start, region.end)))
    owner = region.qualname.rpartition(".")[0]
    for item in definitions.find_definitions(text, region.path):
        if item.kind == "function" and item.name in names and item.owner in ("", owner):
            yield NearbyFunction(path=region.path, item=item, text=text)


def _called_imports(problem: Problem, region: Region) -> Iterator[NearbyFunction]:
    """Functions of other workspace modules that the region calls and its file imports by name."""
    text = problem.files[region.path]
    names = set(_CALL.findall(definitions.line_span(text, region.start, region.end)))
    for module, imported, _line in sources.find_imports(text, region.path):
        called = names & set(imported)
        path = sources.find_module(module, problem.root, region.path) if called and module else None
        if path is None or path == region.path:
            continue
        other_text = problem.files.get(path) or sources.read_text(problem.root, path, problem.buffers) or ""
        for item in definitions.find_definitions(other_text, path):
            if item.kind == "function" and not item.owner and item.name in called:
                yield NearbyFunction(path=path, item=item, text=other_text)


def _is_short(item: Definition) -> bool:
    return item.end - item.start < MOST_LINES


def _is_region(problem: Problem, nearby: NearbyFunction) -> bool:
    """Does it overlap a region? Nothing is shown twice, and a stub is not an example."""
    return any(
        region.path == nearby.path and region.start <= nearby.item.end and nearby.item.start <= region.end
        for region in problem.regions
    )


# -- resemblance ----------------------------------------------------------------------------------------------------


def _resemblance(problem: Problem, region: Region, nearby: NearbyFunction) -> float:
    """0..1: the overlap of names, parameters and words; the body of a function yet to be written does not count."""
    text = problem.files[region.path]
    own = definitions.find_by_qualname(definitions.find_definitions(text, region.path), region.qualname)
    if own is None or (own.owner != nearby.item.owner):
        return 0.0
    names = _jaccard_index(_name_words(own.name), _name_words(nearby.item.name))
    parameters = _jaccard_index(
        *(_parameters(definitions.line_span(text, each.name_line, each.header_end)) for each in (own, nearby.item))
    )
    score = (names + parameters) / 2
    if region.created or own.end == own.header_end:
        return score
    bodies = _jaccard_index(
        *(
            definitions.identifiers(definitions.line_span(text, each.header_end + 1, each.end))
            for each in (own, nearby.item)
        )
    )
    return max(score, bodies)


def _name_words(name: str) -> set[str]:
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name)}


def _parameters(header: str) -> set[str]:
    return definitions.identifiers(header.partition("(")[2]) - {"self", "cls"}


def _jaccard_index(first: set[str], second: set[str]) -> float:
    """Jaccard's index."""
    return len(first & second) / len(first | second) if first and second else 0.0


def _render(problem: Problem, functions: Sequence[NearbyFunction]) -> str:
    """Each function below its file, where that is not a region's; methods with the name of their class."""
    own = {region.path for region in problem.regions}
    parts = []
    for function in functions:
        notes = [function.path] if function.path not in own else []
        notes += [f"in {function.item.owner}"] if function.item.owner else []
        parts.append((f"# {', '.join(notes)}\n" if notes else "") + function.body)
    return "\n\n".join(parts)
