"""Tests properties that hold for every input on many small inputs.

A library of common properties suggests them from signature and docstring. Hypothesis generates the inputs in the
sandbox and shrinks those that break a property. It must not ask a model.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Awaitable, Callable, Sequence

from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.ports import Tools
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance, Region, Spec
from greenloop.plugins.function_calls import signature, value_kinds, value_strategies
from greenloop.plugins.function_calls.sections import Sections, parse_sections
from greenloop.plugins.function_calls.signature import FunctionHeader
from greenloop.plugins.function_calls.value_kinds import ValueKind
from greenloop.plugins.function_calls.value_strategies import ParameterStrategy
from greenloop.project import sources
from greenloop_lab.specs import library, property_tests
from greenloop_lab.specs.library import PropertyContext
from greenloop_lab.specs.property_tests import Property
from greenloop_sandbox import Execution, TestRun, case_results, collected_cases, forged
from greenloop_sandbox.report.cases import collect_errors, describe_end

StateProperties = Callable[[FunctionHeader], Awaitable[Sequence[Property]]]

KIND = "property"
PROVENANCE = Provenance.PROPERTY
MOST = 6  # properties in all, the library's first
PROBE, PROBED = "values", 5  # the tests that try the strategies before any candidate, and the values that each draws
SECONDS = 60.0
LONGEST = 200  # characters of a reason reported by Hypothesis or pytest
_IMPORTING = ("ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError", "NameError")
# What functions raise for invalid input; with several arguments also where one does not match another.
UNDEFINED = ("ValueError", "ArithmeticError")
UNFIT = ("LookupError",)


async def collect(problem: Problem, tools: Tools, state_properties: StateProperties | None = None) -> Spec:
    """Property tests that can run here, else a doubt; `state_properties` returns further properties."""
    region = problem.regions[0]
    text = problem.files[region.path]
    module = sources.import_name_in_tests(region.path, problem.root)
    spec = build_spec(region, text, module)
    head = _read_header(region, text)
    if head is None or spec.doubts or not (spec.cases or state_properties):
        return spec
    values, _without = _strategies(head, text, module)
    if doubt := await _probe_values(values, region, module, problem, tools):
        return Spec(doubts=(doubt,))
    return build_spec(region, text, module, await state_properties(head)) if state_properties else spec


def build_spec(region: Region, text: str, module: str, stated: Sequence[Property] = ()) -> Spec:
    """The property tests for the function in this text: common ones and those that are stated. Pure."""
    head = _read_header(region, text)
    if head is None:
        return Spec()
    values, without = _strategies(head, text, module)
    if without:
        return Spec(doubts=(_missing_values_doubt(without),))
    docstring_sections = parse_sections(head.docstring)
    common_properties = library.suggest_properties(
        PropertyContext(
            head=head,
            strategies=values,
            result_kind=_result_kind(head, docstring_sections, text),
            module_text=text,
            module=module,
            shows_calls=bool(signature.read_calls(head).calls),
        )
    )
    mismatch_errors = UNFIT if sum(each.always_drawn for each in values) > 1 else ()
    documented_errors = tuple(each.name for each in docstring_sections.raises if _is_known_error(each.name, text))
    unique: dict[str, Property] = {}
    for each in (*common_properties, *stated):
        unique.setdefault(each.expression, each)
    checks = []
    for each in unique.values():
        allowed = (*UNDEFINED, *mismatch_errors, *documented_errors) if each.expression else documented_errors
        if (check := property_tests.build_check(each, head, values, module, tuple(dict.fromkeys(allowed)))) is not None:
            checks.append(check)
    return build_test_file(region, module, KIND, checks[:MOST]) if checks else Spec()


def _read_header(region: Region, text: str) -> FunctionHeader | None:
    """The header of a plain function with parameters. For a method there is no object to call it on."""
    head = signature.read_header(region, text)
    return head if head and head.parameters and not head.is_bound and not head.is_async else None


def _strategies(head: FunctionHeader, text: str, module: str) -> tuple[tuple[ParameterStrategy, ...], tuple[str, ...]]:
    types = {each.name: each.type or each.text for each in parse_sections(head.docstring).params}
    return value_strategies.build_strategies(head, text, module, types)


def _result_kind(head: FunctionHeader, docstring_type: Sections, text: str) -> ValueKind | None:
    """The kind of value that the function returns: by annotation, the docstring's type, or the examples' results."""
    if head.returns:
        return value_kinds.kind_of_annotation(head.returns, text)
    result = docstring_type.returns
    if result and (kind := value_kinds.kind_in_prose(result.type or result.text)):
        return kind
    return value_kinds.kind_of_values(signature.read_calls(head).results)


def _is_known_error(name: str, text: str) -> bool:
    """Can a test catch the exception by this name? It must be a builtin or a class of the module."""
    builtin = getattr(builtins, name, None)
    is_builtin = isinstance(builtin, type) and issubclass(builtin, Exception)
    return is_builtin or (name.isidentifier() and bool(re.search(rf"^class {name}\b", text, re.MULTILINE)))


# -- can Hypothesis run here and draw from every strategy? --------------------------------------------------------


async def _probe_values(
    values: Sequence[ParameterStrategy], region: Region, module: str, problem: Problem, tools: Tools
) -> str:
    """Returns why properties cannot be tested, in one sentence; empty when they can."""
    settings = value_strategies.hypothesis_settings(PROBED)
    checks = [
        Check(
            body=f"repr({each.name})",
            line=region.start,
            provenance=Provenance.PROPERTY,
            imports=(value_strategies.HYPOTHESIS, value_strategies.NAMES),
            decorators=(settings, f"given({each.name}={each.strategy})"),
            parameters=each.name,
        )
        for each in values
    ]
    probe_spec = build_test_file(region, module, PROBE, checks)
    files = {**problem.buffers, **{path: text.encode() for path, text in {**problem.files, **probe_spec.files}.items()}}
    execution = await tools.session.run(TestRun(selectors=probe_spec.selectors, files=files, seconds=SECONDS))
    if reason := _failure_reason(execution):
        return f"Property tests are skipped because Hypothesis does not run here: {reason}."
    results = {each.id: each for each in case_results(execution)}
    failures = [
        (value.name, results[case.id].failure)
        for value, case in zip(values, probe_spec.cases, strict=True)
        if case.id in results
    ]
    # A module that cannot be imported tells nothing about values, and fails every later test.
    return _missing_values_doubt([name for name, failure in failures if failure and failure.type not in _IMPORTING])


def _missing_values_doubt(names: Sequence[str]) -> str:
    """The doubt about parameters without values; empty if there are none."""
    listed = " and ".join(f"`{name}`" for name in names)
    return f"No values can be made up for {listed}, so no properties are tried." if names else ""


def _failure_reason(execution: Execution) -> str:
    """Returns why the probe could not run, where that is known."""
    reason = execution.broken or forged(execution)
    if not reason and (errors := collect_errors(execution)):
        reason = errors[0].failure.message or errors[0].failure.type
    elif not reason and (execution.killed or not collected_cases(execution)):
        reason = describe_end(execution) or "no test was collected"
    return " ".join(reason.split())[:LONGEST].rstrip(". ")
