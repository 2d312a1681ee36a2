"""Parses requests with parts of a newer protocol or of other servers; unreadable parts are left out.

Only for requests in which that does no harm: a left-out part must never belong to a text or an edit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cattrs
from lsprotocol import types as lsp

from greenloop.core.tables import overlay

# Capabilities (unknown ones are irrelevant here), and diagnostics of any server.
_NEEDED: dict[str, dict[str, Any]] = {
    lsp.INITIALIZE: {"processId": None, "rootUri": None, "capabilities": {}},
    lsp.TEXT_DOCUMENT_CODE_ACTION: {
        "textDocument": {"uri": ""},
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
        "context": {"diagnostics": []},
    },
}
_UNREADABLE = object()


def structure(converter: cattrs.Converter, data: dict[str, Any], kind: type[Any]) -> Any:
    """`data` as `kind`, without the parts that cannot be read. Raises the converter's error where those are needed."""
    if data["method"] == lsp.TEXT_DOCUMENT_DID_CHANGE:
        data = _without_nulls(data)
    try:
        return converter.structure(data, kind)
    except Exception:
        minimal = _NEEDED.get(data["method"])
        if minimal is None or not isinstance(data.get("params"), dict):
            raise

    def is_readable(part: Any) -> bool:
        try:
            converter.structure(data | {"params": overlay(minimal, part)}, kind)
        except Exception:  # noqa: BLE001 - a converter may raise anything on wrong data
            return False
        return True

    return converter.structure(data | {"params": _readable(data["params"], is_readable)}, kind)


def _without_nulls(value: Any) -> Any:
    """Removes nulls: some languages write missing values so, such as the range of a whole text."""
    if isinstance(value, dict):
        return {key: _without_nulls(part) for key, part in value.items() if part is not None}
    return [_without_nulls(part) for part in value] if isinstance(value, list) else value


def _readable(value: Any, reads: Callable[[Any], bool]) -> Any:
    """The value without its unreadable parts, or `_UNREADABLE`."""
    if reads(value):
        return value
    if isinstance(value, dict):
        parts = {key: _readable(part, _inside(reads, key)) for key, part in value.items()}
        value = {key: part for key, part in parts.items() if part is not _UNREADABLE}
    elif isinstance(value, list):
        value = [part for item in value if (part := _readable(item, lambda it: reads([it]))) is not _UNREADABLE]
    return value if reads(value) else _UNREADABLE


def _inside(reads: Callable[[Any], bool], key: str) -> Callable[[Any], bool]:
    return lambda part: reads({key: part})
