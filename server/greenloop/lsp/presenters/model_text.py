"""Writes what the model of a run did: its name and kind, how much it was asked, its looks, what it left behind.

It must not know where this is shown.
"""

from __future__ import annotations

from greenloop.core.text.redact import clean_for_display
from greenloop.lsp.state.run import Run
from greenloop.wording.markup import code
from greenloop.wording.model import LOOKS, describe_model, describe_questions, list_looks
from greenloop.wording.notes import list_notes


def model_name(run: Run) -> str:
    """The model with its kind; empty before the run has begun."""
    return clean_for_display(describe_model(run.started.model, run.started.kind)) if run.started else ""


def describe_asked(run: Run) -> list[str]:
    """A sentence: `Model: openai/gpt-5.1 (capable), 1 question, 3 looks, 12,300 tokens.`; none before the start."""
    name = model_name(run)
    return [f"Model: {', '.join(filter(None, [code(name), describe_questions(run.attempts)]))}."] if name else []


def list_all_looks(run: Run, *, most: int = LOOKS) -> list[str]:
    """The first looks of a run, below the attempt that they came before; of the chosen attempt only its own."""
    parts = []
    left = most
    for number, looks in run.progress.looks_by_attempt.items():
        if run.view.chosen_attempt in (None, number) and left > 0:
            listed = "\n".join(f"- {code(row)}" for row in list_looks(looks, left))
            parts.append(f"Looks before attempt {number}:\n\n{listed}")
            left -= len(looks)
    return parts


def notes(run: Run) -> list[str]:
    """Lists points to check in the change of a solved run, a line each."""
    found = list_notes(run.outcome) if run.outcome is not None else ()
    return [f"Note: {code(note)}" for note in found]
