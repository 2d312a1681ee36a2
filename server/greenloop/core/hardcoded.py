"""Candidates that give the examples they were shown by heart: literal matching of their inputs and outputs.

A base case (`if n == 0: return 1`), a table that holds more than the examples, and a closed vocabulary (`"red"` is
`(255, 0, 0)`) are rules, not memory. So only what no rule explains is told for sure; the rest is worth a look.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from greenloop.core.compose import region_text
from greenloop.core.diff import flat
from greenloop.core.nouns import Candidate, Case, Finding, Problem, Provenance, Region, Spec, Verdict
from greenloop.core.recall import bound_to, computes, equal, memories, parameters, recalls, small
from greenloop.core.shown import Example, examples, prose, value
from greenloop.core.source import FUNCTIONS, Function, definitions, plain_name, tree

HARD_CODED = "HardCoded"
FEW = 3  # held-out cases, below which nothing is said about learning by heart
HELD_OUT = (Provenance.DESIGNED, Provenance.PROPERTY, Provenance.CONFIRMED)


@dataclass(frozen=True, kw_only=True)
class Suspicion:
    """`sure`: the candidate must not be believed; else a user should look. `sentence` names the example."""

    sentence: str
    sure: bool
    line: int


def finding(problem: Problem, candidate: Candidate, files: Mapping[str, str]) -> Finding | None:
    """Why a candidate is refused for what it knows by heart, or None. `files` are its composed texts."""
    for found in _suspicions(problem, candidate, files):
        if found.sure:
            return Finding(error_class=HARD_CODED, message=found.sentence, line=found.line)
    return None


def warnings(problem: Problem, candidate: Candidate, files: Mapping[str, str]) -> tuple[str, ...]:
    """What looks learnt by heart in a candidate without being sure."""
    return tuple(found.sentence for found in _suspicions(problem, candidate, files) if not found.sure)


def overfitted(verdict: Verdict, spec: Spec) -> str:
    """One sentence where a candidate passes every example it was shown and fails most of the others; else empty."""
    results = {case.id: case.passed for case in verdict.cases}
    shown = [case for case in spec.cases if case.id in results and _visible(case)]
    others = [case for case in spec.cases if case.id in results and case.provenance in HELD_OUT]
    failed = sum(not results[case.id] for case in others)
    if not shown or not all(results[case.id] for case in shown) or len(others) < FEW or failed * 2 <= len(others):
        return ""
    many = f"the {len(shown)} examples" if len(shown) > 1 else "the example"
    return f"It passes {many} it was shown and fails {failed} of {len(others)} others: it may have learnt by heart."


def _visible(case: Case) -> bool:
    return case.provenance in (Provenance.USER, Provenance.DOCTEST, Provenance.EXAMPLE, Provenance.TRACE)


def _suspicions(problem: Problem, candidate: Candidate, files: Mapping[str, str]) -> Iterator[Suspicion]:
    for region in candidate.texts:
        known = examples(problem, region)
        if not known:
            continue
        found = suspicion(files.get(region.path, ""), region, known, prose(flat(region_text(problem, region))))
        # What the user wrote himself is his.
        if found and suspicion(problem.originals.get(region.path) or "", region, known, "") is None:
            yield found


def suspicion(text: str, region: Region, known: Sequence[Example], told: str) -> Suspicion | None:
    """What speaks for a function of this module having learnt the known examples by heart; `told` is its prose."""
    module = tree(flat(text))
    function = _function(module, plain_name(region.qualname))
    if isinstance(module, SyntaxError) or function is None:
        return None
    bound = [(each, given) for each in known if (given := bound_to(function, each)) is not None]
    if not bound or any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function)):
        return None
    if (constant := _constant(function)) is not None:
        return _ignoring(function, constant, bound)
    by_rote = list(memories(function, module))
    large = [(each, given) for each, given in bound if not all(map(small, given.values()))]
    hits = [(each, given, memory) for each, given in large for memory in by_rote if recalls(memory, given, each)]
    by_heart = {each.shown: (each, given) for each, given, _memory in hits}
    others = [
        memory
        for memory in by_rote
        if not all(map(small, memory.given.values())) and not any(recalls(memory, given, each) for each, given in bound)
    ]
    if not by_heart or len(others) >= len(by_heart):
        return None
    first = hits[0][2]
    all_open = all(_open(each, given) for each, given in by_heart.values())
    if any(memory.several for _each, _given, memory in hits) and not all_open:
        return None  # a set of words with a common answer is a rule
    everything = (len(by_heart) == len(large) > 1) or not computes(function, module)
    words = {item for _each, given in by_heart.values() for item in given.values() if isinstance(item, str) and item}
    named = any(word in told for word in words)  # a vocabulary that the docstring lists
    if everything and all_open and not others and not named:
        sentence = f"It returns the examples by heart: {first.where} in line {first.line}. Write the general rule."
        return Suspicion(sentence=sentence, sure=True, line=first.line)
    if len(by_heart) < 2:
        return None
    sentence = f"It may give {len(by_heart)} of {len(known)} examples by heart: {first.where} in line {first.line}."
    return Suspicion(sentence=sentence, sure=False, line=first.line)


def _function(module: ast.Module | SyntaxError, name: str) -> Function | None:
    if isinstance(module, SyntaxError):
        return None
    found = [node for qualname, node in definitions(module.body) if qualname == name and isinstance(node, FUNCTIONS)]
    return found[-1] if found else None


# -- functions that do not look at what they are given ----------------------------------------------------------


def _constant(function: Function) -> ast.Return | None:
    """The only `return` of a function that reads none of its parameters and returns a literal."""
    if not parameters(function) or function.args.vararg or function.args.kwarg or function.decorator_list:
        return None
    read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    if read & {*parameters(function), "locals", "vars", "self", "cls"}:
        return None
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    if len(returns) != 1 or returns[0].value is None or any(isinstance(n, ast.Raise) for n in ast.walk(function)):
        return None
    return returns[0]


def _ignoring(
    function: Function, constant: ast.Return, bound: Sequence[tuple[Example, Mapping[str, Any]]]
) -> Suspicion | None:
    assert constant.value is not None
    try:
        gives = value(constant.value)
    except ValueError:
        return None
    shown, line = f"`return {ast.unparse(constant.value)[:60]}`", constant.lineno
    wanted = [each.expected for each, _given in bound]
    named = ", ".join(f"`{name}`" for name in parameters(function))
    if any(not equal(each, wanted[0]) for each in wanted):
        sentence = f"It gives the same whatever {named} is ({shown} in line {line}), and the examples differ."
        return Suspicion(sentence=sentence, sure=True, line=line)
    if small(gives) or not equal(gives, wanted[0]):
        return None
    if any(_open(each, given) and not all(map(small, given.values())) for each, given in bound):
        sentence = f"It returns the example by heart: {shown} in line {line}, whatever {named} is."
        return Suspicion(sentence=f"{sentence} Write the general rule.", sure=True, line=line)
    return Suspicion(sentence=f"It does not look at {named}: {shown} in line {line}.", sure=False, line=line)


def _open(example: Example, given: Mapping[str, Any]) -> bool:
    """Can the inputs be no closed vocabulary? Containers and computed numbers are none, nor text made of its input."""
    if any(isinstance(item, list | tuple | dict | set | float | complex) for item in given.values()):
        return True
    if all(isinstance(item, int) for item in given.values()):
        return not any(isinstance(item, str) for item in _atoms(example.expected))
    letters = {sign for item in given.values() if isinstance(item, str) for sign in item.lower()}
    texts = [item.lower() for item in _atoms(example.expected) if isinstance(item, str) and item]
    return bool(texts) and all(set(item) <= letters for item in texts)


def _atoms(item: Any) -> Iterator[Any]:
    if isinstance(item, dict):
        item = [*item.keys(), *item.values()]
    if isinstance(item, list | tuple | set):
        for each in item:
            yield from _atoms(each)
    else:
        yield item
