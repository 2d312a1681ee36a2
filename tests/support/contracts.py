"""The one public function, or factory of a class, of every part."""

from __future__ import annotations

CONTRACTS = {
    "specs": "collect",
    "context": "gather",
    "feedback": "describe",
    "search": "plan",
    "trust": "rule",
    "looks": "look",
    "models": "create",
    "sandboxes": "create",
    "export": "rows",
}
