"""Recognises failures that no candidate can fix: the tests' environment lacks something.

Each fault is one sentence and one remedy. Errors of the code itself must never be blamed on the environment:
an exception that the workspace's own code raises, a misspelt module, a name that does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from greenloop.project.environment.faults import machine, packages, sandbox_limits
from greenloop.project.environment.faults.collection import explain_broken_sandbox as explain_broken_sandbox
from greenloop.project.environment.faults.collection import explain_start as explain_start
from greenloop.project.environment.faults.declared_dependencies import is_third_party as is_third_party
from greenloop.project.environment.faults.observation import ObservedFailure, ReadText
from greenloop.project.environment.faults.observation import failure_message as failure_message
from greenloop.project.environment.faults.rows import Fault as Fault
from greenloop.project.environment.faults.rows import first_fault
from greenloop_sandbox import Environment, Failure


def find_environment_fault(
    failures: Iterable[Failure],
    environment: Environment,
    *,
    root: Path | None = None,
    network: bool = False,
    masked: Sequence[str] = (),
    read_text: ReadText | None = None,
) -> Fault | None:
    """The fault if every failure comes from the environment, else None.

    Call `localize.missing_names` first: a module that is still to be written looks like one that is not installed.
    With `root`, a module that exists in the workspace is not a missing package; `read_text` reads its files, unsaved
    texts included. `network`: the sandbox allows network access; `masked`: patterns of files hidden from tests.
    """
    faults = [
        _find_fault(ObservedFailure(failure, environment, root, network, tuple(masked), read_text))
        for failure in failures
    ]
    return faults[0] if faults and all(faults) else None


def _find_fault(observed: ObservedFailure) -> Fault | None:
    # An error that the project's own code raises, or the values that an assertion compares, say little about the
    # environment: only the rows that cannot be mistaken are read then.
    rows = [*packages.PLUGIN_ROWS]
    if not observed.is_raised_by_project:
        rows += [*packages.ROWS, *machine.DISPLAY_ROWS]
        rows += machine.ROWS if not observed.is_assertion else []
    rows += sandbox_limits.VARIABLE_ROWS
    if not observed.is_raised_by_project and not observed.is_assertion:
        rows += sandbox_limits.ROWS
    return first_fault(rows, observed.message, observed, python=observed.python, version=observed.version)
