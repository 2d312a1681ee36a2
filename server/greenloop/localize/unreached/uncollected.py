"""Says why pytest collected no test, where the user has to see to that first."""

from __future__ import annotations

import re
from pathlib import Path

from greenloop.core.errors import CannotVerifyError
from greenloop.localize.context import BaselineContext
from greenloop.localize.unwritten import refuse_at_import
from greenloop_sandbox import Execution
from greenloop_sandbox.report.cases import collect_errors, collected_cases, records_of_kind

INTERNAL_ERROR = 3  # pytest's exit status
_ROW = re.compile(r"^INTERNALERROR> ?(.*)$", re.MULTILINE)
_FRAME = re.compile(r'^\s+File "([^"<]+)", line (\d+)')
_LIBRARIES = ("site-packages", "dist-packages", "importlib")
_BANNER = re.compile(r"[=\s]*$|=+ .* =+$")
COLLECT = "Fix that first: pytest has to be able to collect the test."
LOAD_TESTS = (
    "pytest does not call `load_tests`: write its cases as methods whose names begin with `test`, several values with"
    " `self.subTest`."
)
CIRCULAR = (
    "Two modules import each other: import one of them inside the functions that use it, or move what both need into a"
    " third one."
)


def refuse_uncollected(context: BaselineContext, execution: Execution) -> None:
    """Raises `CannotVerifyError` where a test file cannot be collected, or pytest ended before it collected any."""
    for error in collect_errors(execution):
        path, failure = error.id.partition("::")[0], error.failure
        refuse_at_import([failure], path, context.snapshot.text, context.patterns)
        location = next((f" ({frame.path}:{frame.line})" for frame in reversed(failure.frames)), "")
        remedy = CIRCULAR if "partially initialized module" in failure.message else COLLECT
        if "def load_tests(" in (context.snapshot.text(path) or ""):
            remedy = LOAD_TESTS
        raise CannotVerifyError(
            f"{path} cannot be collected by pytest: {failure.type}: {failure.message}{location}.", remedy=remedy
        )
    refuse_broken_pytest(context, execution)


def refuse_broken_pytest(context: BaselineContext, execution: Execution) -> None:
    """Raises `CannotVerifyError` where pytest ended by an error of its own before any test ran."""
    if is_pytest_broken(execution):
        command = f"{context.place.environment.executable} -m pytest {context.target.path}"
        raise explain_broken_pytest(execution.output, context.snapshot.root, command)


def is_pytest_broken(execution: Execution) -> bool:
    """Did pytest end before any test ran, by an error of its own or not to its end?"""
    if collected_cases(execution):
        return execution.status == INTERNAL_ERROR and not any(records_of_kind(execution, "phase"))
    return execution.status == INTERNAL_ERROR or not any(records_of_kind(execution, "finished"))


def explain_broken_pytest(output: str, root: Path, command: str) -> CannotVerifyError:
    """The error to raise; `command` runs pytest as greenloop does. Code that ends the process at import is named."""
    rows = _ROW.findall(output)
    error = next((row for row in reversed(rows) if row.strip()), "")
    if error.startswith("SystemExit"):
        place = _last_place(rows, root)
        path, _colon, _line = place.rpartition(":")
        return CannotVerifyError(
            f"Importing {path} ends the process: {error} ({place}).",
            remedy='Put what ends the program below `if __name__ == "__main__":`.',
        )
    others = [row for row in output.strip().splitlines() if not _BANNER.match(row)]
    words = error or (others[-1].strip() if others else "no output")
    return CannotVerifyError(f"pytest stopped before any test ran: {words}", remedy=f"See whether `{command}` works.")


def _last_place(rows: list[str], root: Path) -> str:
    """The innermost line of the workspace in a traceback, as `path:line`."""
    frames = [match for row in rows if (match := _FRAME.match(row))]
    own = [match for match in frames if not any(name in Path(match[1]).parts for name in _LIBRARIES)]
    if not own:
        return "the tests"
    path = Path(own[-1][1])
    return f"{path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name}:{own[-1][2]}"
