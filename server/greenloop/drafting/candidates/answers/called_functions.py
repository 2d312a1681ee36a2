"""Takes from an answer also the unwritten functions that its new code calls, although it was not asked for them.

A whole answer often has them already: what a test needs is seen only when what comes before is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from greenloop.core.compose import region_text
from greenloop.core.python.ast_source import Fragment, find_definitions, plain_name, start_line
from greenloop.core.python.stubs import is_unwritten
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region
from greenloop.drafting.candidates.answers.definitions import Choice, choose, is_informative


def called_functions(
    problem: Problem, choices: Mapping[Region, Choice], pieces: Sequence[Fragment]
) -> dict[Region, Choice]:
    """The answer's code for unwritten suspects that the chosen code names, and for those that this code names.

    Of a class that it names: special and private methods, and those that the tests or the chosen code name.
    """
    defined = {name for piece in pieces for name, _node in find_definitions(piece.body)}
    waiting = {
        region: choice
        for region in problem.suspects
        if plain_name(region.qualname) in defined  # by its full name: a bare method may be that of another class
        if is_unwritten(region_text(problem, region)) and (choice := choose(problem, region, pieces))
        if is_informative(problem, region, choice)
    }
    tests = "\n".join(problem.files.get(path, "") for path in dict.fromkeys(case.path for case in problem.spec.cases))
    words = "\n".join(_source(choice) for choice in choices.values()) if waiting else ""
    found: dict[Region, Choice] = {}
    while new := {each: waiting[each] for each in waiting if each not in found and _is_called(each, words, tests)}:
        found |= new
        words += "\n".join(_source(choice) for choice in new.values())
    return found


def _is_called(region: Region, words: str, tests: str) -> bool:
    owner, _, name = plain_name(region.qualname).rpartition(".")
    if not owner:
        return _names(words, name)
    is_used = name.startswith("_") or _names(words, name) or _names(tests, name)
    return is_used and _names(words, owner.rpartition(".")[2])


def _names(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _source(choice: Choice) -> str:
    lines = choice.piece.lines
    return "\n".join(lines[start_line(choice.node, lines) - 1 : choice.node.end_lineno or choice.node.lineno])
