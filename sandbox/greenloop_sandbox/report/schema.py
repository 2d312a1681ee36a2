"""Checks that a record has a form that the worker writes (inside/protocol.py).

A sealed record of another form is forged: its writer found the key or the pipe of the worker.
Fields may be missing where a reader has a default for them; unknown kinds and fields are those of a newer worker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any

Check = Callable[[Any], bool]


def well_formed(record: Mapping[str, Any]) -> bool:
    """False for a record that no worker writes."""
    kind = record.get("kind")
    needed, known = _NEEDED.get(kind, ()) if isinstance(kind, str) else None, _KNOWN
    if needed is None or not _number(record.get("seq")):
        return False
    return all(name in record for name in needed) and all(
        check(record[name]) for name, check in known.items() if name in record
    )


def _is(*kinds: type) -> Check:
    return lambda value: isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list | tuple) and all(map(check, value))


def _tuple_of(*checks: Check) -> Check:
    return lambda value: (
        isinstance(value, list | tuple)
        and len(value) == len(checks)
        and all(check(item) for check, item in zip(checks, value, strict=True))
    )


def _object_with(**checks: Check) -> Check:
    return lambda value: (
        isinstance(value, Mapping) and all(name in value and check(value[name]) for name, check in checks.items())
    )


def _texts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_text(name) and _text(text) for name, text in value.items())


_text, _text_or_none, _number, _flag = _is(str), _is(str, NoneType), _is(int), _is(bool)
_seconds = _is(int, float, NoneType)
_frame = _tuple_of(_text, _number, _text)
_caller: Check = lambda value: value is None or _frame(value)  # noqa: E731
_place, _call = _tuple_of(_text, _number), _tuple_of(_text, _number, _text, _number)

_pairs = _list_of(_tuple_of(_text, _text))
_inspected = _tuple_of(_text, _number, _text, _text, _pairs)

_NEEDED: Mapping[str, tuple[str, ...]] = {
    "collect_error": ("id",),
    "collected": ("cases",),
    "begin": ("id",),
    "phase": ("id", "when", "outcome", "type"),
    "trace": ("id", "functions"),
    "shared": ("id",),
    "opened": ("id", "opened"),
    "watch": ("id", "files", "hits", "steps"),
    "statements": ("id", "files", "statements"),
    "inspection": ("id", "chain", "values", "sections"),
    "apart": ("id", "rests_on", "lent", "ran", "sides", "held", "several", "fixed", "false", "unfit", "suspicious"),
    "finished": ("status",),
}
# A field means the same in every kind.
_KNOWN: Mapping[str, Check] = {
    "id": _text,
    "when": lambda value: value in ("setup", "call", "teardown"),
    "outcome": _text,
    "type": _text_or_none,
    "wasxfail": _text_or_none,
    "message": _text,
    "text": _text,
    "name": _text_or_none,
    "expected": _text_or_none,
    "observed": _text_or_none,
    "local": _flag,
    "reruns": _flag,
    "seconds": _seconds,
    "status": _number,
    "root": _text,
    "calls": _number,
    "rests_on": _pairs,
    "opened": _pairs,
    "suspicious": _flag,
    "ran": _list_of(_place),
    "sides": _list_of(_tuple_of(_number, _number, _text, _text, _list_of(_number), _flag)),
    "false": _number,
    "several": _flag,
    "held": _list_of(_tuple_of(_number, _number, _flag)),
    "lent": _list_of(_text),
    "unfit": _text,
    "path": _text,
    "deselected": _list_of(_text),
    "cases": _list_of(_object_with(id=_text, path=_text, line=_number)),
    "files": _list_of(_text),
    "hits": _list_of(_tuple_of(_number, _number, _number)),
    "statements": _list_of(_tuple_of(_number, _number)),
    "steps": _list_of(_tuple_of(_number, _number, _number, _texts)),
    "left_out": _number,
    "also": _list_of(_place),
    "cached": _list_of(_place),
    "chain": _list_of(_object_with(type=_text, message=_text, led=_text, frames=_list_of(_inspected))),
    "values": _pairs,
    "sections": _pairs,
    "calls_of": _list_of(_call),
    "blind": _flag,
    "gap": _number,
    "functions": _list_of(_object_with(path=_text, line=_number, name=_text, depth=_number, caller=_caller)),
}
