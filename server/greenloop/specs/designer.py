"""Tests designed from signature and docstring alone, by somebody who never sees a candidate: AgentCoder's tester.

It is asked for basic, edge and large cases, three times, since its tests are right in about two of three cases only:
sets can vote, single ones cannot (Huang et al. 2023, arXiv 2312.13010).
"""

from __future__ import annotations

import ast
import doctest
from collections import defaultdict
from collections.abc import Sequence

from greenloop import sources
from greenloop.core.nouns import Completion, Problem, Provenance, Region, Role, Spec
from greenloop.core.ports import Tools
from greenloop.core.sheet import Check, sheet
from greenloop.specs._lines import Line, lines, uses
from greenloop.specs._outline import Outline, outline
from greenloop.specs._turns import turns

KIND = "designed"
TEMPERATURES = (0.4, 0.7, 0.9)  # of the sets; greedy ones repeat the docstring's examples
TOKENS = 220  # an answer
STOP = ("\ndef ", "\nclass ")  # small models begin to write the function
MOST = 8  # tests a set
LONGEST = 20_000  # characters of an answer that are read
DOUBTS = 3  # sentences about tests that contradict each other
NOTHING = "The tester wrote no test that can be read."


async def collect(problem: Problem, tools: Tools) -> Spec:
    """Cases of the sets, or none and a doubt. `Spent` and the model's own errors pass."""
    region = problem.regions[0]
    about = outline(region, problem.files[region.path])
    if about is None:
        return Spec(doubts=(NOTHING,))
    answers = [(await tools.ask(request)).text for request in requests(about)]
    return spec(region, sources.imported_as(region.path, problem.root), about, answers)


def requests(about: Outline) -> list[Completion]:
    """One question a set: the same words, so that they are read once, at rising temperatures."""
    messages = turns("designer", shown=about.shown, name=about.full)
    return [
        Completion(messages=messages, role=Role.TESTER, temperature=temperature, max_tokens=TOKENS, stop=STOP)
        for temperature in TEMPERATURES
    ]


def spec(region: Region, module: str, about: Outline, answers: Sequence[str]) -> Spec:
    """The tests of these answers, one a set. Pure."""
    sets = [_set(answer, about) for answer in answers]
    batches: dict[str, list[str]] = defaultdict(list)
    kept: dict[str, Line] = {}
    for number, found in enumerate(sets, 1):
        for line in found:
            kept.setdefault(line.text, line)
            batches[line.text].append(str(number))
    if not kept:
        return Spec(doubts=(NOTHING,))
    checks = [_check(line, region, module, " ".join(batches[text])) for text, line in kept.items()]
    return sheet(region, module, KIND, checks) + Spec(doubts=_doubts(list(kept.values())))


def _set(answer: str, about: Outline) -> list[Line]:
    """The first tests of an answer, equal ones once, without what the docstring's own examples say already."""
    said = _examples(about)
    found = {line.text: line for line in lines(answer[:LONGEST], about) if line.call not in said}
    return list(found.values())[:MOST]


def _examples(about: Outline) -> set[str]:
    """The calls in the docstring's examples, also those within others (`print(f(1))`), as `ast.unparse` writes them."""
    try:
        parsed = doctest.DocTestParser().get_examples(about.docstring)
        trees = [ast.parse(example.source.strip()) for example in parsed]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return set()
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {ast.unparse(node) for node in calls if any(uses(node, about))}


def _check(line: Line, region: Region, module: str, batch: str) -> Check:
    name = region.qualname.partition(".")[0]
    own = sorted(set(line.own) - {name})
    body = [f"from {module} import {', '.join(own)}", line.text] if own else [line.text]
    return Check(
        body="\n".join(body),
        line=region.start,
        provenance=Provenance.DESIGNED,
        shown=line.text,
        imports=line.imports,
        batch=batch,
    )


def _doubts(found: Sequence[Line]) -> tuple[str, ...]:
    """One sentence for each call of which tests say different things."""
    said: dict[str, list[str]] = defaultdict(list)
    for line in found:
        if line.says not in said[line.call]:
            said[line.call].append(line.says)
    return tuple(
        f"The docstring does not say what {call} is: designed tests say {' and '.join(values)}."
        for call, values in said.items()
        if len(values) > 1
    )[:DOUBTS]
