"""Tests properties that hold for every input on many small inputs.

The method is the Property-Generated Solver (arXiv 2506.18315). The model sees signature and docstring only and states a
few properties, one line each; a library of common properties adds more. Hypothesis generates the inputs in the sandbox
and shrinks those that break a property.
"""

from __future__ import annotations

import builtins
import re

from greenloop.core.docstrings.sections import Sections, parse_sections
from greenloop.core.generated_tests import build_test_file
from greenloop.core.ports import Tools
from greenloop.core.records.model import ChatRequest, Message, Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.text.tokens import estimate_tokens
from greenloop.core.text.truncate import truncate
from greenloop.project import sources
from greenloop.specs.kinds._few_shot import turns
from greenloop.specs.properties import (
    example_calls,
    library,
    probe,
    property_tests,
    signature,
    stated_properties,
    value_kinds,
    value_strategies,
)
from greenloop.specs.properties.library import About
from greenloop.specs.properties.property_tests import Property
from greenloop.specs.properties.signature import Head
from greenloop.specs.properties.stated_properties import Claim
from greenloop.specs.properties.value_kinds import Form
from greenloop.specs.properties.value_strategies import Values

KIND = "property"
ROOM = 600  # tokens of a docstring that the model is shown
TOKENS = 160  # of its answer
MOST = 6  # properties in all, the library's first
# What functions raise for invalid input; with several arguments also where one does not match another.
UNDEFINED = ("ValueError", "ArithmeticError")
UNFIT = ("LookupError",)


async def collect(problem: Problem, tools: Tools) -> Spec:
    """Property tests that can run here, else a doubt. Lets `BudgetExceededError` and the model's own errors through."""
    region = problem.regions[0]
    text = problem.files[region.path]
    head = signature.read(region, text)
    if head is None or not _askable(head):
        return Spec()
    module = sources.import_name_in_tests(region.path, problem.root)
    values, without = _known(head, text, module)
    if doubt := probe.no_values(without) or await probe.doubt(values, region, module, problem, tools):
        return Spec(doubts=(doubt,))
    reply = await tools.ask(question(head))
    return spec(region, text, module, reply.text)


def spec(region: Region, text: str, module: str, answer: str) -> Spec:
    """The property tests for the function in this text: common ones and those of a model's answer. Pure."""
    head = signature.read(region, text)
    if head is None or not _askable(head):
        return Spec()
    values, without = _known(head, text, module)
    if without:
        return Spec(doubts=(probe.no_values(without),))
    docstring_sections = parse_sections(head.docstring)
    common_properties = library.properties(
        About(
            head=head,
            values=values,
            result=_result(head, docstring_sections, text),
            text=text,
            dotted=module,
            calls=bool(example_calls.read(head).calls),
        )
    )
    model_properties = [
        Property(name=each.name, expression=each.expression, source="model", imports=each.imports)
        for each in parse(answer, head)
    ]
    mismatch_errors = UNFIT if sum(each.drawn for each in values) > 1 else ()
    documented_errors = tuple(each.name for each in docstring_sections.raises if _known_error(each.name, text))
    unique: dict[str, Property] = {}
    for each in (*common_properties, *model_properties):
        unique.setdefault(each.expression, each)
    checks = []
    for each in unique.values():
        allowed = (*UNDEFINED, *mismatch_errors, *documented_errors) if each.expression else documented_errors
        if (check := property_tests.check(each, head, values, module, tuple(dict.fromkeys(allowed)))) is not None:
            checks.append(check)
    if not checks:
        return Spec(doubts=(f"No property of `{head.name}` is known or could be read from the model's answer.",))
    return build_test_file(region, module, KIND, checks[:MOST])


def _known(head: Head, text: str, module: str) -> tuple[tuple[Values, ...], tuple[str, ...]]:
    types = {each.name: each.type or each.text for each in parse_sections(head.docstring).params}
    return value_strategies.values(head, text, module, types)


def _result(head: Head, said: Sections, text: str) -> Form | None:
    """The kind of value that the function returns: by annotation, the docstring's type, or the examples' results."""
    if head.returns:
        return value_kinds.annotated(head.returns, text)
    if said.returns and (form := value_kinds.worded(said.returns.type or said.returns.text)):
        return form
    return value_kinds.shown(example_calls.read(head).results)


def _known_error(name: str, text: str) -> bool:
    """Can a test catch the exception by this name? It must be a builtin or a class of the module."""
    builtin = getattr(builtins, name, None)
    if isinstance(builtin, type) and issubclass(builtin, Exception):
        return True
    return bool(name.isidentifier() and re.search(rf"^class {re.escape(name)}\b", text, re.MULTILINE))


def _askable(head: Head) -> bool:
    """Is it a plain function with parameters? For a method there is no object to call it on."""
    return not head.bound and not head.asynchronous and bool(head.parameters)


def messages(head: Head) -> tuple[Message, ...]:
    """The prompt: signature and docstring, never a body."""
    return turns(
        "properties",
        name=head.name,
        signature=head.signature,
        docstring=truncate(head.docstring, ROOM, estimate_tokens).replace("\n", "\n    "),
    )


def question(head: Head) -> ChatRequest:
    """The one request for a function's properties."""
    return ChatRequest(messages=messages(head), role=Role.TESTER, temperature=0.0, max_tokens=TOKENS)


def parse(answer: str, head: Head) -> tuple[Claim, ...]:
    """The properties in an answer; other lines, and properties that do not use the result, are dropped."""
    return stated_properties.claims(answer, head.name, head.names)
