"""One refine request from beginning to end: target, sandbox, baseline, regions, loop, acceptance, history.

The command line, the language server and the harness all call `refine` here; none of them knows more than its events.
It must not know who shows the events or who writes the result into the workspace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from greenloop.core.events import Event
from greenloop.core.nouns import Outcome, Problem, Target, Verdict
from greenloop.core.ports import Model, User
from greenloop.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a user asked for.

    `target` is a found target, or text as typed: a pytest node id, `file.py::function`, `file.py:LINE`.
    `buffers` are unsaved texts by workspace-relative path, encoded as they would be saved.
    """

    root: Path
    target: Target | str
    buffers: Mapping[str, bytes] = field(default_factory=dict)


async def refine(
    request: Request,
    *,
    settings: Settings,
    emit: Callable[[Event], None],
    say: Callable[[str], None] = lambda _text: None,
    user: User | None = None,
    model: Model | None = None,
) -> Outcome:
    """Runs the whole request. The last event is always `Finished`, also when cancelled (then `CancelledError` leaves).

    `say` gets one-line descriptions of what is going on now (opening the sandbox, running the tests unchanged, ...).
    `model` overrides the settings' model (the editor's own).
    Raises `UsageProblem` for a target that does not exist (with the nearest that do), `CannotVerify` when no sandbox
    or interpreter can be used, `ModelProblem` when the model cannot be reached.
    """
    raise NotImplementedError


async def reverify(problem: Problem, files: Mapping[str, bytes], *, settings: Settings) -> Verdict:
    """Runs the acceptance again over other texts (a merge with what was typed meanwhile)."""
    raise NotImplementedError


async def red_tests(root: Path, *, settings: Settings, say: Callable[[str], None] = lambda _text: None) -> list[str]:
    """Runs the suite in the sandbox, unchanged; returns the node ids that fail, in order."""
    raise NotImplementedError
