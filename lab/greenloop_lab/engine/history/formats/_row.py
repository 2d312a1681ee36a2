"""Columns of the rows of all formats: the run, and the difficulty of its target."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from greenloop_lab.engine.history.trajectories import Message, Step, Trajectory

VERSION = 1


def column(doc: str) -> Any:
    """A documented column."""
    return field(metadata={"doc": doc})


@dataclass(frozen=True, kw_only=True)
class Template:
    """A template of a prompt."""

    name: str = column("its name, as in the folder of prompts")
    hash: str = column("the first 12 hex digits of its SHA-256")


@dataclass(frozen=True, kw_only=True)
class Row:
    """The columns of every row."""

    kind: str = column("the format")
    version: int = column("the version of the format")
    source: str = column("history, or bench for results of the harness")
    run: str = column("the number in the history, or arm, task and repeat of the harness")
    project: str = column("tells workspaces apart; empty for the harness")
    target: str = column("the test or function, or the task of the harness")
    model: str = column("the model of the run")
    preset: str = column("the preset of the run")
    solved: bool = column("the run was solved")
    verified: bool = column("the result was fully verified")
    attempts_needed: int | None = column("answers of models up to the accepted one; null: none was accepted")
    target_runs: int = column("runs of the same target that ended")
    target_solve_rate: float | None = column("the share of these that solved it; null: none ended")
    error_class: str = column("the error that the row is about; empty: none")


def head(run: Trajectory, kind: str, error_class: str) -> dict[str, Any]:
    """The values of the columns of every row."""
    return {
        "kind": kind,
        "version": VERSION,
        "source": run.source,
        "run": run.id,
        "project": "" if run.task else run.root,
        "target": run.task or run.target,
        "model": run.model,
        "preset": run.preset,
        "solved": run.is_solved,
        "verified": run.is_verified,
        "attempts_needed": run.needed,
        "target_runs": run.runs,
        "target_solve_rate": round(run.solved_runs / run.runs, 4) if run.runs else None,
        "error_class": error_class,
    }


def template_hashes(step: Step) -> tuple[Template, ...]:
    """The hashes of the templates that a step's request is made from."""
    return tuple(Template(name=name, hash=digest) for name, digest in step.templates.items())


def error_of(step: Step | None) -> str:
    """The error class of a step, or nothing."""
    return step.error_class if step else ""


__all__ = ["Message", "Row", "Template", "column", "error_of", "head", "template_hashes"]
