"""The lineage page names what there is: every row, every test, every preset, part, setting and file."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from contracts import CONTRACTS
from greenloop.core import registry
from greenloop.engine.presets import load_presets
from greenloop.project import settings

HOUSE = Path(__file__).resolve().parents[2]
PAGE = (HOUSE / "lab" / "docs" / "lineage.md").read_text(encoding="utf-8")
ABSTRACTS = [
    *(
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        10,
        11,
        12,
        13,
        14,
        15,
        16,
        17,
        19,
        20,
        21,
        22,
        23,
        24,
        25,
        26,
        27,
        28,
        29,
        30,
        31,
        32,
        33,
        34,
        35,
        36,
        37,
        38,
        39,
        40,
        41,
        42,
        43,
        45,
        46,
        47,
        48,
        49,
        50,
        51,
        52,
    ),
    *(53, 54, 55),
]
WANTED = [
    *("D1", "D2", "D3", "D4", "D5"),
    *(f"#{number}" for number in ABSTRACTS),
    *("LDB", "Self-Debug", "Reflexion", "CodeTree", "IAD", "MAgICoRe", "TENET"),
    *(f"R{number}" for number in range(1, 29)),
    *("F2", "F13", "F14"),
]
RECORDED = ["D1", "D2", "D5", "#17", "#26", "#29", "#43"]  # the first priority
ROWS = {
    cells[0]: cells[1:]
    for line in PAGE.splitlines()
    if line.startswith("| ") and len(cells := [cell.strip() for cell in line.strip("|").split(" | ")]) == 4
    if cells[0] != "row"
}


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_row_is_there_once_and_in_order():
    rows = re.findall(r"^\| (\S+) \|", PAGE, re.MULTILINE)
    assert [row for row in rows if row != "row"] == WANTED


@pytest.mark.parametrize("row", WANTED)
def test_what_a_row_names_exists(row):
    _system, here, _tests = ROWS[row]
    names = quoted(here)
    assert names, "A row says where it lives."
    for name in names:
        assert exists(name), f"{row} names {name}, which is not there."


def exists(name: str) -> bool:
    if name.startswith("preset="):
        return name.removeprefix("preset=") in load_presets()
    if name.endswith(".py"):
        return any((HOUSE / base / name).is_file() for base in ("server/greenloop", "lab/greenloop_lab"))
    part, slash, variant = name.partition("/")
    if not slash:
        return name in {key for key, _type, _default, _metadata in settings.keys()} or name == "match"
    return variant in registry.list_parts(part) if part in CONTRACTS else (HOUSE / name).is_dir()


@pytest.mark.parametrize("name", ["preset=no", "feedback/no", "no.such", "core/no.py", "examples/no"])
def test_what_does_not_exist_is_seen(name):
    assert not exists(name)


def test_no_two_rows_lean_on_the_same_tests_alone():
    leaning = {row: tuple(sorted(quoted(cells[2]))) for row, cells in ROWS.items()}
    assert [tests for tests, count in Counter(leaning.values()).items() if count > 1] == []
    assert [row for row, tests in leaning.items() if not tests or len(tests) != len(set(tests))] == []


@pytest.mark.parametrize("row", RECORDED)
def test_a_transcript_is_kept_for_each_row_of_the_first_priority(row):
    assert [test for test in quoted(ROWS[row][2]) if "test_transcripts.py::test_the_same_run_again[" in test]


def test_every_test_is_there():
    """Its function in its file; the names of cases are those of a run."""
    tests = {test.partition("[")[0] for cells in ROWS.values() for test in quoted(cells[2])}
    texts = {name: (HOUSE / name).read_text(encoding="utf-8") for name in {test.partition("::")[0] for test in tests}}
    missing = []
    for test in tests:
        name, _, function = test.partition("::")
        if function and f"def {function.rpartition('::')[2]}(" not in texts[name]:
            missing.append(test)
    assert sorted(missing) == []
