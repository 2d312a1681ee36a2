"""Annotations as SARIF 2.1.0, the format of code scanning."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from greenloop import __version__
from greenloop.cli.render import escape_controls
from greenloop.core.text.diff import diff_hunks, split_lines
from greenloop.plugins.pipelines.reports.annotations import RULES, Annotation, by_severity

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_INDEX = {rule: index for index, rule in enumerate(RULES)}


def document(
    annotations: Iterable[Annotation], *, command: str, properties: Mapping[str, Any], prefix: str = ""
) -> bytes:
    """One run of one tool. `properties` are values of the whole run; `prefix` is the workspace in the repository."""
    run = {
        "tool": {
            "driver": {
                "name": "greenloop",
                "semanticVersion": __version__.replace(".dev", "-dev."),
                "rules": [{"id": rule, "shortDescription": {"text": text}} for rule, text in RULES.items()],
            }
        },
        "automationDetails": {"id": f"greenloop/{command}/"},
        "columnKind": "unicodeCodePoints",
        "results": _results(by_severity([*annotations]), prefix),
        "properties": dict(properties),
    }
    value = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(value, indent=1, ensure_ascii=True).encode() + b"\n"


def _results(annotations: Iterable[Annotation], prefix: str) -> list[dict[str, Any]]:
    seen: Counter[str] = Counter()
    results = []
    for each in annotations:
        fingerprint = _fingerprint(each)
        seen[fingerprint] += 1
        results.append(_result(each, prefix, f"{fingerprint}:{seen[fingerprint]}"))
    return results


def _result(each: Annotation, prefix: str, fingerprint: str) -> dict[str, Any]:
    value: dict[str, Any] = {
        "ruleId": each.rule,
        "ruleIndex": _INDEX[each.rule],
        "level": each.level.value,
        "message": {"text": escape_controls(each.message) or each.rule},
        "partialFingerprints": {"greenloop/v1": fingerprint},
    }
    if each.path:
        region = {"startLine": max(each.line, 1), "endLine": max(each.line, each.end_line, 1)}
        value["locations"] = [
            {"physicalLocation": {"artifactLocation": _artifact(prefix + each.path), "region": region}}
        ]
    if each.case:
        value["properties"] = {"test": each.case}
    if each.changes and (changes := _artifact_changes(each.changes, prefix)):
        value["fixes"] = [{"description": {"text": "The result of greenloop."}, "artifactChanges": changes}]
    return value


def _fingerprint(each: Annotation) -> str:
    """The same for the same remark on another day: no line numbers, which move."""
    text = f"{each.rule}\0{each.path}\0{each.case}\0{each.message}"
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _artifact(path: str) -> dict[str, str]:
    return {"uri": quote(path.encode("utf-8", "surrogateescape"))}


def _artifact_changes(changes: Mapping[str, tuple[str | None, str]], prefix: str) -> list[dict[str, Any]]:
    result = []
    for path, (before, after) in changes.items():
        if before == after:
            continue
        lines = split_lines(before or "")
        offsets = [0]
        for line in lines:
            offsets.append(offsets[-1] + len(line))
        replacements = [
            {
                "deletedRegion": {
                    "charOffset": offsets[hunk.start],
                    "charLength": offsets[hunk.end] - offsets[hunk.start],
                },
                "insertedContent": {"text": "".join(hunk.lines)},
            }
            for hunk in diff_hunks(before or "", after)
        ]
        if replacements:
            result.append({"artifactLocation": _artifact(prefix + path), "replacements": replacements})
    return result
