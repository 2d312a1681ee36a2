"""Renders generated tests as a developer would keep them: one by one, with a name and a remark."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from greenloop.core.python.ast_source import FUNCTIONS, parse_module
from greenloop.core.python.literal_values import read_literal
from greenloop.core.records.attempt import Attempt
from greenloop.core.records.spec import Case, Provenance
from greenloop.core.testfiles.append import RenderedTest
from greenloop.core.testfiles.counterexample import counterexample
from greenloop.core.testfiles.naming import function_name
from greenloop_sandbox import Failure

KINDS = {
    Provenance.EXAMPLE: "An example of the docstring.",
    Provenance.TRACE: "Recorded behaviour.",
    Provenance.CONFIRMED: "Confirmed by you.",
    Provenance.HUMAN: "Stated by you when reviewing a candidate.",
    Provenance.DESIGNED: "Generated from the docstring by greenloop, supported by votes.",
    Provenance.PROPERTY: "A property that greenloop checked with many inputs.",
}
MOST = 2  # counterexamples kept with a property


def render_case(
    case: Case, files: Mapping[str, str], module: str, name: str, taken: Collection[str], attempts: Sequence[Attempt]
) -> RenderedTest | None:
    """The test of a case from its generated file among `files`; None where it cannot be parsed.

    `module` is the dotted name of the module under test, `name` the function's; `taken` are names already used.
    """
    path, _colons, function = case.id.partition("::")
    parsed = parse_module(files.get(path, ""))
    if isinstance(parsed, SyntaxError):
        return None
    node = next((each for each in parsed.body if isinstance(each, FUNCTIONS) and each.name == function), None)
    if node is None:
        return None
    imported_names = [
        a.name for each in node.body if isinstance(each, ast.ImportFrom) and each.module == module for a in each.names
    ]
    body = [each for each in node.body if not (isinstance(each, ast.ImportFrom) and each.module == module)]
    if case.provenance is Provenance.PROPERTY:  # Hypothesis prints the inputs
        body = [ast.Assert(test=each.test, msg=None) if isinstance(each, ast.Assert) else each for each in body]
    used_names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    parameters = tuple(item.arg for item in node.args.args)
    decorators: tuple[str, ...] = ()
    imports = [ast.unparse(each) for each in parsed.body if _needed(each, used_names)]
    if case.provenance is Provenance.PROPERTY:
        given_decorators = [ast.unparse(each) for each in node.decorator_list if ast.unparse(each).startswith("given(")]
        kept_examples = find_examples(case.id, parameters, attempts)
        decorators = ("settings(deadline=None)", *given_decorators, *(f"example({each})" for each in kept_examples))
        hypothesis_names = {
            "settings",
            "given",
            *(["example"] if kept_examples else []),
            *used_names & {"reject", "st"},
        }
        import_list = sorted("strategies as st" if each == "st" else each for each in hypothesis_names)
        imports.append(f"from hypothesis import {', '.join(import_list)}")
    test_name = function_name(case, name, taken)
    return RenderedTest(
        case=case.id,
        name=test_name,
        body="\n".join(ast.unparse(each) for each in body) or "pass",
        uses=tuple(each for each in imported_names if each in used_names),
        imports=tuple(imports),
        decorators=decorators,
        parameters=parameters,
        remark=KINDS[case.provenance],
    )


def _needed(node: ast.stmt, words: Collection[str]) -> bool:
    """Is it an import that these words use? The import of Hypothesis is always written anew."""
    if not isinstance(node, ast.Import | ast.ImportFrom) or getattr(node, "module", "") == "hypothesis":
        return False
    return any((each.asname or each.name.partition(".")[0]) in words for each in node.names)


def find_examples(case: str, parameters: Sequence[str], attempts: Sequence[Attempt]) -> list[str]:
    """The shrunk inputs on which attempts failed a property, as arguments of `@example`."""
    unique_inputs: dict[str, None] = {}
    for attempt in attempts:
        for result in attempt.verdict.cases:
            if result.id == case and result.failure and (arguments := _literal_arguments(result.failure, parameters)):
                unique_inputs[arguments] = None
    return list(unique_inputs)[:MOST]


def _literal_arguments(failure: Failure, parameters: Sequence[str]) -> str:
    """The arguments (`s='aa', n=1`) of the failing call in a failure; "" where they are not all literals."""
    arguments = counterexample(failure)
    if not arguments or not all(map(read_literal, arguments.values())) or {*arguments} != {*parameters}:
        return ""
    return ", ".join(f"{name}={value}" for name, value in arguments.items())


def without_repeated_remarks(tests: Sequence[RenderedTest]) -> list[RenderedTest]:
    """Keeps each remark only above the first of consecutive tests that share it."""
    result, last_remark = [], ""
    for test in tests:
        result.append(replace(test, remark="" if test.remark == last_remark else test.remark))
        last_remark = test.remark
    return result
