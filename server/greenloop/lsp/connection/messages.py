"""Names and parameters of greenloop's own messages (docs/protocol.md).

This module must not know what a run is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import attrs
import cattrs
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from greenloop.core.aims import list_aims

REFINE = "greenloop/refine"
QUESTION = "greenloop/question"
QUESTION_OVER = "greenloop/questionOver"
RUNS = "greenloop/runs"
ATTEMPT = "greenloop/attempt"
REPORT = "greenloop/report"
CHOICES = "greenloop/choices"
REFUSED = "greenloop/refused"
REVIEW = "greenloop/review"
COMPLETE = "greenloop/complete"
COMPLETING = "greenloop/completing"
MODEL_INFO = "greenloop/modelInfo"
KEY = "greenloop/key"
TESTS = "greenloop/tests"
RUN_TESTS = "greenloop/runTests"
TEST_RESULTS = "greenloop/testResults"
CHANGES = "greenloop/changes"
STEPS = ("next", "previous")


@attrs.define
class RefineParams:
    """The target to refine: a document, and either a position in it or a pytest node id.

    `goal`: the target passes its tests, and what it is to become, the name of an aim. `comment` is a wish in words.
    `continues` is the number of an unsolved run to go on with.
    """

    uri: str
    position: lsp.Position | None = None
    test: str | None = None
    preset: str | None = None
    goal: str | None = None
    comment: str | None = None
    continues: int | None = None
    work_done_token: int | str | None = None


@attrs.define
class AnswerParams:
    """An answer to the open question of a run: one of its options, or a typed value instead."""

    uri: str
    target: str
    question: str
    answer: str | None = None
    value: str | None = None


@attrs.define
class AttemptParams:
    """One attempt of a run: its number, or the previous or next of the shown attempt."""

    uri: str
    attempt: int | str
    target: str | None = None


def command_argument(arguments: tuple[Any, ...]) -> Any:
    """The one object that a command expects; None for anything else."""
    return arguments[0] if len(arguments) == 1 else None


def attempt_params(raw: Any) -> AttemptParams:
    """Raises `JsonRpcInvalidParams` with a message for the client's author."""
    params: AttemptParams = parse_params(raw, AttemptParams, '{"uri", "target", "attempt"}')
    is_number = isinstance(params.attempt, int) and not isinstance(params.attempt, bool) and params.attempt >= 0
    if not is_number and params.attempt not in STEPS:
        raise JsonRpcInvalidParams("'attempt' must be a number from 0 (your code), 'next' or 'previous'.")
    return params


def position_of(table: Mapping[str, Any]) -> int | None:
    """The line of `position`, which a client may send in place of `target`. Raises `JsonRpcInvalidParams`."""
    raw = table.get("position")
    if raw is None:
        return None
    if table.get("target") is not None:
        raise JsonRpcInvalidParams("At most one of 'position' and 'target' is needed.")
    position: lsp.Position = parse_params(raw, lsp.Position, '{"line", "character"}')
    return position.line


def answer_params(raw: Any) -> AnswerParams:
    """Raises `JsonRpcInvalidParams` with a message for the client's author."""
    params: AnswerParams = parse_params(raw, AnswerParams, '{"uri", "target", "question", "answer" or "value"}')
    if (params.answer is None) == (params.value is None):
        raise JsonRpcInvalidParams("Exactly one of 'answer' and 'value' is needed.")
    return params


def refine_params(raw: Any) -> RefineParams:
    """Raises `JsonRpcInvalidParams` with a message for the client's author."""
    params: RefineParams = parse_params(raw, RefineParams, '{"uri", "position"} or {"uri", "test"}')
    if (params.position is None) == (params.test is None):
        raise JsonRpcInvalidParams("Exactly one of 'position' and 'test' is needed.")
    if params.goal is not None and params.goal not in (aims := list_aims()):
        raise JsonRpcInvalidParams(f"'goal' must be one of: {', '.join(aims)}.")
    return params


def parse_params(raw: Any, kind: type[Any], form: str) -> Any:
    """An object of a client as `kind`. Raises `JsonRpcInvalidParams`; `form` shows the keys."""
    if not isinstance(raw, Mapping):
        raise JsonRpcInvalidParams(f"Expected one object: {form}.")
    field_names = {"workDoneToken": "work_done_token"}
    try:
        return _converter().structure({field_names.get(key, key): value for key, value in raw.items()}, kind)
    except Exception as error:
        raise JsonRpcInvalidParams("; ".join(cattrs.transform_error(error))) from error


@lru_cache(1)
def _converter() -> cattrs.Converter:
    converter = cattrs.Converter()

    def text(value: Any, _kind: Any) -> str:
        if not isinstance(value, str):
            raise TypeError(f"must be a text, not {type(value).__name__}")
        return value

    def whole(value: Any, _kind: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise TypeError(f"must be a whole number, not {value!r}")
        return value

    converter.register_structure_hook(str, text)
    converter.register_structure_hook(int, whole)
    converter.register_structure_hook(int | str | None, lambda value, _kind: value)
    converter.register_structure_hook(int | str, lambda value, _kind: value)
    return converter
