"""Evaluates an expression in a frame of the failing test."""

from __future__ import annotations

import ast

from greenloop.core.python.ast_source import UNPARSABLE
from greenloop.core.records.model import ToolSpec
from greenloop.plugins.conversations.looks._project import Arguments, LookError, ProjectView, text_argument
from greenloop_sandbox import Inspection
from greenloop_sandbox.report.cases import describe_end
from greenloop_sandbox.report.inspections import inspected_failures

LONGEST = 2000  # characters of an expression

SPEC = ToolSpec(
    name="evaluate",
    description="Evaluate a Python expression where the failing test stopped; in the sandbox, so it may call anything.",
    parameters={
        "type": "object",
        "properties": {
            "expression": {"type": "string"},
            "frame": {
                "type": "string",
                "description": "a function of the traceback, or path:line; empty: the innermost one of the project",
            },
            "test": {"type": "string", "description": "id of a failing test; empty: the first one"},
        },
        "required": ["expression"],
    },
)


async def look(arguments: Arguments, project: ProjectView) -> str:
    """Returns the value. Raises `LookError`."""
    expression = text_argument(arguments, "expression").strip()
    test = text_argument(arguments, "test", needed=False) or next(iter(project.failing), "")
    if not test:
        raise LookError("No test fails: there is no frame.")
    if len(expression) > LONGEST:
        raise LookError(f"`expression` may have {LONGEST} characters.")
    try:
        ast.parse(expression, mode="eval")
    except UNPARSABLE as error:
        raise LookError(f"That is not one expression: {error}.") from error
    frame = text_argument(arguments, "frame", needed=False).strip()
    wanted = Inspection(expressions=(expression,), frame=frame)
    execution = await project.run([project.selector(test)], wanted)
    failure = next(iter(inspected_failures(execution).values()), None)
    if failure is None:
        ended = describe_end(execution)
        why = f"There is no value: {ended}." if ended else f"{test} does not fail: there is no frame."
        raise LookError(execution.broken or why)
    return "\n".join(f"{asked} = {value}" if asked else value for asked, value in failure.values)
