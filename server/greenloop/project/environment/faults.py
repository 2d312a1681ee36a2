"""Recognises failures that no candidate can fix: the tests' environment lacks something.

Each fault is one sentence and one remedy. Plugins know them: an entry point of the group `greenloop.environment_faults`
names a module with `explain_failure(failure, environment, root, network, masked, read_text)`,
`explain_start(execution, environment)` and `explain_broken_sandbox(reason, environment)`, each of which returns a
`Fault` or None. Errors of the code itself must never be blamed on the environment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.core import entry_points
from greenloop_sandbox import Environment, Execution, Failure, collected_cases

ReadText = Callable[[str], str | None]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One sentence saying what the environment lacks, and the remedy."""

    sentence: str
    remedy: str


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
    surroundings = (environment, root, network, tuple(masked), read_text)
    faults = [_explain("explain_failure", failure, *surroundings) for failure in failures]
    return faults[0] if faults and all(faults) else None


def explain_start(execution: Execution, environment: Environment) -> Fault | None:
    """The fault of a run that collected nothing, if its output or the limit that stopped it explains it."""
    return None if collected_cases(execution) else _explain("explain_start", execution, environment)


def explain_broken_sandbox(reason: str, environment: Environment) -> Fault | None:
    """The fault behind a sandbox that could not start at all."""
    return _explain("explain_broken_sandbox", reason, environment)


def failure_message(failure: Failure) -> str:
    """The exception's message, taken from pytest's rendering if the runner reported nothing else."""
    if failure.message:
        return failure.message
    return "\n".join(re.findall(r"^E +(.*)$", failure.text, re.MULTILINE))


def _explain(question: str, *details: object) -> Fault | None:
    """The first fault that a plugin answers."""
    plugins = entry_points.load_all(entry_points.ENVIRONMENT_FAULTS)
    return next(filter(None, (getattr(plugin, question)(*details) for plugin in plugins)), None)
