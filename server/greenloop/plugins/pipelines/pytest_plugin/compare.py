"""Runs the tests of a pytest session again in the sandbox, and prints which outcomes differ.

It is a program: the request comes as JSON on standard input, and the sentences go to standard error.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from greenloop.api.settings import load_settings
from greenloop.api.testing import SuiteReport, run_tests
from greenloop.core.errors import GreenloopError
from greenloop.core.text.redact import clean_for_display
from greenloop_sandbox.report.cases import case_result

MAX_LISTED = 50


def main() -> int:
    """Returns 0; a difference is information, and so is a sandbox that cannot be used."""
    request = json.load(sys.stdin)
    try:
        report = asyncio.run(_run(Path(request["root"]), request["python"], [*request["phases"]]))
    except GreenloopError as error:
        _print(f"greenloop: the sandbox cannot say what these tests do: {error.advice}")
        return 0
    except KeyboardInterrupt:
        _print("greenloop: cancelled.")
        return 0
    for line in describe(host_outcomes(request["phases"]), report):
        _print(line)
    return 0


async def _run(root: Path, python: str, cases: Sequence[str]) -> SuiteReport:
    settings, warnings = load_settings(root, {"interpreter": python})
    for sentence in warnings:
        _print(f"greenloop: warning: {sentence}")
    return await run_tests(root, cases, settings=settings)


def host_outcomes(phases: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, str]:
    """The outcome of each test that was run, by the rules that judge the sandbox's report."""
    return {case: case_result(case, list(each)).outcome for case, each in phases.items()}


def describe(host: Mapping[str, str], report: SuiteReport) -> Iterator[str]:
    """One line with the count, and one for each test whose outcome differs."""
    results = {result.id: result for result in report.results}
    broken = {error.id: error.failure for error in report.errors}
    differing = []
    for case, outcome in host.items():
        result = results.get(case)
        failure = result.failure if result is not None else broken.get(case.partition("::")[0])
        there = result.outcome if result is not None else "could not be imported" if failure else "did not run"
        if there != outcome:
            why = f": {failure.type}: {failure.message}".strip().splitlines()[0][:300] if failure else ""
            differing.append(f"  {case}: {outcome} here, {there} in the sandbox{why}")
    same = len(host) - len(differing)
    ending = f", {report.seconds:.1f} s" if not differing else ":"
    yield f"greenloop: {same} of {len(host)} outcomes are the same in the sandbox{ending}"
    yield from differing[:MAX_LISTED]
    if len(differing) > MAX_LISTED:
        yield f"  and {len(differing) - MAX_LISTED} more"


def _print(line: str) -> None:
    print(clean_for_display(line), file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
