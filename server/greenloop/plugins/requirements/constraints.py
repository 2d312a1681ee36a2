"""Checks the limits of the setting `spec.constraints` on a candidate's text, without running it.

There is a case of each limit and region.
ruff reads the text from standard input without any configuration; a ruff inside the workspace is never started.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from greenloop.core.errors import CannotVerifyError, SettingsError
from greenloop.core.python.ast_source import start_line
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance, Region, Spec
from greenloop.core.records.verdict import Verdict
from greenloop.core.requirements import Requirement, Ruling, Start, Trial, region_case
from greenloop.core.text.diff import with_plain_ends
from greenloop.plugins.requirements.changed_code import ChangedCode, find_changed_code
from greenloop.plugins.requirements.limits import (
    RUFF,
    Constraint,
    Violation,
    find_violations,
    parse,
    violation_sentence,
)
from greenloop.project.environment.programs import find_tool
from greenloop_sandbox import CaseResult, Failure, Frame

SECONDS = 30.0  # time limit of ruff for one text
TYPE = "Constraint"
CONSTRAINT_ID = "constraint-"  # how the last part of a case's id begins


async def begin(start: Start) -> Requirement:
    """Raises `SettingsError` for an unknown constraint, `CannotVerifyError` where ruff is needed and missing."""
    limits, problem = parse(start.tools.options.get("spec.constraints", ())), start.problem
    for each in limits:
        if each.keyword == RUFF:  # report a wrong selector before any model is asked
            await _ruff(problem, each, "", "empty.py")
    cases = tuple(
        region_case(problem, region, CONSTRAINT_ID + each.keyword, Provenance.CONSTRAINT, each.source)
        for region in problem.regions
        for each in limits
    )
    said = "; ".join(dict.fromkeys(each.prompt_text for each in limits))
    return Requirement(
        name="constraints",
        judge=partial(_judge, limits),
        spec=Spec(cases=cases),
        instruction=f"Limits: {said}." if cases else "",
    )


async def _judge(limits: Sequence[Constraint], trial: Trial, _tests: Verdict) -> Ruling:
    """A result for each case, of the candidate's text."""
    results, problem = [], trial.problem
    for region in problem.regions:
        changed = find_changed_code(problem, region, trial.files)
        for each in limits:
            violations = None if changed is None else await _violations(problem, each, changed)
            results.append(_result(region, each, violations))
    return Ruling(results=results)


async def _violations(problem: Problem, constraint: Constraint, changed_code: ChangedCode) -> Sequence[Violation]:
    if constraint.keyword != RUFF or not changed_code.checked_nodes:
        return find_violations(constraint, changed_code)
    path = changed_code.region.path
    original_text = with_plain_ends(problem.files[path])
    original_violations = await _ruff(problem, constraint, original_text, path)
    original_counts = Counter(_violation_key(each, original_text) for each in original_violations)
    rows = changed_code.text.split("\n")
    spans = [range(start_line(node, rows), (node.end_lineno or 0) + 1) for node in changed_code.checked_nodes]
    new_violations = []
    for each in await _ruff(problem, constraint, changed_code.text, path):
        key = _violation_key(each, changed_code.text)
        original_counts[key] -= 1
        if original_counts[key] < 0 and any(each.line in span for span in spans):
            new_violations.append(each)
    return new_violations


def _violation_key(violation: Violation, text: str) -> tuple[str, str]:
    """Identifies a violation regardless of its position: the message and the text of its line."""
    rows = text.split("\n")
    return violation.message, rows[violation.line - 1].strip() if 0 < violation.line <= len(rows) else ""


def _id(region: Region, constraint: Constraint) -> str:
    return f"{region.path}::{region.qualname}::{CONSTRAINT_ID}{constraint.keyword}"


def _result(region: Region, constraint: Constraint, violations: Sequence[Violation] | None) -> CaseResult:
    if violations is None:
        said = f"{region.path} does not parse, so that `{constraint.source}` cannot be judged."
        violations = [Violation(message=said, line=region.start)]
    if not violations:
        return CaseResult(id=_id(region, constraint), outcome="passed")
    message = violation_sentence(violations)
    frames = tuple(
        Frame(path=region.path, line=each.line, function=region.qualname) for each in reversed(violations[:3])
    )
    failure = Failure(type=TYPE, message=message, frames=frames, text=message)
    return CaseResult(id=_id(region, constraint), outcome="failed", failure=failure)


# -- ruff -----------------------------------------------------------------------------------------------------------


async def _ruff(problem: Problem, constraint: Constraint, text: str, path: str) -> list[Violation]:
    """Runs ruff's selected rules over a text.

    Raises `CannotVerifyError` without ruff, `SettingsError` for a bad rule.
    """
    program = find_tool("ruff", problem.root)
    if program is None:
        raise CannotVerifyError(
            "The constraint `ruff` needs ruff, which was not found outside the workspace.",
            remedy=f"Install it: {sys.executable} -m pip install ruff",
        )
    options = ["--isolated", "--no-cache", "--no-fix", "--quiet", "--exit-zero", "--output-format=json"]
    process = await asyncio.create_subprocess_exec(
        *(
            program,
            "check",
            *options,
            f"--select={','.join(constraint.values)}",
            "--stdin-filename",
            Path(path).name,
            "-",
        ),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=Path(program).parent,
    )
    try:
        async with asyncio.timeout(SECONDS):
            out, err = await process.communicate(text.encode("utf-8", "replace"))
    except TimeoutError as error:
        raise CannotVerifyError(
            f"ruff took longer than {SECONDS:g} s for {path}.", remedy="Leave `ruff` out."
        ) from error
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    try:
        output = json.loads(out) if process.returncode == 0 else None
    except ValueError:
        output = None
    if not isinstance(output, list):
        last_row = err.decode("utf-8", "replace").strip().rpartition("\n")[2].strip()
        reason = last_row.removeprefix("Cause: ").removeprefix("error: ").rstrip(".") or "it gave no answer"
        raise SettingsError(
            f"The constraint '{constraint.source}' cannot be checked by ruff: {reason}.",
            remedy="Name rules or their groups, such as `ruff E,F,B`.",
        )
    return [violation for each in output if isinstance(each, Mapping) and (violation := _violation(each))]


def _violation(entry: Mapping[str, object]) -> Violation | None:
    """A rule's result; syntax errors are reported elsewhere."""
    code, location = entry.get("code"), entry.get("location")
    if not isinstance(code, str) or code == "invalid-syntax":
        return None
    line = int(location.get("row", 1)) if isinstance(location, Mapping) else 1
    return Violation(message=f"{code}: {str(entry.get('message', '')).strip().rstrip('.')}.", line=line)
