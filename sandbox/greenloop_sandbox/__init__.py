"""Runs pytest cases of a project behind a wall, and returns sealed records.

These names are the whole API; README.md shows a program. The package knows no model and no editor.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greenloop_sandbox.errors import CannotVerifyError, GreenloopError, SandboxBrokenError
    from greenloop_sandbox.loading import load_sandbox, own_environment
    from greenloop_sandbox.pool import SandboxPool
    from greenloop_sandbox.ports import Sandbox, SelectionSettings, Session
    from greenloop_sandbox.records import (
        Apart,
        Costs,
        Environment,
        Execution,
        Inspection,
        Limits,
        Probe,
        ProfiledLines,
        SandboxSpec,
        Service,
        TestRun,
        WatchedLines,
    )
    from greenloop_sandbox.report.cases import all_passed, case_results, collected_cases
    from greenloop_sandbox.report.forgery import forged
    from greenloop_sandbox.results import CaseResult, Failure, Frame

__all__ = (
    "Apart", "CannotVerifyError", "CaseResult", "Costs", "Environment", "Execution", "Failure", "Frame",
    "GreenloopError", "Inspection", "Limits", "Probe", "ProfiledLines", "Sandbox", "SandboxBrokenError", "SandboxPool",
    "SandboxSpec", "SelectionSettings", "Service", "Session", "TestRun", "WatchedLines", "all_passed",
    "case_results", "collected_cases", "forged", "load_sandbox", "own_environment",
)  # fmt: skip

_HOMES = {
    "CannotVerifyError": "errors", "GreenloopError": "errors", "SandboxBrokenError": "errors",
    "load_sandbox": "loading", "own_environment": "loading", "SandboxPool": "pool", "Sandbox": "ports",
    "SelectionSettings": "ports", "Session": "ports", "all_passed": "report.cases", "case_results": "report.cases",
    "collected_cases": "report.cases", "forged": "report.forgery", "CaseResult": "results", "Failure": "results",
    "Frame": "results",
}  # fmt: skip

# A program that needs the errors alone, such as `greenloop --version`, loads nothing else. Type checkers must not see
# this function: they would take every misspelt name for one of the package.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'records')}"), name)
        return value
