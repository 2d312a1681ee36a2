"""Properties that hold for every input, tried on many small ones (Property-Generated Solver, arXiv 2506.18315).

The model names a few in one line each and sees the signature and the docstring only; a library of common properties
knows more. Inputs are made up by Hypothesis in the sandbox, which also shrinks what breaks a property.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop import sources, templates
from greenloop.core.nouns import Completion, Message, Problem, Region, Role, Spec
from greenloop.core.ports import Tools
from greenloop.core.prompt import cut
from greenloop.core.sheet import sheet
from greenloop.core.tokens import estimate
from greenloop.specs import _claims, _function, _trials, _values
from greenloop.specs._claims import Claim
from greenloop.specs._function import Head
from greenloop.specs._trials import Property

KIND = "property"
ROOM = 600  # tokens of a docstring that the model is shown
TOKENS = 160  # of its answer
UNDEFINED = ("ValueError", "ArithmeticError")  # what functions raise for input that is none


async def collect(problem: Problem, tools: Tools) -> Spec:
    """Property tests, and a doubt where there can be none. `Spent` and the model's own errors pass."""
    region = problem.regions[0]
    text = problem.files[region.path]
    head = _function.read(region, text)
    if head is None or not _askable(head):
        return Spec()
    reply = await tools.ask(question(head))
    return spec(region, text, sources.module_name(region.path, problem.root), reply.text)


def spec(region: Region, text: str, module: str, answer: str) -> Spec:
    """The property tests that a model's answer gives for the function in this text. Pure."""
    head = _function.read(region, text)
    if head is None or not _askable(head):
        return Spec()
    values, without = _values.values(head, text, module, {})
    if without:
        return Spec(doubts=(_no_values(without),))
    properties = [
        Property(name=each.name, expression=each.expression, source="model", imports=each.imports)
        for each in parse(answer, head)
    ]
    checks = [made for each in properties if (made := _trials.check(each, head, values, module, UNDEFINED)) is not None]
    if not checks:
        return Spec(doubts=(f"No property of `{head.name}` could be read from the model's answer.",))
    return sheet(region, module, KIND, checks)


def _askable(head: Head) -> bool:
    """Only plain functions with parameters are tried: an object to call a method on cannot be made up."""
    return not head.bound and not head.asynchronous and bool(head.parameters)


def _no_values(names: Sequence[str]) -> str:
    listed = " and ".join(f"`{name}`" for name in names)
    return f"No values can be made up for {listed}, so no properties are tried."


def messages(head: Head) -> tuple[Message, ...]:
    """What the model is asked: signature and docstring, never a body."""
    text = templates.part("specs/properties").substitute(
        signature=head.signature,
        docstring=cut(head.docstring, ROOM, estimate).replace("\n", "\n    "),
    )
    return (Message(role="user", content=text.strip()),)


def question(head: Head) -> Completion:
    """The one request for a function's properties."""
    return Completion(messages=messages(head), role=Role.TESTER, temperature=0.0, max_tokens=TOKENS)


def parse(answer: str, head: Head) -> tuple[Claim, ...]:
    """The properties in an answer; lines that are none, or that do not use the result, are dropped."""
    return _claims.claims(answer, head.name, head.names)
