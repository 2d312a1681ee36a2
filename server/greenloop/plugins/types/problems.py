"""Runs the project's type checker in a sandbox, and reads the errors that it reports."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from greenloop.core.errors import CannotVerifyError
from greenloop.plugins.types.checkers import Checker
from greenloop_sandbox import Failure, Session, TestRun, case_results
from greenloop_sandbox.report.cases import collect_errors, describe_end

FILE = "type_check_by_greenloop.py"  # exists in the sandbox alone
CASE = f"{FILE}::test_types"
FAILED = "TypeCheckerFailed"  # the failure where the checker itself has failed


@dataclass(frozen=True, kw_only=True)
class TypeProblem:
    """An error of a type checker: its place, and its message with the name of the rule."""

    path: str
    line: int
    text: str

    @property
    def key(self) -> str:
        """Its text wherever in the file it stands."""
        return f"{self.path}: {self.text}"

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


def check_text(checker: Checker, paths: Sequence[str] = (), known: Sequence[TypeProblem] = ()) -> str:
    """The test that nothing but the known errors is reported for these paths."""
    values = {
        "CHECKER": repr(checker.name),
        "PATHS": repr([] if checker.has_paths else [*paths] or ["."]),
        "KNOWN": repr([each.key for each in known]),
    }
    rows = _template().split("\n")
    for number, row in enumerate(rows):
        name = row.partition(" = ")[0].partition(":")[0]
        rows[number] = f"{name} = {values[name]}" if name in values else row
    return "\n".join(rows)


async def list_problems(
    session: Session, checker: Checker, files: Mapping[str, bytes], *, paths: Sequence[str] = (), seconds: float
) -> list[TypeProblem]:
    """Returns the errors that the checker reports with these files laid over the workspace.

    Raises `CannotVerifyError` where it does not run to its end.
    """
    text = check_text(checker, paths).replace("def list_errors(", "def test_list(")
    run = TestRun(selectors=(f"{FILE}::test_list",), files={**files, FILE: text.encode()}, seconds=seconds)
    execution = await session.run(run)
    failures = [result.failure for result in case_results(execution) if result.failure]
    failures += [error.failure for error in collect_errors(execution)]
    found = []
    for failure in failures:
        if failure.type == "AssertionError" and failure.message.startswith("["):
            found += [TypeProblem(path=path, line=line, text=text) for path, line, text in json.loads(failure.message)]
        else:
            raise failed(checker, failure, seconds)
    if execution.killed or execution.broken or not any(result.passed for result in case_results(execution)):
        raise failed(checker, None, seconds, execution.broken or describe_end(execution))
    return found


def failed(checker: Checker, failure: Failure | None, seconds: float, end: str = "") -> CannotVerifyError:
    """The error to raise where the checker itself fails."""
    reason = failure.message.split("\n")[0] if failure else end
    reason = reason.strip().rstrip(".") or f"{checker.name} gave no answer"
    return CannotVerifyError(
        f"The types cannot be checked: {reason}.",
        remedy=f"Run `python -m {checker.name}` in the project; if it takes longer than {seconds:g} s, "
        "set `sandbox.longest`.",
    )


@cache
def _template() -> str:
    return (Path(__file__).parent / "type_check.py").read_text(encoding="utf-8")
