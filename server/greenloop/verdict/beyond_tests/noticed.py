"""A check of passes: which one-token changes of the changed lines would the tests that newly pass notice?

It speaks against no pass, so a result does not wait for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from greenloop.core.feature_data import Remark, Shown
from greenloop.core.records.outcome import Noticed
from greenloop.core.test_selection import selectors_of_files
from greenloop.core.text.diff import with_plain_ends
from greenloop.core.text.json_codec import from_json, to_json
from greenloop.verdict.beyond_tests import mutation_testing
from greenloop.verdict.beyond_tests.changed_parts import changed_lines, find_changed_parts
from greenloop.verdict.beyond_tests.checks import Findings, Pass

IS_LATE = True
MUTANT_SECONDS = 4.0  # of wall time for all one-token changes
MOST_MUTANTS = 24
NAMED = 3  # survivors in a sentence


async def look(passed: Pass) -> Findings:
    """Measures it, unless that takes too long, or nothing has to be noticed. Raises `SandboxBrokenError`."""
    own, inputs, least = passed.own, passed.inputs, passed.options["verify.noticed"]
    changed = {path: text for path, text in passed.new.items() if path.endswith(".py") and own.get(path, text) != text}
    parts = find_changed_parts(own, changed)
    if not least or not parts or passed.verdict.seconds > MUTANT_SECONDS:
        return Findings()
    run = replace(inputs.test_run(passed.files), selectors=selectors_of_files(passed.selectors))
    lines = {path: changed_lines(with_plain_ends(own[path]), with_plain_ends(text)) for path, text in changed.items()}
    found = await mutation_testing.measure(
        inputs, passed.session, run, changed, parts, lines=lines, seconds=MUTANT_SECONDS, most=MOST_MUTANTS
    )
    return Findings(data=to_json(replace(found, least=least)))


def show(data: Mapping[str, Any]) -> Shown:
    """Shows the changes that the tests would also accept, and that they notice little where they do."""
    noticed = from_json(Noticed, data)
    counted = f"notice {noticed.killed} of {noticed.tried} one-token changes of it"
    sentence = f"its tests {counted if noticed.tried else 'reach none of its changed lines'}"

    def survivors(most: int) -> list[str]:
        rows = [f"{each.change}, {each.path}:{each.line}" for each in noticed.survivors[:most]]
        return rows + [f"anything in {path}:{line}, which they never reach" for path, line in noticed.unreached[:most]]

    remarks = [
        Remark(rule="unnoticed", message=f"The tests would also accept {each.change}.", path=each.path, line=each.line)
        for each in noticed.survivors
    ]
    also = f"{sentence}; they also accept" if survivors(1) else ""
    return Shown(
        fields={"noticed": data},
        weakness=sentence if noticed.is_little else "",
        notes=[f"{also.capitalize()} {'; '.join(survivors(NAMED))}"] if also else (),
        report=lambda most: [f"{also}:", *(f"  {each}" for each in survivors(most))] if also else (),
        remarks=remarks,
    )
