"""Tests that compare a function with the user's own version of it, on inputs beyond those of the tests.

Differential testing (McKeeman, Differential Testing for Software, 1998): the user's text is loaded with the new one,
both get the same values, and what they return, raise and do to their arguments has to be the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from greenloop.core.generated_tests import generated_path
from greenloop.core.records.problem import Problem
from greenloop.plugins.function_calls import signature, value_strategies
from greenloop.plugins.function_calls.sections import parse_sections
from greenloop.plugins.function_calls.signature import FunctionHeader
from greenloop.plugins.function_calls.value_strategies import ParameterStrategy
from greenloop.plugins.improve import workloads
from greenloop.plugins.improve.records import Workload
from greenloop.project.sources import import_name_in_tests

KIND = "same"
INPUTS = 200  # made up for one function
SECONDS = 0.2  # for one call of the old version; what takes longer is not compared
RUNTIME = ("same_results.py", "recorded_calls.py")
RECORDED = "test_same_recorded"  # it compares the calls of the tests
FIRST = "test_same_first"  # it fails where a call gave a test of the user something else, in a process of its own
LEAST = 10  # calls that are compared where the time does not suffice for all
ENOUGH = "test_same_enough"  # it fails where too few were
EFFECTS = "test_same_effects"  # run with the user's own code only; it fails where that does what no result shows


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A generated file with tests that compare both versions.

    `alone` are the ids of those that make up inputs or repeat the user's calls; `tests` are the user's own, whose calls
    are recorded and compared, too. `reason` says why no inputs could be made up.
    """

    path: str
    files: Mapping[str, str]
    tests: tuple[str, ...]
    alone: tuple[str, ...] = ()
    reason: str = ""

    def id_of(self, name: str) -> str:
        """The id of the test with this name: `RECORDED`, `FIRST`, `ENOUGH` or `EFFECTS`."""
        return f"{self.path}::{name}"

    def workload(self, kept: Sequence[str]) -> Workload:
        """Returns the workload that runs these tests; for recorded calls, also those of the user in between."""
        recording = (self.id_of("test_same_recording"), *self.tests) if self.id_of(RECORDED) in kept else ()
        return Workload(selectors=(*recording, *kept, self.id_of(ENOUGH)), files=self.files)


def build_comparison(problem: Problem, calls: Sequence[str]) -> Comparison:
    """Builds tests with inputs made up from annotations, docstring and the tests' calls, and with recorded calls.

    `calls` are the user's, each with a test of its own.
    """
    region = problem.regions[0]
    text = problem.files[region.path]
    module = import_name_in_tests(region.path, problem.root)
    head = signature.read_header(region, text)
    values, reason = _values(problem, head, text, module)
    path = generated_path(region, KIND)
    tests = [_call_test(number, call) for number, call in enumerate(calls, 1)]
    if values and head is not None:
        tests.append(_property_test(head, values))
    names = [each.partition("def ")[2].partition("(")[0] for each in tests]
    hypothesis = [value_strategies.HYPOTHESIS, value_strategies.NAMES] if values else []
    constants = f"MODULE = {module!r}\nQUALNAME = {region.qualname!r}\nBEFORE = {text!r}"
    parts = [*map(workloads.runtime_text, RUNTIME), *hypothesis, constants, _RECORDING, *tests]
    return Comparison(
        path=path,
        files={path: "\n\n\n".join(parts) + "\n"},
        tests=workloads.case_selectors(problem.spec),
        alone=tuple(f"{path}::{name}" for name in names),
        reason=reason,
    )


_RECORDING = f"""def test_same_recording():
    record_calls(MODULE, QUALNAME)


def {RECORDED}():
    difference = compare_calls(MODULE, QUALNAME, BEFORE)
    assert not difference, difference


def {FIRST}():
    assert not CHANGED, f"{{CHANGED[0]}}, which differs from before"


def {ENOUGH}():
    assert COMPARED or LATE, "no call of the tests can be repeated"
    number = len(COMPARED) or "none"
    assert len(COMPARED) >= {LEAST} or not SKIPPED, (
        f"of its calls, which take long, {{number}} can be compared in the time (name short ones: --inputs FILE)"
    )


def {EFFECTS}():
    assert not BEFORE_EFFECTS, "it " + " and ".join(sorted(BEFORE_EFFECTS))"""


def _values(
    problem: Problem, head: FunctionHeader | None, text: str, module: str
) -> tuple[tuple[ParameterStrategy, ...], str]:
    name = problem.regions[0].qualname
    if head is None or head.is_bound or head.is_async:
        return (), f"no inputs can be made up for {name}, which is not a plain function"
    if not head.parameters:
        return (), f"{name} takes no arguments"
    sources = "\n".join(problem.files[path] for path in dict.fromkeys(case.path for case in problem.spec.cases))
    examples = signature.read_calls(replace(head, docstring=sources)).arguments
    types = {each.name: each.type or each.text for each in parse_sections(head.docstring).params}
    values, missing = value_strategies.build_strategies(head, text, module, types, examples, wide=True)
    if missing:
        listed = " and ".join(f"`{each}`" for each in missing)
        return (), f"no values can be made up for {listed} of {name}: it has no annotation and no example"
    return values, ""


def _property_test(head: FunctionHeader, values: Sequence[ParameterStrategy]) -> str:
    settings = value_strategies.hypothesis_settings(INPUTS)
    names = [each.name for each in values]
    given = ", ".join(f"{each.name}={each.strategy}" for each in values)
    arguments = ", ".join(f"{name!r}: {name}" for name in names)
    shown = ", ".join(f"{name}={{{name}!r}}" for name in names)
    message = f'f"{head.name}({shown}) differs from before: {{tell(old, new)}}"'
    return f"""@{settings}
@given({given})
def test_same_made_up({", ".join(names)}):
    before = load_before(MODULE, BEFORE).{head.name}
    now = importlib.import_module(MODULE).{head.name}
    old = observe(before, [], {{{arguments}}}, {SECONDS}) if time_left() else TOO_MUCH
    new = observe(now, [], {{{arguments}}}) if old != TOO_MUCH else old
    assert is_same(old, new, is_made_up=True), {message}"""


def _call_test(number: int, call: str) -> str:
    return f'''def test_same_call_{number}():
    old = evaluate({call!r}, load_before(MODULE, BEFORE))
    new = evaluate({call!r}, importlib.import_module(MODULE))
    assert is_same(old, new), {call!r} + f" differs from before: {{tell(old, new)}}"'''
