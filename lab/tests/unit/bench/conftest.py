"""Records of task-runs as the harness writes them."""

from __future__ import annotations

from typing import Any

import pytest

from greenloop_lab.bench.results import TaskRunResult


def made(arm: str, task: str, *attempts: Any, repeat: int = 0, reason: str = "", **more: Any) -> TaskRunResult:
    """Each attempt is (error class, is it right); one without an error class passed what was shown."""
    head = {"arm": arm, "task": task, "repeat": repeat}
    rows = [{"kind": "attempt", **head, "number": 0, "parent": None, "error_class": "AssertionError", "right": None}]
    rows += [
        {"kind": "attempt", **head, "number": n, "parent": n - 1, "error_class": error, "right": right}
        for n, (error, right) in enumerate(attempts, 1)
    ]
    shown = bool(attempts) and not attempts[-1][0]
    run = {
        "kind": "run",
        **head,
        "preset": "plain",
        "settings": {},
        "digest": "d",
        "task_kind": "draft",
        "operators": [],
        "model": "m",
        "right": shown and attempts[-1][1],
        "shown_passed": shown,
        "reason": reason or ("solved" if shown else "attempts"),
        "attempts": len(attempts),
        "candidates": len(attempts),
        "at": len(attempts) if shown else 0,
        "best": len(attempts) if shown else None,
        "calls": len(attempts),
        "confidence": None,
        "prompt_tokens": 100 * len(attempts),
        "completion_tokens": 10 * len(attempts),
        "cached_tokens": 50,
        "model_seconds": 2.0 * len(attempts),
        "test_seconds": 0.5,
        "wall_seconds": 2.0 * len(attempts) + 0.6,
        "overhead_seconds": 0.1,
    }
    return TaskRunResult(run=run | more, attempts=rows)


@pytest.fixture
def make():
    return made


@pytest.fixture
def six():
    """Arm a: right at once, right at the second, over-fit, never. Arm b: never, right at once; a third broke."""
    wrong = ("AssertionError", False)
    return [
        made("a", "1", ("", True)),
        made("a", "2", wrong, ("", True)),
        made("a", "3", ("TypeError", False), ("", False)),
        made("a", "4", wrong, ("NameError", False), wrong),
        made("b", "1", wrong),
        made("b", "2", ("", True)),
        made("b", "3", reason="model"),
    ]
