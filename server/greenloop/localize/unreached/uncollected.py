"""Says why pytest collected no test, where the user has to see to that first."""

from __future__ import annotations

from greenloop.core.errors import CannotVerifyError
from greenloop.localize.context import BaselineContext
from greenloop.localize.missing.unfillable import refuse_at_import
from greenloop.localize.unreached.broken_pytest import explain_broken_pytest, is_pytest_broken
from greenloop_sandbox import Execution
from greenloop_sandbox.report.cases import collect_errors

COLLECT = "Fix that first: pytest has to be able to collect the test."
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
        raise CannotVerifyError(
            f"{path} cannot be collected by pytest: {failure.type}: {failure.message}{location}.",
            remedy=CIRCULAR if "partially initialized module" in failure.message else COLLECT,
        )
    if is_pytest_broken(execution):
        command = f"{context.place.environment.executable} -m pytest {context.target.path}"
        raise explain_broken_pytest(execution.output, context.snapshot.root, command)
