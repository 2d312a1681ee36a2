"""The type hint of the result as light tests: what the docstring's calls give is of the annotated type.

They must hold and prove little, so they come only beside other tests, and they look at what a call returns: which
input is allowed, others say. Where the docstring shows no call, one is made up of small plain values.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from greenloop import sources
from greenloop.core.nouns import Problem, Provenance, Region, Spec
from greenloop.core.ports import Tools
from greenloop.core.sheet import Check, sheet
from greenloop.specs import _calls, _forms, _function, _types
from greenloop.specs._forms import Form
from greenloop.specs._function import Head

KIND = "hint"
MOST = 4  # calls that are looked at
_SMALL = {
    "int": "1", "float": "1.5", "str": "'ab'", "bool": "True", "bytes": "b'ab'", "any": "1", "none": "None",
    "complex": "1j",
}  # fmt: skip
_AROUND = {"list": "[{0}, {0}]", "tuples": "({0}, {0})", "set": "{{{0}}}", "frozenset": "frozenset({{{0}}})"}


async def collect(problem: Problem, tools: Tools) -> Spec:
    """No cases without other ones, or where the annotation says nothing that can be tested."""
    del tools
    region = problem.regions[0]
    if not problem.spec.cases:
        return Spec()
    return spec(region, problem.files[region.path], sources.imported_as(region.path, problem.root))


def spec(region: Region, text: str, module: str) -> Spec:
    """The tests of the function in this text; a doubt where its own examples are not of the annotated type. Pure."""
    head = _function.read(region, text)
    if head is None or head.bound or head.asynchronous or not (expression := _types.check(head.returns, "result")):
        return Spec()
    shown = _calls.read(head)
    wrong = [value for value in shown.results if not _types.fits(head.returns, value)]
    if wrong:
        said = f"The docstring's example gives {wrong[0]!r}, which is not of the annotated type {head.returns}."
        return Spec(doubts=(said,))
    calls = shown.whole[:MOST] or _made_up(head, text)
    return sheet(region, module, KIND, [_check(call, expression, head) for call in calls])


def _check(call: str, expression: str, head: Head) -> Check:
    body = [
        "try:",
        f"    result = {call}",
        "except NotImplementedError:",
        "    raise",
        "except Exception:",
        "    return",
        f"assert {expression}",
    ]
    shown = f"{call} gives {head.returns}"
    return Check(body="\n".join(body), line=head.line, provenance=Provenance.HINT, shown=shown)


def _made_up(head: Head, text: str) -> Sequence[str]:
    """One call with small values by the parameters' annotations; none where one is missing or of another kind."""
    words = []
    for parameter in head.parameters:
        if parameter.default or parameter.kind in ("star", "doublestar"):
            continue
        form = _forms.annotated(parameter.annotation, text)
        value = _small(form) if form is not None else ""
        if not value:
            return ()
        words.append(f"{parameter.name}={value}" if parameter.kind == "keyword" else value)
    return (ast.unparse(ast.parse(f"{head.name}({', '.join(words)})")),) if words else ()


def _small(form: Form) -> str:
    """The source of a small value; empty where there is none."""
    if form.name == "union":
        return next(filter(None, map(_small, form.inner)), "")
    if form.name == "literal":
        return form.text.split(",")[0].strip()
    parts = [_small(each) for each in form.inner]
    if "" in parts:
        return ""
    if form.name in _AROUND:
        return _AROUND[form.name].format(*(parts or ["1"]))
    if form.name == "tuple":
        return f"({', '.join(parts)},)"
    if form.name == "dict":
        return "{" + ": ".join(parts or ["'ab'", "1"]) + "}"
    return _SMALL.get(form.name, "")
