"""The part of the SARIF 2.1.0 schema that greenloop writes: names, types and limits as in the standard's own schema.

Unlike the standard it allows no other property, so that a misspelt one is found.
"""

from __future__ import annotations

from typing import Any


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "additionalProperties": False, "properties": properties}


def _array(items: dict[str, Any], **limits: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **limits}


_TEXT = {"type": "string"}
_MESSAGE = _object(["text"], text={"type": "string", "minLength": 1})
_ONE = {"type": "integer", "minimum": 1}
_ZERO = {"type": "integer", "minimum": 0}
_BAG = {"type": "object"}
_ARTIFACT = _object(["uri"], uri={"type": "string", "format": "uri-reference"})
_REGION = _object([], startLine=_ONE, endLine=_ONE, charOffset=_ZERO, charLength=_ZERO)
_LOCATION = _object(
    ["physicalLocation"],
    physicalLocation=_object(["artifactLocation"], artifactLocation=_ARTIFACT, region=_REGION),
)
_REPLACEMENT = _object(["deletedRegion"], deletedRegion=_REGION, insertedContent=_object(["text"], text=_TEXT))
_CHANGE = _object(
    ["artifactLocation", "replacements"],
    artifactLocation=_ARTIFACT,
    replacements=_array(_REPLACEMENT, minItems=1),
)
_FIX = _object(["artifactChanges"], description=_MESSAGE, artifactChanges=_array(_CHANGE, minItems=1, uniqueItems=True))
_RESULT = _object(
    ["message"],
    ruleId=_TEXT,
    ruleIndex={"type": "integer", "minimum": -1},
    level={"enum": ["none", "note", "warning", "error"]},
    message=_MESSAGE,
    locations=_array(_LOCATION),
    partialFingerprints={"type": "object", "additionalProperties": _TEXT},
    fixes=_array(_FIX, uniqueItems=True),
    properties=_BAG,
)
_RULE = _object(["id"], id=_TEXT, shortDescription=_MESSAGE)
_DRIVER = _object(["name"], name=_TEXT, semanticVersion=_TEXT, rules=_array(_RULE, uniqueItems=True))
_RUN = _object(
    ["tool"],
    tool=_object(["driver"], driver=_DRIVER),
    automationDetails=_object([], id=_TEXT),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results=_array(_RESULT),
    properties=_BAG,
)
SARIF_SCHEMA = _object(
    ["version", "runs"],
    **{"$schema": {"type": "string", "format": "uri"}},
    version={"enum": ["2.1.0"]},
    runs=_array(_RUN),
)
