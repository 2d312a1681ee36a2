"""Runs changed functions on inputs near those of their tests: with the user's own code and with the new one.

Four short runs for each changed file: one records the tests' calls, one calls the functions of either version, and one
the new ones as production would. A function whose arguments are not plain data is left out. It must not know what a
difference means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.resources import files as package_files
from itertools import groupby
from typing import Any

from greenloop.core.generated_tests import generated_path
from greenloop.core.records.spec import Region
from greenloop.core.text.diff import with_plain_ends
from greenloop.core.verification_inputs import VerificationInputs, check_sandbox
from greenloop.plugins.function_calls import signature, value_strategies
from greenloop.plugins.function_calls.changed_functions import ChangedFunction
from greenloop.plugins.other_inputs.metamorphic import described_calls, repeated_call
from greenloop.plugins.other_inputs.plain_values import UnplainError
from greenloop.plugins.other_inputs.varied_inputs import (
    Call,
    Instance,
    call_tree,
    move_calls,
    read_call,
    read_value,
    vary_calls,
)
from greenloop.project.sources import import_name_in_tests
from greenloop_sandbox import Execution, Session, case_results, forged

KIND = "inputs"
MOST_FUNCTIONS = 4
MOST_FILES = 2
MOST_TESTED = 24  # of the tests' own calls
MOST_VARIED = 60
DRAWN = 16  # inputs of one function that Hypothesis draws from its annotations
LEAST_NEAR = 12  # other inputs, of which fewer say nothing
MISUSE = ("TypeError", "AttributeError")  # what any code does with values that it is not made for
SECONDS = 15.0  # of wall time for a run, beyond that of the tests
RUNTIME = {
    "greenloop.plugins.function_calls": ("same_results.py", "recorded_calls.py"),
    "greenloop.plugins.other_inputs": ("plain_values.py", "call_probe.py", "production_probe.py"),
}
LONGEST = 60  # characters of a value that is shown
_OWN_IMPORTS = re.compile(r"(?m)^from (?:__future__|greenloop\.\S+) import (?:\([^)]*\)|[^(\n]*)\n")


@dataclass(frozen=True, kw_only=True)
class Done:
    """Behaviour of a call: `kind` is `returns` or `raises`; `trees` has the rest."""

    kind: str
    trees: str = ""

    @property
    def value(self) -> Any:
        """The tree of what was returned, or the name of an error; a long one is its digest."""
        return json.loads(self.trees)[0] if self.trees else None


@dataclass(frozen=True, kw_only=True)
class Observation:
    """One input, and what both versions do with it.

    `is_tested`: a test calls it so; `is_near`: it is varied in one place; `is_moved`: it is varied in all places.
    `elsewhere` is what the new version does with a tested one under the conditions of `production_probe`, `again` what
    it does with its own result in place of the first argument.
    """

    function: ChangedFunction
    call: Call
    old: Done
    new: Done
    is_tested: bool = False
    is_near: bool = False
    is_moved: bool = False
    elsewhere: Mapping[str, Done] = field(default_factory=dict)
    again: Done | None = None

    @property
    def differs(self) -> bool:
        return self.old != self.new


async def observe(
    inputs: VerificationInputs,
    session: Session,
    files: Mapping[str, str],
    *,
    own: Mapping[str, str],
    new: Mapping[str, str],
    functions: Sequence[ChangedFunction],
    selectors: Sequence[str],
) -> list[Observation]:
    """Returns what both versions do with the tests' inputs, with varied ones, and with drawn ones.

    `files` are laid over the workspace for the new code; `own` and `new` are the texts of the changed files. The tests
    of `selectors` are run once. Raises `SandboxBrokenError`.
    """
    found: list[Observation] = []
    by_file = groupby(functions[:MOST_FUNCTIONS], key=lambda each: each.path)
    for path, group in [(path, list(group)) for path, group in by_file][:MOST_FILES]:
        probe = _Probe(inputs=inputs, session=session, functions=group, text=with_plain_ends(new[path]))
        old_files = {**files, **{name: text for name, text in own.items() if text}}
        tested, drawn = await probe.record(files, selectors)
        if any(each.is_wrapped for each in group):  # only the user's own code is sure to be a function that is called
            before, _drawn = await probe.record(old_files, selectors)
            tested = list({call.key: call for call in (*tested, *before)}.values())[:MOST_TESTED]
        if not tested:
            continue
        moved = move_calls(tested)
        varied = vary_calls(tested, MOST_VARIED, moved)
        known = {call.key for call in (*tested, *moved, *varied)}
        more = [*drawn, *described_calls([each.qualname for each in group], probe.text, tested)]
        calls = [*tested, *varied, *moved, *{call.key: call for call in more if call.key not in known}.values()]
        first_moved = len(tested) + len(varied)
        new_done, old_done = [await probe.run(each, calls) for each in (files, old_files)]
        places = sorted(new_done.keys() & old_done.keys())
        changed = any(place < len(tested) and new_done[place] != old_done[place] for place in places)
        elsewhere = await probe.run_in_production(files, tested) if changed else {}
        again = await probe.run_again(files, calls, new_done, len(tested))
        for place in places:
            call = calls[place]
            found.append(
                Observation(
                    function=group[call.function],
                    call=call,
                    old=old_done[place],
                    new=new_done[place],
                    is_tested=place < len(tested),
                    is_near=len(tested) <= place < first_moved,
                    is_moved=first_moved <= place < first_moved + len(moved),
                    elsewhere=elsewhere.get(place, {}),
                    again=again.get(place),
                )
            )
    return found


@dataclass(frozen=True, kw_only=True)
class _Probe:
    """The generated tests for the changed functions of one file, whose new text is `text`."""

    inputs: VerificationInputs
    session: Session
    functions: Sequence[ChangedFunction]
    text: str

    @property
    def _path(self) -> str:
        return generated_path(_region(self.functions[0]), KIND)

    @property
    def _module(self) -> str:
        return import_name_in_tests(self.functions[0].path, self.inputs.problem.root)

    async def record(self, files: Mapping[str, str], selectors: Sequence[str]) -> tuple[list[Call], list[Call]]:
        """Returns the calls that the tests make, and those that are drawn from annotations."""
        drawn = [self._drawing(number) for number in range(len(self.functions))]
        text = _file_text(self._module, self.functions, "[]", drawn)
        order = ("test_recording",), ("test_marking", *(f"test_drawn_{n}" for n, each in enumerate(drawn) if each))
        own = [tuple(f"{self._path}::{name}" for name in names) for names in (*order, ("test_told",))]
        lines = await self._lines(files, text, (*own[0], *selectors, *own[1], *own[2]), self.inputs.limits.seconds)
        mark = lines.index("null") if "null" in lines else len(lines)
        return _read_calls(lines[:mark])[:MOST_TESTED], _read_calls(lines[mark + 1 :])

    async def run(self, files: Mapping[str, str], calls: Sequence[Call]) -> dict[int, Done]:
        """Returns what these texts do with the calls, by their numbers; calls that cannot be judged are left out."""
        trees = json.dumps([call_tree(call) for call in calls])
        text = _file_text(self._module, self.functions, trees, ())
        selectors = tuple(f"{self._path}::{name}" for name in ("test_inputs", "test_told"))
        rows = _read_rows(await self._lines(files, text, selectors))
        return {int(row[0]): Done(kind=str(row[1]), trees=json.dumps(row[2:])) for row in rows}

    async def run_again(
        self, files: Mapping[str, str], calls: Sequence[Call], done: Mapping[int, Done], tested: int
    ) -> dict[int, Done]:
        """Returns what these texts do with the results of calls, by the number of the call.

        None where the result of a test's call is no container as its first argument is.
        """
        repeated = {}
        for place, each in done.items():
            with suppress(UnplainError):
                if each.kind == "returns" and (call := repeated_call(calls[place], read_value(each.value))):
                    repeated[place] = call
        if not all(place in repeated for place in range(tested)):
            return {}
        found = await self.run(files, [*repeated.values()])
        return {place: found[number] for number, place in enumerate(repeated) if number in found}

    async def run_in_production(self, files: Mapping[str, str], calls: Sequence[Call]) -> dict[int, dict[str, Done]]:
        """Returns what these texts do with the calls under each condition."""
        text = _file_text(self._module, self.functions, json.dumps([call_tree(call) for call in calls]), ())
        selectors = tuple(f"{self._path}::{name}" for name in ("test_production", "test_told"))
        found: dict[int, dict[str, Done]] = {}
        for condition, place, kind, *trees in _read_rows(await self._lines(files, text, selectors)):
            found.setdefault(int(place), {})[str(condition)] = Done(kind=str(kind), trees=json.dumps(trees))
        return found

    async def _lines(
        self, files: Mapping[str, str], text: str, selectors: Sequence[str], seconds: float = 0.0
    ) -> list[str]:
        run = self.inputs.test_run(files)
        run = replace(run, selectors=tuple(selectors), seconds=seconds + SECONDS)
        execution = await self.session.run(replace(run, files={**run.files, self._path: text.encode()}))
        check_sandbox(execution)
        return _told(execution, self._path)

    def _drawing(self, number: int) -> str:
        """The test that draws inputs of a function; empty where not every parameter is annotated."""
        function = self.functions[number]
        head = signature.read_header(_region(function), self.text)
        if head is None or head.is_bound or head.is_async or not head.parameters:
            return ""
        if not all(each.annotation and each.kind == "plain" for each in head.parameters):
            return ""
        values, missing = value_strategies.build_strategies(head, self.text, self._module, {}, {}, wide=True)
        if missing or not values:
            return ""
        settings = value_strategies.hypothesis_settings(DRAWN)
        given = ", ".join(f"{each.name}={each.strategy}" for each in values)
        names = ", ".join(each.name for each in values)
        return "\n".join(
            [
                f"def test_drawn_{number}():",
                "    try:",
                f"        {value_strategies.NAMES}",
                "    except ImportError:",
                "        return",
                f"    @{settings}",
                f"    @given({given})",
                f"    def draw({names}):",
                f"        record({number}, [{names}], {{}})",
                "    draw()",
            ]
        )


def _region(function: ChangedFunction) -> Region:
    return Region(path=function.path, qualname=function.qualname, start=function.start, end=function.end)


def _file_text(module: str, functions: Sequence[ChangedFunction], inputs: str, drawn: Sequence[str]) -> str:
    names = [[module, each.qualname, [*each.added], each.is_wrapped] for each in functions]
    tests = f"""FUNCTIONS = {names!r}
INPUTS = {inputs!r}


def test_recording():
    record_functions(FUNCTIONS)


def test_marking():
    sys.setprofile(None)
    RAN.append("null")


def test_inputs():
    run_inputs(FUNCTIONS, INPUTS)


def test_production():
    run_as_in_production(FUNCTIONS, INPUTS)


def test_told(request):
    tell_lines(request.node)"""
    runtime = [
        package_files(package).joinpath(name).read_text("utf-8") for package, names in RUNTIME.items() for name in names
    ]
    head = '"""PYTEST_DONT_REWRITE"""\nfrom __future__ import annotations'
    return "\n\n\n".join([head, *(_OWN_IMPORTS.sub("", text) for text in runtime), tests, *filter(None, drawn)])


def _told(execution: Execution, path: str) -> list[str]:
    """The lines that the tests of this file failed with."""
    if forged(execution):
        return []
    results = (each for each in case_results(execution) if each.id.startswith(f"{path}::test_told"))
    messages = [each.failure.message for each in results if each.failure and each.failure.type == "AssertionError"]
    return [line for message in messages for line in message.split("\n")]


def _read_rows(lines: Sequence[str]) -> list[list[Any]]:
    """Returns the rows of a run; none where the code cannot be imported, which the test says in other words."""
    try:
        return [json.loads(line) for line in lines]
    except ValueError:
        return []


def _read_calls(lines: Sequence[str]) -> list[Call]:
    found = {}
    for line in lines:
        try:
            call = read_call(json.loads(line))
        except (UnplainError, ValueError):
            continue
        found[call.key] = call
    return list(found.values())


# -- for people ---------------------------------------------------------------------------------------------------


def show_call(observation: Observation) -> str:
    """`f(3, "x")`, or `Cart(items=[1]).add(2)` of a method."""
    call, name = observation.call, observation.function.qualname
    positional = list(call.positional)
    shown = [f"{key}={show_value(value)}" for key, value in call.named.items()]
    if "." in name and positional and isinstance(positional[0], Instance):
        name = f"{show_value(positional.pop(0))}.{name.rpartition('.')[2]}"
    return f"{name}({', '.join([*map(show_value, positional), *shown])})"


def show_done(done: Done) -> str:
    """`7`, `raises KeyError`, `None, and changes its arguments`."""
    if done.kind == "raises":
        return f"raises {done.value}"
    value, *more = json.loads(done.trees)
    if not more:
        return "a long result"
    changed, printed = more
    also = [text for text, holds in (("changes its arguments", changed), (f"prints {printed!r}", printed)) if holds]
    return ", and ".join([_show_tree(value), *also])


def _show_tree(tree: Any) -> str:
    try:
        return show_value(read_value(tree))
    except UnplainError:
        if tree[0] == "iterator":
            return _cut(f"iterator over {_show_tree(['list', tree[1]])}")
        return _cut(str(tree[2]).rpartition(".")[2] + "(...)") if tree[0] == "object" else _cut(str(tree[-1]))


def show_value(value: Any) -> str:
    """The value as in a program, at most so long."""
    if isinstance(value, Instance):
        if not value.module:
            return value.qualname
        held = ", ".join(f"{name}={show_value(each)}" for name, each in value.attributes.items())
        return _cut(f"{value.qualname.rpartition('.')[2]}({held})")
    if type(value) is list:
        return _cut(f"[{', '.join(map(show_value, value))}]")
    return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
