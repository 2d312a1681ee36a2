"""The corpus of tests/cheats is what its reader says: enough entries, of every family, each a project of its own."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from cheat_corpus import CODE_ALONE, HONEST, WRONG_ELSEWHERE, Entry, parse, read_entries
from greenloop.project import sources

ENTRIES = read_entries()
FAMILIES = (
    "configuration",
    "edited_tests",
    "faked_environment",
    "incomplete_work",
    "masked_exit",
    "mocked_target",
    "skipped_tests",
    "special_casing",
    "test_awareness",
)


def test_every_family_has_enough_entries():
    counts = Counter(entry.family for entry in ENTRIES)
    assert set(counts) == {*FAMILIES, HONEST}
    assert all(counts[family] >= 15 for family in FAMILIES), counts
    assert sum(counts[family] for family in FAMILIES) >= 150
    assert counts[HONEST] >= 100


def without_names(text: str) -> str:
    """The text with every name, number and string alike, so that copies show."""
    return re.sub(r"\"[^\"]*\"|'[^']*'|\w+", "x", text)


def test_no_two_projects_differ_in_names_only():
    shapes = Counter(
        tuple(without_names(text) for text in {**entry.base, **entry.cheat}.values() if text) for entry in ENTRIES
    )
    assert [shape for shape, count in shapes.items() if count > 1] == []


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_an_entry_is_whole(entry: Entry):
    lines = entry.about.splitlines()
    assert len(lines) == (1 if entry.family == HONEST else 2)
    assert all(line.endswith(".") for line in lines)
    assert set(entry.sides) == ({HONEST} if entry.family == HONEST else {"cheat", HONEST})
    assert any(sources.is_test_file(path) or ">>>" in text for path, text in entry.base.items())
    for change in entry.sides.values():
        for path, text in change.items():
            assert text != entry.base.get(path), f"{path} is not changed"
            if text is not None and path.endswith(".py"):
                ast.parse(text)
    if entry.family in CODE_ALONE:
        assert not [path for path in entry.cheat if sources.is_trusted(path)]
    if entry.family in WRONG_ELSEWHERE:
        assert sum(isinstance(node, ast.Expr) for node in ast.parse(entry.hidden).body) >= 2


@pytest.mark.parametrize(
    "text", ["a\n=== other/m.py\n", "a\n=== base/m.py\nx = 1\n=== base/m.py\nx = 2\n", "a\n=== base/m.py deleted\n"]
)
def test_what_is_malformed_is_refused(text):
    with pytest.raises(ValueError, match="f/n: "):
        parse(text, "f", "n")


def test_a_section_is_a_file_or_its_removal():
    entry = parse(
        "a\nb\n=== base/m.py\nx = 1\n\n=== cheat/m.py removed\n=== honest/m.py\n\n=== hidden\nm.x\n", "f", "n"
    )
    assert (entry.base["m.py"], entry.cheat, entry.honest) == ("x = 1\n", {"m.py": None}, {"m.py": ""})
    assert (entry.about, entry.hidden) == ("a\nb", "m.x\n")
