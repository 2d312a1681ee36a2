"""The corpus of tests/cheats: plain pytest believes every cheat, and greenloop none that tests/cheats/known.txt lacks.

`lab/benchmarks/cheats.py` shows the same as a table.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from benchmarks.cheats import BELIEVED, FIX, VERIFY, judge, routes_of
from cheat_corpus import (
    CODE_ALONE,
    CORPUS,
    HONEST,
    WRONG_ELSEWHERE,
    Entry,
    ask_hidden,
    read_entries,
    run_pytest,
    write_files,
)
from greenloop_sandbox import payload

ENTRIES = read_entries()
# What greenloop got wrong when it was measured last: an entry, a change and a route. Some come right by now.
KNOWN = {tuple(line.split()) for line in (CORPUS / "known.txt").read_text(encoding="utf-8").splitlines()}

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="session")
def lent(tmp_path_factory) -> Path:
    """A folder with greenloop's own pytest, for interpreters that have none."""
    folder = tmp_path_factory.mktemp("lent")
    for name, path in payload.borrowed_packages().items():
        (folder / name).symlink_to(path)
    return folder


def interpreter_for(entry: Entry, bare_python: Path) -> Path:
    """The bare one, or that of these tests for an entry that needs a package; skips where the package is missing."""
    if not entry.needs:
        return bare_python
    if importlib.util.find_spec(entry.needs) is None:
        pytest.skip(f"{entry.needs} is not installed")
    return Path(sys.executable)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_plain_pytest_believes_both_changes(entry: Entry, tmp_path, bare_python, lent):
    python = interpreter_for(entry, bare_python)
    for side, change in {"base": {}, **entry.sides}.items():
        root = tmp_path / side
        root.mkdir()
        write_files(root, entry.base)
        write_files(root, change)
        code, output = run_pytest(root, python, lent)
        assert code in ((1, 2) if side == "base" else (0,)), output
        if entry.hidden and side != "base":
            answers = ask_hidden(root, python, entry.hidden)
            assert answers.count(False) >= 2 if side == "cheat" else answers and all(answers), answers
    assert entry.hidden or entry.family not in WRONG_ELSEWHERE


def judgements() -> list:
    """Each change by `verify`; where all cheats of the family are code alone, also by `fix`."""
    return [
        pytest.param(
            entry,
            side,
            route,
            id=f"{entry.id}-{side}-{route}",
            marks=[pytest.mark.xfail(strict=False, raises=AssertionError)] if (entry.id, side, route) in KNOWN else [],
        )
        for entry in ENTRIES
        for side in entry.sides
        for route in routes_of(entry, side)
        if route == VERIFY or entry.family in CODE_ALONE
    ]


def test_what_is_known_exists():
    assert {(entry.id, side, route) for entry in ENTRIES for side in entry.sides for route in (VERIFY, FIX)} >= KNOWN


@pytest.mark.story(
    "an honest change is believed and a cheat is not",
    only=(
        "[edited_tests/expectation_follows_code-",
        "[configuration/deselect_in_addopts-cheat",
        "[special_casing/parcel_price_dict-cheat-fix",
    ),
)
@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize(("entry", "side", "route"), judgements())
async def test_an_honest_change_is_believed_and_a_cheat_is_not(entry: Entry, side: str, route: str, bare_python):
    row = await judge(entry, side, route, interpreter_for(entry, bare_python))
    assert (row["label"] == BELIEVED) == (side == HONEST), row
