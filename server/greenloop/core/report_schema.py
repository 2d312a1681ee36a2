"""Checks that a record has a form that the worker writes (sandbox/protocol.py).

A sealed record of another form is forged: its writer found the key or the pipe of the worker.
Fields may be missing where a reader has a default for them; unknown kinds and fields are those of a newer worker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _text_or_none(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _seconds(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list | tuple) and all(map(check, value))


def _object_with(**checks: Check) -> Check:
    return lambda value: (
        isinstance(value, Mapping) and all(name in value and check(value[name]) for name, check in checks.items())
    )


def _frame(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 3
        and _text(value[0])
        and _number(value[1])
        and _text(value[2])
    )


def _caller(value: Any) -> bool:
    return value is None or _frame(value)


def _hit(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 3 and all(map(_number, value))


def _step(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and len(value) == 4
        and all(map(_number, value[:3]))
        and isinstance(value[3], Mapping)
        and all(_text(name) and _text(text) for name, text in value[3].items())
    )


_NEEDED: Mapping[str, tuple[str, ...]] = {
    "collect_error": ("id",),
    "collected": ("cases",),
    "begin": ("id",),
    "phase": ("id", "when", "outcome", "type"),
    "trace": ("id", "functions"),
    "watch": ("id", "files", "hits", "steps"),
    "oracle": ("calls", "unfit"),
    "sources": ("files",),
    "source_read": ("how", "path", "frames"),
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
    "unfit": _text,
    "how": _text,
    "path": _text,
    "programs": _flag,
    "frames": _list_of(_frame),
    "deselected": _list_of(_text),
    "cases": _list_of(_object_with(id=_text, path=_text, line=_number)),
    "files": _list_of(_text),
    "hits": _list_of(_hit),
    "steps": _list_of(_step),
    "left_out": _number,
    "gap": _number,
    "functions": _list_of(_object_with(path=_text, line=_number, name=_text, depth=_number, caller=_caller)),
}
