"""Whether properties can be tried here at all: Hypothesis must run in the sandbox, and make values of every strategy.

It runs once, before any candidate, with the user's own code, of which nothing is called.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.nouns import Execution, Problem, Provenance, Region, Run
from greenloop.core.ports import Tools
from greenloop.core.records import collect_errors, collected, end_of, results
from greenloop.core.sheet import Check, sheet
from greenloop.core.verdict import forged
from greenloop.specs import _trials
from greenloop.specs._values import Values

KIND = "values"
EXAMPLES = 5
SECONDS = 60.0
LONGEST = 200  # characters of somebody else's reason
_IMPORTING = ("ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError", "NameError")


async def doubt(values: Sequence[Values], region: Region, module: str, problem: Problem, tools: Tools) -> str:
    """Why properties cannot be tried, in one sentence; empty when they can."""
    settings = _trials.SETTINGS.replace(f"max_examples={_trials.EXAMPLES}", f"max_examples={EXAMPLES}")
    checks = [
        Check(
            body=f"repr({each.name})",
            line=region.start,
            provenance=Provenance.PROPERTY,
            imports=(_trials.HYPOTHESIS, _trials.NAMES),
            decorators=(settings, f"given({each.name}={each.strategy})"),
            parameters=each.name,
        )
        for each in values
    ]
    probe = sheet(region, module, KIND, checks)
    files = {**problem.buffers, **{path: text.encode() for path, text in {**problem.files, **probe.files}.items()}}
    execution = await tools.session.run(Run(selectors=probe.selectors, files=files, seconds=SECONDS))
    if why := _stopped(execution):
        return f"Properties are not tried, because Hypothesis does not run here: {why}."
    told = {each.id: each for each in results(execution)}
    without = []
    for value, case in zip(values, probe.cases, strict=True):
        failure = told[case.id].failure if case.id in told else None
        # A module that cannot be imported says nothing about values, and fails every test later on.
        if failure is not None and failure.type not in _IMPORTING:
            without.append(value.name)
    return no_values(without)


def no_values(names: Sequence[str]) -> str:
    """The doubt about parameters for which there are no values; empty without any."""
    listed = " and ".join(f"`{name}`" for name in names)
    return f"No values can be made up for {listed}, so no properties are tried." if names else ""


def _stopped(execution: Execution) -> str:
    """Why the probe could not run, as far as anybody knows."""
    if execution.broken or forged(execution):
        return _short(execution.broken or forged(execution))
    if errors := collect_errors(execution):
        return _short(errors[0].failure.message or errors[0].failure.type)
    return "" if collected(execution) and not execution.killed else end_of(execution) or "no test was collected"


def _short(text: str) -> str:
    return " ".join(text.split())[:LONGEST].rstrip(". ")
