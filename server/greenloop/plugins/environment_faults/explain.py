"""Answers the port `project/environment/faults.py`: the first row of a table that applies to a failure is its fault."""

from __future__ import annotations

import re
from importlib.metadata import metadata, version
from pathlib import Path

from greenloop.plugins.environment_faults import collection, machine, packages, sandbox_limits
from greenloop.plugins.environment_faults.observation import ObservedFailure
from greenloop.plugins.environment_faults.rows import first_fault
from greenloop.project.environment.faults import Fault, ReadText
from greenloop_sandbox import Environment, Execution, Failure
from greenloop_sandbox.report.cases import last_stack

_MODULE = re.compile(r"(?:ModuleNotFoundError|ImportError): No module named '([\w.-]+)'")


def explain_failure(
    failure: Failure,
    environment: Environment,
    root: Path | None,
    network: bool,
    masked: tuple[str, ...],
    read_text: ReadText | None,
) -> Fault | None:
    """The fault of one failure.

    An error that the project's own code raises, or the values that an assertion compares, say little about the
    environment: only the rows that cannot be mistaken are read then.
    """
    observed = ObservedFailure(failure, environment, root, network, masked, read_text)
    rows = [*packages.PLUGIN_ROWS]
    if not observed.is_raised_by_project:
        rows += [*packages.ROWS, *machine.DISPLAY_ROWS]
        rows += machine.ROWS if not observed.is_assertion else []
    rows += sandbox_limits.VARIABLE_ROWS
    if not observed.is_raised_by_project and not observed.is_assertion:
        rows += sandbox_limits.ROWS
    return first_fault(rows, observed.message, observed, python=observed.python, version=observed.version)


def explain_start(execution: Execution, environment: Environment) -> Fault | None:
    """The fault of a run that collected nothing, by its output or the limit that stopped it."""
    frames = last_stack(execution)
    location = f" (at {frames[-1].path}:{frames[-1].line})" if frames else ""
    output = execution.output
    inifile = re.search(r"inifile: (\S+)", output)
    config_file = inifile[1].rpartition("/")[2] if inifile and inifile[1] != "None" else "pytest's configuration"
    fault = first_fault(
        collection.KILL_ROWS, execution.killed, output, seconds=f"{execution.seconds:.0f}", location=location
    )
    python = str(environment.executable)
    return fault or first_fault(collection.OUTPUT_ROWS, output, output, python=python, config_file=config_file)


def explain_broken_sandbox(reason: str, environment: Environment) -> Fault | None:
    """The fault behind a sandbox that could not start at all, if the interpreter lacks pytest."""
    if "pytest cannot be imported" not in reason:
        return None
    if not environment.has_pytest:
        python, own, needed = environment.executable, version("pytest"), metadata("pytest")["Requires-Python"]
        return Fault(
            sentence=f"{python} has no pytest, and greenloop's own ({own}) needs Python {needed}.",
            remedy=f"Install it there: {python} -m pip install pytest",
        )
    missing_module = _MODULE.search(reason)
    package = missing_module[1].partition(".")[0] if missing_module else "--force-reinstall pytest"
    return Fault(sentence=reason, remedy=f"Install it there: {environment.executable} -m pip install {package}")
