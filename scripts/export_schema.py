#!/usr/bin/env python3
"""Writes lab/docs/export.schema.json from the records of the rows; with --check only says if it is right."""

from __future__ import annotations

import json
import sys
import types
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from greenloop.core import registry
from greenloop_lab.engine.history.formats._row import VERSION
from greenloop_lab.engine.history.learning import PART

DOCUMENT = Path(__file__).resolve().parents[1] / "lab" / "docs" / "export.schema.json"
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema_of(hint: Any) -> dict[str, Any]:
    """The schema of a type of a column."""
    if get_origin(hint) is types.UnionType:
        inner = schema_of(get_args(hint)[0])
        return {**inner, "type": [inner["type"], "null"]}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": schema_of(get_args(hint)[0])}
    if is_dataclass(hint) and isinstance(hint, type):
        return object_schema(hint)
    return {"type": TYPES[hint]}


def object_schema(kind: type) -> dict[str, Any]:
    """The schema of a record."""
    hints = get_type_hints(kind)
    properties = {}
    for each in fields(kind):
        doc = {"description": each.metadata["doc"]} if "doc" in each.metadata else {}
        properties[each.name] = {**schema_of(hints[each.name]), **doc}
    return {"type": "object", "required": list(properties), "properties": properties}


def document() -> str:
    definitions = {}
    for name in registry.list_parts(PART):
        module = registry.load_part(PART, name)
        schema = {"description": (module.__doc__ or "").strip(), **object_schema(module.ROW)}
        schema["properties"]["kind"] = {"const": name}
        schema["properties"]["version"] = {"const": VERSION}
        definitions[name] = schema
    page = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A row that greenloop exported for others to learn from",
        "description": f"Version {VERSION}. Columns are only ever added; ignore those you do not know.",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in definitions],
        "$defs": definitions,
    }
    return json.dumps(page, indent=1) + "\n"


def main() -> int:
    if "--check" in sys.argv:
        return int(DOCUMENT.read_text(encoding="utf-8") != document())
    DOCUMENT.write_text(document(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
