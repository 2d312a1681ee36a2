"""The check of a pass: special cases for its tests, other results on other inputs, and signs of unfinished work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from greenloop.core.feature_data import Remark, Shown
from greenloop.core.records.verdict import Status
from greenloop.core.text.json_codec import to_json
from greenloop.plugins.function_calls.changed_functions import find_changed_functions
from greenloop.plugins.other_inputs import other_inputs
from greenloop.plugins.other_inputs.conditions import find_conditions
from greenloop.plugins.other_inputs.differences import Difference, choose_differences
from greenloop.plugins.other_inputs.other_inputs import Observation
from greenloop.plugins.other_inputs.special_casing import find_awareness, find_mocked_target, find_special_cases
from greenloop.plugins.other_inputs.unfinished import find_unfinished
from greenloop.project import sources
from greenloop.verdict.beyond_tests.checks import Findings, Pass

LONGEST_TESTS = 10.0  # seconds; slower tests are not run once more to see what they call


async def look(passed: Pass) -> Findings:
    """Runs the changed functions on other inputs, and looks for signs that the change is unfinished.

    Raises `SandboxBrokenError`.
    """
    inputs, session, verdict = passed.inputs, passed.session, passed.verdict
    own, new, files = passed.own, passed.new, passed.files
    functions = find_changed_functions(own, new)
    if sentence := find_mocked_target(functions, new):
        return Findings(failure=replace(verdict, status=Status.TAMPERED, reason=sentence))
    observations: Sequence[Observation] = ()
    conditions: tuple[str, ...] = ()
    if verdict.seconds <= LONGEST_TESTS and any(own.get(path, text) != text for path, text in new.items()):
        conditions = await find_conditions(inputs, session, files, passed.new_cases, own=own, new=new)
    if functions and verdict.seconds <= LONGEST_TESTS:
        observations = await other_inputs.observe(
            inputs, session, files, own=own, new=new, functions=functions, selectors=passed.selectors
        )
    if sentence := find_special_cases(observations, own, new) or find_awareness(observations):
        return Findings(failure=replace(verdict, status=Status.TAMPERED, reason=sentence))
    root = inputs.problem.root

    def elsewhere() -> Iterator[str]:
        return (sources.read_text(root, path) or "" for path in sources.python_files(root) if path not in new)

    unfinished = await asyncio.to_thread(find_unfinished, own, new, observations, elsewhere)
    differences = [to_json(each) for each in choose_differences(observations)]
    found = {"differences": differences, "doubts": [*unfinished, *conditions]}
    return Findings(data=found if any(found.values()) else {})


def show(data: Mapping[str, Any]) -> Shown:
    """The examples of other inputs, and the signs that the change is unfinished."""
    examples, signs = [Difference(**each) for each in data["differences"]], data["doubts"]
    head, unfinished = "Green, though is this wanted?", f"perhaps unfinished: {'; '.join(signs)}"
    notes = [f"{head} {'; '.join(map(str, examples))}, {each.path}:{each.line}" for each in examples[:1]]
    lines = [head.lower(), *(f"  {each} ({each.path}:{each.line})" for each in examples)] if examples else []
    return Shown(
        fields={"differences": data["differences"], "unfinished": signs},
        doubt=unfinished if signs else "",
        notes=[*notes, f"Green, and {unfinished}"] if signs else notes,
        report=lambda _most: [*lines, *(f"perhaps unfinished: {each}" for each in signs)],
        remarks=[
            Remark(rule="other-inputs", message=f"{head} {each}", path=each.path, line=each.line) for each in examples
        ],
    )
