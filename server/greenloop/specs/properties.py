"""Properties that hold for every input, tried on many small ones (Property-Generated Solver, arXiv 2506.18315).

The model names a few in one line each and sees the signature and the docstring only; a library of common properties
knows more. Inputs are made up by Hypothesis in the sandbox, which also shrinks what breaks a property.
"""

from __future__ import annotations

import builtins
import re

from greenloop import sources
from greenloop.core.docstring import Sections, sections
from greenloop.core.nouns import Completion, Message, Problem, Region, Role, Spec
from greenloop.core.ports import Tools
from greenloop.core.prompt import cut
from greenloop.core.sheet import sheet
from greenloop.core.tokens import estimate
from greenloop.specs import _calls, _claims, _forms, _function, _library, _probe, _trials, _values
from greenloop.specs._claims import Claim
from greenloop.specs._forms import Form
from greenloop.specs._function import Head
from greenloop.specs._library import About
from greenloop.specs._trials import Property
from greenloop.specs._turns import turns
from greenloop.specs._values import Values

KIND = "property"
ROOM = 600  # tokens of a docstring that the model is shown
TOKENS = 160  # of its answer
MOST = 6  # properties, the library's first
# What functions raise for input that is none; with several arguments also where one does not fit the other.
UNDEFINED = ("ValueError", "ArithmeticError")
UNFIT = ("LookupError",)


async def collect(problem: Problem, tools: Tools) -> Spec:
    """Property tests that can run here, else a doubt. `Spent` and the model's own errors pass."""
    region = problem.regions[0]
    text = problem.files[region.path]
    head = _function.read(region, text)
    if head is None or not _askable(head):
        return Spec()
    module = sources.imported_as(region.path, problem.root)
    values, without = _known(head, text, module)
    if doubt := _probe.no_values(without) or await _probe.doubt(values, region, module, problem, tools):
        return Spec(doubts=(doubt,))
    reply = await tools.ask(question(head))
    return spec(region, text, module, reply.text)


def spec(region: Region, text: str, module: str, answer: str) -> Spec:
    """The property tests for the function in this text: common ones, and those of a model's answer. Pure."""
    head = _function.read(region, text)
    if head is None or not _askable(head):
        return Spec()
    values, without = _known(head, text, module)
    if without:
        return Spec(doubts=(_probe.no_values(without),))
    said = sections(head.docstring)
    common = _library.properties(
        About(
            head=head,
            values=values,
            result=_result(head, said, text),
            text=text,
            dotted=module,
            calls=bool(_calls.read(head).calls),
        )
    )
    stated = [
        Property(name=each.name, expression=each.expression, source="model", imports=each.imports)
        for each in parse(answer, head)
    ]
    several = UNFIT if sum(each.drawn for each in values) > 1 else ()
    raised = tuple(each.name for each in said.raises if _known_error(each.name, text))
    unique: dict[str, Property] = {}
    for each in (*common, *stated):
        unique.setdefault(each.expression, each)
    checks = []
    for each in unique.values():
        allowed = (*UNDEFINED, *several, *raised) if each.expression else raised
        if (made := _trials.check(each, head, values, module, tuple(dict.fromkeys(allowed)))) is not None:
            checks.append(made)
    if not checks:
        return Spec(doubts=(f"No property of `{head.name}` is known or could be read from the model's answer.",))
    return sheet(region, module, KIND, checks[:MOST])


def _known(head: Head, text: str, module: str) -> tuple[tuple[Values, ...], tuple[str, ...]]:
    types = {each.name: each.type or each.text for each in sections(head.docstring).params}
    return _values.values(head, text, module, types)


def _result(head: Head, said: Sections, text: str) -> Form | None:
    """What kind of value the function gives: by its annotation, its docstring's type, or the examples' results."""
    if head.returns:
        return _forms.annotated(head.returns, text)
    if said.returns and (form := _forms.worded(said.returns.type or said.returns.text)):
        return form
    return _forms.shown(_calls.read(head).results)


def _known_error(name: str, text: str) -> bool:
    """May the exception be caught by this name in a test: is it Python's own, or a class of the module?"""
    found = getattr(builtins, name, None)
    if isinstance(found, type) and issubclass(found, Exception):
        return True
    return bool(name.isidentifier() and re.search(rf"^class {re.escape(name)}\b", text, re.MULTILINE))


def _askable(head: Head) -> bool:
    """Only plain functions with parameters are tried: an object to call a method on cannot be made up."""
    return not head.bound and not head.asynchronous and bool(head.parameters)


def messages(head: Head) -> tuple[Message, ...]:
    """What the model is asked: signature and docstring, never a body."""
    return turns(
        "properties",
        name=head.name,
        signature=head.signature,
        docstring=cut(head.docstring, ROOM, estimate).replace("\n", "\n    "),
    )


def question(head: Head) -> Completion:
    """The one request for a function's properties."""
    return Completion(messages=messages(head), role=Role.TESTER, temperature=0.0, max_tokens=TOKENS)


def parse(answer: str, head: Head) -> tuple[Claim, ...]:
    """The properties in an answer; lines that are none, or that do not use the result, are dropped."""
    return _claims.claims(answer, head.name, head.names)
