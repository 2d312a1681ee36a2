"""Limits that the setting `spec.constraints` puts on a candidate's text; nothing of it runs.

`collect` makes a case of each limit and region, `judge` says of composed texts which of them hold.
ruff reads the text from its standard input, without any configuration; one that lies in the workspace is never started.
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

from greenloop.core.constraints import RUFF, Constraint, Fault, faults, parse, sentence
from greenloop.core.diff import flat
from greenloop.core.errors import CannotVerify, SettingsProblem
from greenloop.core.nouns import Case, CaseResult, Failure, Frame, Problem, Provenance, Region, Spec
from greenloop.core.ports import Tools
from greenloop.core.subject import Subject, name_line, subject

SECONDS = 30.0  # that ruff may take for one text
TYPE = "Constraint"


async def collect(problem: Problem, tools: Tools) -> Spec:
    """Raises `SettingsProblem` for a word that is no constraint, `CannotVerify` where ruff is wanted and missing."""
    wanted = parse(tools.options.get("constraints", ()))
    for each in wanted:
        if each.word == RUFF:  # a wrong selector is the user's to know before any model is asked
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
        for each in wanted
    )
    return Spec(cases=cases)


async def judge(problem: Problem, files: Mapping[str, str], tools: Tools) -> Sequence[CaseResult]:
    """A result for each case of `collect`; `files` are a candidate's composed texts."""
    wanted = parse(tools.options.get("constraints", ()))
    return [await _judged(problem, region, each, files) for region in problem.regions for each in wanted]


async def _judged(problem: Problem, region: Region, constraint: Constraint, files: Mapping[str, str]) -> CaseResult:
    mine = subject(problem, region, files)
    return _result(region, constraint, None if mine is None else await _faults(problem, constraint, mine))


async def _faults(problem: Problem, constraint: Constraint, mine: Subject) -> Sequence[Fault]:
    if constraint.word != RUFF or not mine.judged:
        return faults(constraint, mine)
    before = flat(problem.files[mine.region.path])
    own = Counter(_told(each, before) for each in await _ruff(problem, constraint, before, mine.region.path))
    spans = [range(_first(node), (node.end_lineno or node.lineno) + 1) for node in mine.judged]
    new = []
    for each in await _ruff(problem, constraint, mine.text, mine.region.path):
        told = _told(each, mine.text)
        own[told] -= 1
        if own[told] < 0 and any(each.line in span for span in spans):
            new.append(each)
    return new


def _first(node: ast.stmt) -> int:
    lines: list[int] = [node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))]
    return min(lines)


def _told(fault: Fault, text: str) -> tuple[str, str]:
    """A fault apart from where it stands: what is said, and of which line."""
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
    """What ruff's chosen rules say of a text. Raises `CannotVerify` without ruff, `SettingsProblem` for a bad rule."""
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
        raise CannotVerify(f"ruff took longer than {SECONDS:g} s for {path}.", remedy="Leave `ruff` out.") from error
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    try:
        told = json.loads(out) if process.returncode == 0 else None
    except ValueError:
        told = None
    if not isinstance(told, list):
        rows = [row.strip() for row in err.decode("utf-8", "replace").split("\n") if row.strip()]
        why = rows[-1].removeprefix("Cause: ").removeprefix("error: ").rstrip(".") if rows else "it gave no answer"
        raise SettingsProblem(
            f"The constraint '{constraint.source}' cannot be checked by ruff: {why}.",
            remedy="Name rules or their groups, such as `ruff E,F,B`.",
        )
    return [_fault(each) for each in told if isinstance(each, Mapping) and _is_rule(each)]


def _is_rule(told: Mapping[str, object]) -> bool:
    """What does not parse is somebody else's to say."""
    return isinstance(told.get("code"), str) and told["code"] != "invalid-syntax"


def _fault(told: Mapping[str, object]) -> Fault:
    place = told.get("location")
    line = int(place.get("row", 1)) if isinstance(place, Mapping) else 1
    return Fault(message=f"{told['code']}: {str(told.get('message', '')).strip().rstrip('.')}.", line=line)


def _program(root: Path) -> str:
    """The one beside greenloop's own Python, else on the PATH, where it does not lie in the workspace."""
    if beside := shutil.which("ruff", path=str(Path(sys.executable).parent)):
        return beside
    found = shutil.which("ruff")
    if found and not any(path.is_relative_to(root) for path in (Path(found).absolute(), Path(found).resolve())):
        return str(Path(found).absolute())
    raise CannotVerify(
        "The constraint `ruff` needs ruff, and there is none outside the workspace.",
        remedy=f"Install it: {sys.executable} -m pip install ruff",
    )
