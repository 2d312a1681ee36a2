"""Nested tables."""

from __future__ import annotations

from greenloop.core.text.json_codec import flatten, overlay


def test_flatten():
    assert dict(flatten({"a": {"b": 1, "c": {"d": []}}, "e.f": None})) == {"a.b": 1, "a.c.d": [], "e.f": None}


def test_overlay():
    assert overlay({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"c": 3}, "d": [2]}) == {"a": {"b": 1, "c": 3}, "d": [2]}
    assert overlay({"a": 1}, [2]) == [2]
