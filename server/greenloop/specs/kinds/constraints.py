"""Checks the limits of the setting `spec.constraints` on a candidate's text, without running it.

`collect` makes a case of each limit and region; `judge` checks which of them hold for composed texts.
ruff reads the text from standard input without any configuration; a ruff inside the workspace is never started.
"""

from __future__ import annotations

import ast
import asyncio
import json
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from greenloop.core.errors import CannotVerifyError, SettingsError
from greenloop.core.ports import Tools
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.records.verdict import CaseResult, Failure, Frame
from greenloop.core.text.diff import with_plain_ends
from greenloop.specs.changed_code import Subject, name_line, subject
from greenloop.specs.limits import RUFF, Constraint, Fault, faults, parse, sentence

SECONDS = 30.0  # time limit of ruff for one text
TYPE = "Constraint"


async def collect(problem: Problem, tools: Tools) -> Spec:
    """Raises `SettingsError` for an unknown constraint, `CannotVerifyError` where ruff is needed and missing."""
    limits = parse(tools.options.get("constraints", ()))
    for each in limits:
        if each.word == RUFF:  # report a wrong selector before any model is asked
            await _ruff(problem, each, "", "empty.py")
    cases = tuple(
        Case(
            id=_id(region, each),
            path=region.path,
            line=name_line(problem, region),
            provenance=Provenance.CONSTRAINT,
            confirmed=True,
            source=each.source,
        )
        for region in problem.regions
        for each in limits
    )
    return Spec(cases=cases)


async def judge(problem: Problem, files: Mapping[str, str], tools: Tools) -> Sequence[CaseResult]:
    """A result for each case of `collect`; `files` are a candidate's composed texts."""
    limits = parse(tools.options.get("constraints", ()))
    return [await _judged(problem, region, each, files) for region in problem.regions for each in limits]


async def _judged(problem: Problem, region: Region, constraint: Constraint, files: Mapping[str, str]) -> CaseResult:
    changed = subject(problem, region, files)
    return _result(region, constraint, None if changed is None else await _faults(problem, constraint, changed))


async def _faults(problem: Problem, constraint: Constraint, mine: Subject) -> Sequence[Fault]:
    if constraint.word != RUFF or not mine.judged:
        return faults(constraint, mine)
    original_text = with_plain_ends(problem.files[mine.region.path])
    original_counts = Counter(
        _told(each, original_text) for each in await _ruff(problem, constraint, original_text, mine.region.path)
    )
    spans = [range(_first(node), (node.end_lineno or node.lineno) + 1) for node in mine.judged]
    new_violations = []
    for each in await _ruff(problem, constraint, mine.text, mine.region.path):
        key = _told(each, mine.text)
        original_counts[key] -= 1
        if original_counts[key] < 0 and any(each.line in span for span in spans):
            new_violations.append(each)
    return new_violations


def _first(node: ast.stmt) -> int:
    lines: list[int] = [node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))]
    return min(lines)


def _told(fault: Fault, text: str) -> tuple[str, str]:
    """Identifies a violation regardless of its position: the message and the text of its line."""
    rows = text.split("\n")
    return fault.message, rows[fault.line - 1].strip() if 0 < fault.line <= len(rows) else ""


def _id(region: Region, constraint: Constraint) -> str:
    return f"{region.path}::{region.qualname}::constraint-{constraint.word}"


def _result(region: Region, constraint: Constraint, found: Sequence[Fault] | None) -> CaseResult:
    if found is None:
        said = f"{region.path} does not parse, so that `{constraint.source}` cannot be judged."
        found = [Fault(message=said, line=region.start)]
    if not found:
        return CaseResult(id=_id(region, constraint), outcome="passed")
    message = sentence(found)
    frames = tuple(Frame(path=region.path, line=each.line, function=region.qualname) for each in reversed(found[:3]))
    failure = Failure(type=TYPE, message=message, frames=frames, text=message)
    return CaseResult(id=_id(region, constraint), outcome="failed", failure=failure)


# -- ruff -----------------------------------------------------------------------------------------------------------


async def _ruff(problem: Problem, constraint: Constraint, text: str, path: str) -> list[Fault]:
    """Runs ruff's selected rules over a text.

    Raises `CannotVerifyError` without ruff, `SettingsError` for a bad rule.
    """
    program = _program(problem.root)
    process = await asyncio.create_subprocess_exec(
        *(program, "check", "--isolated", "--no-cache", "--no-fix", "--quiet", "--exit-zero"),
        *(
            f"--select={','.join(constraint.values)}",
            "--output-format",
            "json",
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
        error_rows = [row.strip() for row in err.decode("utf-8", "replace").split("\n") if row.strip()]
        reason = (
            error_rows[-1].removeprefix("Cause: ").removeprefix("error: ").rstrip(".")
            if error_rows
            else "it gave no answer"
        )
        raise SettingsError(
            f"The constraint '{constraint.source}' cannot be checked by ruff: {reason}.",
            remedy="Name rules or their groups, such as `ruff E,F,B`.",
        )
    return [_fault(each) for each in output if isinstance(each, Mapping) and _is_rule(each)]


def _is_rule(told: Mapping[str, object]) -> bool:
    """Is it a rule's result? Syntax errors are reported elsewhere."""
    return isinstance(told.get("code"), str) and told["code"] != "invalid-syntax"


def _fault(told: Mapping[str, object]) -> Fault:
    location = told.get("location")
    line = int(location.get("row", 1)) if isinstance(location, Mapping) else 1
    return Fault(message=f"{told['code']}: {str(told.get('message', '')).strip().rstrip('.')}.", line=line)


def _program(root: Path) -> str:
    """The ruff next to greenloop's own Python, else one on the PATH and outside the workspace."""
    if own_ruff := shutil.which("ruff", path=str(Path(sys.executable).parent)):
        return own_ruff
    path_ruff = shutil.which("ruff")
    if path_ruff and not any(
        path.is_relative_to(root) for path in (Path(path_ruff).absolute(), Path(path_ruff).resolve())
    ):
        return str(Path(path_ruff).absolute())
    raise CannotVerifyError(
        "The constraint `ruff` needs ruff, and there is none outside the workspace.",
        remedy=f"Install it: {sys.executable} -m pip install ruff",
    )
