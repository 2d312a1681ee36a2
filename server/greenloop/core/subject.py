"""What of a composed file is a candidate's: its regions, and what the module gained; all else is the user's own.

Works on whole texts before and after, so that it needs to know nothing of how a candidate came to be.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from greenloop.core.diff import flat
from greenloop.core.nouns import Problem, Region
from greenloop.core.source import (
    DEFINITIONS,
    FUNCTIONS,
    Definition,
    Function,
    definitions,
    dump,
    plain_name,
    start_of,
    tree,
)


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One region of a candidate, with `node` None where the candidate left it as it was.

    `before` is the user's own; `added` are the statements that its file gained; `text` is that file.
    """

    region: Region
    text: str
    module: ast.Module
    before: Definition | None
    node: Definition | None
    added: tuple[ast.stmt, ...]

    @property
    def judged(self) -> tuple[ast.stmt, ...]:
        return (*((self.node,) if self.node else ()), *self.added)

    def functions(self) -> Iterator[tuple[str, Function]]:
        """The functions that are judged, with how to call each in a sentence; of classes, their methods."""
        own = self.node
        if isinstance(own, FUNCTIONS):
            yield "The function", own
        for item in (*((own,) if isinstance(own, ast.ClassDef) else ()), *self.added):
            if isinstance(item, FUNCTIONS):
                yield f"The helper `{item.name}`", item
            elif isinstance(item, ast.ClassDef):
                for name, node in definitions(item.body, f"{item.name}."):
                    if isinstance(node, FUNCTIONS):
                        yield f"The method `{name}`", node


def subject(problem: Problem, region: Region, files: Mapping[str, str]) -> Subject | None:
    """A region in the composed texts; None where its file does not parse or no longer defines it."""
    old, text = flat(problem.files.get(region.path, "")), flat(files.get(region.path, problem.files[region.path]))
    before, after = tree(old), tree(text)
    if isinstance(after, SyntaxError):
        return None
    own = [] if isinstance(before, SyntaxError) else before.body
    regions = [each for each in problem.regions if each.path == region.path]
    held = {each: _nodes(own, old, after.body, each) for each in regions}
    mine, now = held[region]
    if now is None:
        return None
    kept = {id(new) for _old, new in held.values() if new is not None}
    unchanged = mine is not None and dump(mine) == dump(now)
    return Subject(
        region=region,
        text=text,
        module=after,
        before=mine,
        node=None if unchanged and not region.created else now,
        added=tuple(_added(own, after.body, kept)),
    )


def name_line(problem: Problem, region: Region) -> int:
    """The line of `Problem.files` that holds the region's name, decorators left out."""
    text = flat(problem.files[region.path])
    module = tree(text)
    body = [] if isinstance(module, SyntaxError) else module.body
    node = _nodes(body, text, (), region)[0]
    return node.lineno if node else region.start


def _nodes(
    old: Sequence[ast.stmt], text: str, new: Sequence[ast.stmt], region: Region
) -> tuple[Definition | None, Definition | None]:
    """The region before and after: of several definitions of one name (overloads) the same one in order."""
    name, lines = plain_name(region.qualname), text.split("\n")
    before = [node for qualname, node in definitions(old) if qualname == name]
    after = [node for qualname, node in definitions(new) if qualname == name]
    at = next((n for n, node in enumerate(before) if region.start <= start_of(node, lines) <= region.end), None)
    mine = before[at] if at is not None else None
    if not after:
        return mine, None
    return mine, after[min(at, len(after) - 1)] if at is not None else after[-1]


def _added(before: Sequence[ast.stmt], after: Sequence[ast.stmt], kept: set[int]) -> Iterator[ast.stmt]:
    """Statements that were not there; of a class that holds a region, those that are new in it."""
    known = Counter(dump(node) for node in before)
    for node in after:
        told = dump(node)
        if id(node) in kept or known[told] > 0:
            known[told] -= 1
            continue
        if isinstance(node, DEFINITIONS) and any(id(inner) in kept for _name, inner in definitions(node.body)):
            old = next((item for item in before if isinstance(item, DEFINITIONS) and item.name == node.name), None)
            yield from _added(old.body if old else (), node.body, kept)
        else:
            yield node
