"""What a model did: named with its kind, counted with its looks and the tokens that were cached."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conversation_attempts import LOOKS, MANY_LOOKS, turn
from fake_engine import attempt
from greenloop.core.records.attempt import Draft, Move
from greenloop.core.records.model import ModelKind, Role, Usage
from greenloop.wording.model import describe_model, describe_questions, describe_tokens, list_looks


@pytest.mark.parametrize(
    ("name", "kind", "shown"),
    [
        ("openai/gpt-5.1", ModelKind.CAPABLE, "openai/gpt-5.1 (capable)"),
        ("local", ModelKind.SMALL, "local (small)"),
        ("local", None, "local"),
        ("scripted:/a/b", ModelKind.CAPABLE, "scripted (capable)"),
        ("replay:/a/b", None, "replay"),
        ("ollama/b:1b", None, "ollama/b:1b"),
    ],
)
def test_a_model_is_named_with_its_kind(name, kind, shown):
    assert describe_model(name, kind) == shown


@pytest.mark.parametrize(
    ("usage", "shown"),
    [
        (Usage(prompt_tokens=12_000, completion_tokens=300, cached_tokens=9_800), "12,300 (9,800 cached)"),
        (Usage(prompt_tokens=100, completion_tokens=20), "120"),
    ],
)
def test_cached_tokens_are_shown_where_there_are_any(usage, shown):
    assert describe_tokens(usage) == shown


def test_looks_are_counted_apart_from_questions():
    changes = replace(attempt(1), draft=Draft(parent=0, move=Move.MUTATE, role=Role.REFINER))
    assert describe_questions([attempt(0), changes]) == ""
    assert describe_questions([attempt(0), attempt(1)]) == "1 question, 120 tokens"
    assert describe_questions([attempt(0), turn(1, *LOOKS)]) == "1 question, 3 looks, 12,300 tokens (9,800 cached)"
    assert describe_questions([attempt(0), turn(1, LOOKS[0]), turn(2)]).startswith("2 questions, 1 look, ")


def test_many_looks_are_cut():
    assert list_looks(LOOKS)[0] == "read m.py"
    assert list_looks(MANY_LOOKS)[7:] == ["read m7.py", "… and 3 more"]
    assert list_looks(MANY_LOOKS[:8])[-1] == "read m7.py"
