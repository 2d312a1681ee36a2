"""What docstring and comments say by themselves besides `>>>` examples: each equation is a case at its own line.

Nothing runs and no model is asked; `core/stated` finds them, and only those that are surely meant.
"""

from __future__ import annotations

import re

from greenloop import sources, syntax
from greenloop.core.documented import read
from greenloop.core.nouns import Problem, Provenance, Region, Spec, Target
from greenloop.core.ports import Tools
from greenloop.core.sheet import Check, sheet
from greenloop.core.stated import Told, told
from greenloop.core.values import EXCEPTIONS

KIND = "examples"
_EXCEPTION = re.compile(r"(?:Error|Exception|Warning)$")


async def collect(problem: Problem, tools: Tools) -> Spec:
    """The checks of the first region as one sheet; no cases where nothing is stated, or it contradicts itself."""
    del tools
    region = problem.regions[0]
    return stated(region, problem.files[region.path], sources.imported_as(region.path, problem.root))


def stated(region: Region, text: str, module: str) -> Spec:
    """The specification in the text of a file, which is imported as `module`. Pure."""
    found = facts(region, text)
    if found.clash:
        return Spec(doubts=(found.clash,))
    own = _exceptions(text, region.path)
    checks = [
        Check(
            body="\n".join([*_imports(one.body, own, module), *inner, one.body]),
            line=line,
            provenance=Provenance.EXAMPLE,
            shown=one.shown,
            imports=outer,
        )
        for line, one in found.checks
        for outer, inner in [_parted(one.imports)]
    ]
    return sheet(region, module, KIND, checks) + Spec(doubts=found.doubts)


def facts(region: Region | Target, text: str) -> Told:
    """What is stated about a region or target of a file's text, and a contradiction in it, if there is one."""
    return told(read(text, region.start, region.end), region.qualname, _exceptions(text, region.path))


def _exceptions(text: str, path: str) -> frozenset[str]:
    """The exception classes that the module defines, by their bases and else by their names."""
    found: set[str] = set()
    for item in syntax.definitions(text, path):
        bases = {base.rpartition(".")[2] for base in item.bases}
        if item.kind == "class" and (_EXCEPTION.search(item.name) or bases & (EXCEPTIONS | found)):
            found.add(item.name)
    return frozenset(found)


def _imports(body: str, own: frozenset[str], module: str) -> list[str]:
    return [f"from {module} import {name}" for name in sorted(own) if re.search(rf"\b{name}\b", body)]


def _parted(imports: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those for the whole sheet, and those for one test alone: two may give the same name to different things."""
    shared = tuple(line for line in imports if line == "import pytest")
    return shared, tuple(line for line in imports if line not in shared)
