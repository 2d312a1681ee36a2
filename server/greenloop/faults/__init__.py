"""Failures that no candidate can cure: a package, program, service or file that the tests' environment lacks.

Each is one sentence and one remedy. What the code itself got wrong must never be called the environment's fault:
an exception that the workspace's own code raises, a module that it misspells, a name that it looks up in vain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from greenloop.core.nouns import Environment, Failure
from greenloop.faults import machine, packages, walls
from greenloop.faults.declared import is_third_party as is_third_party
from greenloop.faults.seen import Fault as Fault
from greenloop.faults.seen import Seen, TextOf
from greenloop.faults.seen import said as said
from greenloop.faults.start import broken as broken
from greenloop.faults.start import start_fault as start_fault

_CHECKS = (packages.check, machine.check, walls.check)


def environment_fault(
    failures: Iterable[Failure],
    environment: Environment,
    *,
    root: Path | None = None,
    network: bool = False,
    masked: Sequence[str] = (),
    text_of: TextOf | None = None,
) -> Fault | None:
    """The fault when every failure comes from the environment, else None.

    Ask `missing` first: a module that is still to be written looks like one that is not installed.
    With the `root`, a module that the workspace has is no missing package; `text_of` gives its texts, unsaved ones
    included. `network`: the sandbox lets tests reach the network; `masked`: names of files that are hidden from them.
    """
    found = []
    for failure in failures:
        seen = Seen(
            failure=failure, environment=environment, root=root, network=network, masked=tuple(masked), text_of=text_of
        )
        found.append(next((fault for check in _CHECKS if (fault := check(seen))), None))
    return found[0] if found and all(found) else None
