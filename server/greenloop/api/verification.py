"""Verifies code: the working tree by a commit's tests, and other results where a plugin can.

An entry point of the group `greenloop.verify_targets` names a module with `add_arguments(parser)`, `find(arguments,
cwd)`, which returns a function for a target of its kind, and `replay(number, ...)` for a run of the history.
"""

from __future__ import annotations

from typing import Any

from greenloop.core import entry_points
from greenloop.core.errors import UsageError
from greenloop.engine.verify.known_failing import FILE
from greenloop.engine.verify.report import State, Tampering, Verification
from greenloop.engine.verify.report_json import result_json
from greenloop.engine.verify.setup import APART, Require, VerifyRequest
from greenloop.engine.verify.verify import verify
from greenloop.project.sandbox_selection import CLUSTER, load_back_end


def verify_targets() -> tuple[Any, ...]:
    """The installed modules that verify other results than the working tree."""
    return entry_points.load_all(entry_points.VERIFY_TARGETS)


async def replay(number: int, **options: Any) -> Verification:
    """Verifies the result of a past run again. Raises `UsageError` where no plugin can."""
    for module in verify_targets():
        result: Verification = await module.replay(number, **options)
        return result
    raise UsageError("Past runs cannot be verified here.", remedy="Install greenloop again, with its plugins.")
