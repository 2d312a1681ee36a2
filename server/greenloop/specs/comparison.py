"""Tests that compare a function with the user's own version of it, on inputs beyond those of the tests.

Differential testing (McKeeman, Differential Testing for Software, 1998): the user's text is loaded beside the new one,
both get the same values, and what they return, raise and do to their arguments has to be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from greenloop.core.docstrings.sections import parse_sections
from greenloop.core.generated_tests import generated_path
from greenloop.core.records.goal import Workload
from greenloop.core.records.problem import Problem
from greenloop.project.sources import import_name_in_tests
from greenloop.specs.properties import example_calls, property_tests, signature, value_strategies
from greenloop.specs.properties.signature import FunctionHeader
from greenloop.specs.properties.value_strategies import ParameterStrategy

KIND = "same"
INPUTS = 200  # made up for one function
SECONDS = 0.2  # for one call of the old version; what takes longer is not compared


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The tests to run over both versions; `reason` says why some, or all, inputs could not be made up."""

    tests: Workload | None
    reason: str = ""


def build_comparison(problem: Problem, calls: Sequence[str]) -> Comparison:
    """Builds a test with inputs made up from annotations, docstring and the tests' calls, and one for each call."""
    region = problem.regions[0]
    text = problem.files[region.path]
    module = import_name_in_tests(region.path, problem.root)
    head = signature.read_header(region, text)
    values, reason = _values(problem, head, text, module)
    path = generated_path(region, KIND)
    tests = [_call_test(number, call) for number, call in enumerate(calls, 1)]
    if values and head is not None:
        tests.append(_property_test(head, values))
    if not tests:
        return Comparison(tests=None, reason=reason)
    runtime = files("greenloop.specs.properties").joinpath("same_results.py").read_text(encoding="utf-8")
    hypothesis = [property_tests.HYPOTHESIS, property_tests.NAMES] if values else []
    parts = [runtime, *hypothesis, f"MODULE = {module!r}\nBEFORE = {text!r}", *tests]
    return Comparison(tests=Workload(selectors=(path,), files={path: "\n\n\n".join(parts) + "\n"}), reason=reason)


def _values(
    problem: Problem, head: FunctionHeader | None, text: str, module: str
) -> tuple[tuple[ParameterStrategy, ...], str]:
    name = problem.regions[0].qualname
    if head is None or head.is_bound or head.is_async:
        return (), f"no inputs can be made up for {name}, which is not a plain function"
    if not head.parameters:
        return (), f"{name} takes no arguments"
    sources = "\n".join(problem.files[path] for path in dict.fromkeys(case.path for case in problem.spec.cases))
    examples = example_calls.read_calls(replace(head, docstring=sources)).arguments
    types = {each.name: each.type or each.text for each in parse_sections(head.docstring).params}
    values, missing = value_strategies.build_strategies(head, text, module, types, examples, wide=True)
    if missing:
        listed = " and ".join(f"`{each}`" for each in missing)
        return (), f"no values can be made up for {listed} of {name}: it has no annotation and no example"
    return values, ""


def _property_test(head: FunctionHeader, values: Sequence[ParameterStrategy]) -> str:
    settings = property_tests.SETTINGS.replace(f"max_examples={property_tests.EXAMPLES}", f"max_examples={INPUTS}")
    names = [each.name for each in values]
    given = ", ".join(f"{each.name}={each.strategy}" for each in values)
    arguments = ", ".join(f"{name!r}: {name}" for name in names)
    shown = ", ".join(f"{name}={{{name}!r}}" for name in names)
    message = f'f"{head.name}({shown}) differs from before: {{new!r:.200}} instead of {{old!r:.200}}"'
    return f"""@{settings}
@given({given})
def test_same_made_up({", ".join(names)}):
    before = load_before(MODULE, BEFORE).{head.name}
    now = importlib.import_module(MODULE).{head.name}
    old = observe(before, {{{arguments}}}, {SECONDS}) if time_left() else TOO_MUCH
    new = observe(now, {{{arguments}}}) if old != TOO_MUCH else old
    assert new == old, {message}"""


def _call_test(number: int, call: str) -> str:
    return f'''def test_same_call_{number}():
    old = evaluate({call!r}, load_before(MODULE, BEFORE))
    new = evaluate({call!r}, importlib.import_module(MODULE))
    assert new == old, {call!r} + f" differs from before: {{new!r:.200}} instead of {{old!r:.200}}"'''
