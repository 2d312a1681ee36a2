"""A verification for programs: the object that docs/verify.md describes. Fields are only ever added."""

from __future__ import annotations

from typing import Any

from greenloop.core.feature_data import json_fields
from greenloop.core.text.json_codec import to_json
from greenloop.engine.verify.report import Verification
from greenloop_sandbox import CaseResult

MAX_MESSAGE = 2_000
# The fields that need no other form.
_PLAIN = (
    "failed", "already_failing", "still_failing", "known_failing", "fixed", "flaky", "apart", "together", "unearned",
    "vetoed", "require", "sandbox", "network", "notes", "changes", "seconds",
)  # fmt: skip


def result_json(result: Verification) -> dict[str, Any]:
    """The result as an object of JSON."""
    proven = {*result.new.passes}
    changed = [{"path": path, "change": "changed"} for path in result.changed]
    changed += [{"path": path, "change": "removed"} for path in result.removed]
    return {
        "verified": result.verified,
        "state": result.state.value,
        "reason": result.reason,
        "revision": result.revision,
        "base": result.base,
        "cases": [_case_json(case, result.before.get(case.id)) for case in result.cases],
        "tampered": [{"id": each.case or None, "reason": each.reason} for each in result.tampered],
        "changed_tests": sorted(changed, key=lambda each: each["path"]),
        "added_tests": list(result.added),
        "kept": list(result.kept),
        "judging_changes": [
            {
                "path": each.path,
                "change": each.change,
                "role": each.role,
                "allowed": each.allowed,
                "because": result.because if each.allowed else "",
            }
            for each in result.judging_changes
        ],
        "new_cases": [
            {**_case_json(case, result.new.before.get(case.id)), "new_pass": case.id in proven}
            for case in result.new.cases
        ],
        **json_fields(result.data),
        **{name: to_json(getattr(result, name)) for name in _PLAIN},
    }


def _case_json(case: CaseResult, before: str | None) -> dict[str, Any]:
    value: dict[str, Any] = {
        "id": case.id,
        "outcome": case.outcome,
        "before": before,
        "seconds": round(case.seconds, 3),
    }
    if case.failure is not None and not case.passed:
        value["type"] = case.failure.type
        value["message"] = case.failure.message[:MAX_MESSAGE]
    return value
