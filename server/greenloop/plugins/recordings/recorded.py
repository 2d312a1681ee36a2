"""Fields of a request by which recorded answers are found again, and replies as JSON has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from greenloop.core.records.model import ChatRequest, InfillRequest, Reply
from greenloop.core.text.json_codec import from_json

# Fields that older recordings lack; they count only where they say something.
LATER = ("calls", "call_id", "extra", "tools")


def key_fields(request: ChatRequest | InfillRequest) -> dict[str, Any]:
    """Returns what the answer to a request depends on: its prompt, tools and sampling, neither role nor patience."""
    fields = {name: value for name, value in asdict(request).items() if name not in {"role", "patience"}}
    if "messages" in fields:
        fields["messages"] = [_without_later(message) for message in fields["messages"]]
    return _without_later(fields)


def _without_later(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value or name not in LATER}


def reply_from(fields: Mapping[str, Any]) -> Reply:
    """Returns a reply from its fields as JSON has them. Raises `ValueError` for other fields."""
    return from_json(Reply, fields)
