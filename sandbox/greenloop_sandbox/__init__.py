"""Runs pytest cases of a project behind a wall, and returns sealed records.

These names are the whole API; README.md shows a program. The package knows no model and no editor.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greenloop_sandbox.errors import CannotVerifyError as CannotVerifyError
    from greenloop_sandbox.errors import GreenloopError as GreenloopError
    from greenloop_sandbox.errors import SandboxBrokenError as SandboxBrokenError
    from greenloop_sandbox.loading import load_sandbox as load_sandbox
    from greenloop_sandbox.loading import own_environment as own_environment
    from greenloop_sandbox.pool import SandboxPool as SandboxPool
    from greenloop_sandbox.ports import Sandbox as Sandbox
    from greenloop_sandbox.ports import SandboxSettings as SandboxSettings
    from greenloop_sandbox.ports import Session as Session
    from greenloop_sandbox.records import Apart as Apart
    from greenloop_sandbox.records import Costs as Costs
    from greenloop_sandbox.records import Environment as Environment
    from greenloop_sandbox.records import Execution as Execution
    from greenloop_sandbox.records import Inspection as Inspection
    from greenloop_sandbox.records import Limits as Limits
    from greenloop_sandbox.records import Probe as Probe
    from greenloop_sandbox.records import ProfiledLines as ProfiledLines
    from greenloop_sandbox.records import SandboxSpec as SandboxSpec
    from greenloop_sandbox.records import TestRun as TestRun
    from greenloop_sandbox.records import WatchedLines as WatchedLines
    from greenloop_sandbox.report.cases import all_passed as all_passed
    from greenloop_sandbox.report.cases import case_results as case_results
    from greenloop_sandbox.report.cases import collected_cases as collected_cases
    from greenloop_sandbox.report.forgery import forged as forged
    from greenloop_sandbox.results import CaseResult as CaseResult
    from greenloop_sandbox.results import Failure as Failure
    from greenloop_sandbox.results import Frame as Frame

__all__ = [
    "Apart",
    "CannotVerifyError",
    "CaseResult",
    "Costs",
    "Environment",
    "Execution",
    "Failure",
    "Frame",
    "GreenloopError",
    "Inspection",
    "Limits",
    "Probe",
    "ProfiledLines",
    "Sandbox",
    "SandboxBrokenError",
    "SandboxPool",
    "SandboxSettings",
    "SandboxSpec",
    "Session",
    "TestRun",
    "WatchedLines",
    "all_passed",
    "case_results",
    "collected_cases",
    "forged",
    "load_sandbox",
    "own_environment",
]

_MODULES = {
    "errors": (
        "CannotVerifyError",
        "GreenloopError",
        "SandboxBrokenError",
    ),
    "loading": (
        "load_sandbox",
        "own_environment",
    ),
    "pool": ("SandboxPool",),
    "ports": (
        "Sandbox",
        "SandboxSettings",
        "Session",
    ),
    "records": (
        "Apart",
        "Costs",
        "Environment",
        "Execution",
        "Inspection",
        "Limits",
        "Probe",
        "ProfiledLines",
        "SandboxSpec",
        "TestRun",
        "WatchedLines",
    ),
    "report.cases": (
        "all_passed",
        "case_results",
        "collected_cases",
    ),
    "report.forgery": ("forged",),
    "results": (
        "CaseResult",
        "Failure",
        "Frame",
    ),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

# A program that needs the errors alone, such as `greenloop --version`, loads nothing else. Type checkers must not see
# this function: they would take every misspelt name for one of the package.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        return value
