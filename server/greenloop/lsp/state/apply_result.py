"""Outcome of applying a result to the editor's text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ApplyResult:
    """Whether a result was applied, or the reason why it was not.

    `merged`: together with what the user typed meanwhile. `by_action`: the editor takes edits only from a code action.
    """

    applied: bool
    merged: bool = False
    reason: str = ""
    by_action: bool = False
