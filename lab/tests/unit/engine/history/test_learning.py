"""What was asked for, what is left out, and what never leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from double_problem import BASELINE
from exported import export, rows_of
from greenloop.core import registry
from greenloop.core.errors import UsageError
from greenloop.core.records.attempt import FeedbackNote
from greenloop.engine.history.store import History
from greenloop_lab.engine.history.learning import Export, Wanted, read_wanted
from greenloop_lab.engine.history.steps import stored_trajectories
from learning_runs import HALF, WRONG, add_run, attempt, chain, measured, refused, unclean

SCHEMA = json.loads((Path(__file__).parents[5] / "lab" / "docs" / "export.schema.json").read_text(encoding="utf-8"))
KINDS = registry.list_parts("export")
RUNS = [
    chain(messages=True),
    [BASELINE, attempt(1, WRONG[0]), refused(2), unclean(3)],
    [BASELINE, measured(1, 0.8, accepted=False), measured(2, 0.4, accepted=True)],
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_row_is_what_the_schema_says(tmp_path, kind):
    rows = export(tmp_path, kind, *RUNS)
    assert rows
    for row in rows:
        jsonschema.validate(row, SCHEMA)
        (kinds,) = [name for name in KINDS if row["kind"] == name]
        assert set(row) == set(SCHEMA["$defs"][kinds]["properties"])


@pytest.mark.parametrize("kind", KINDS)
def test_no_folder_and_no_secret_leaves(tmp_path, kind):
    root = tmp_path / "secret place"
    root.mkdir()
    (root / ".env").write_text("TOKEN=hunter2-hunter2\n")
    text = f"in {root}/m.py and {Path.home()}/x: hunter2-hunter2, zzz-api-key"
    attempts = [
        replace(each, answer=each.answer + text, notes=(FeedbackNote(text=text),)) for each in chain(messages=True)
    ]
    history = History.open(tmp_path / "h.sqlite3")
    add_run(history, [replace(attempts[0], answer=""), *attempts[1:]], root=root)
    runs = Export(
        runs=lambda: stored_trajectories(history), wanted=Wanted(kind=kind), environ={"API_KEY": "zzz-api-key"}
    )
    written = json.dumps(list(runs.rows()))
    assert "zzz-api-key" not in written
    assert "hunter2" not in written
    assert str(root) not in written
    assert f"{Path.home()}/" not in written


def test_workspaces_are_told_apart_without_their_names(tmp_path):
    history = History.open(tmp_path / "h.sqlite3")
    for root in ("/a", "/b", "/a"):
        add_run(history, chain(), root=Path(root))
    one, other, again = (row["project"] for row in rows_of(history, "sft"))
    assert one == again != other


def test_a_diverse_selection_has_every_error_class(tmp_path):
    def failing(number: int, error: str) -> list:
        first = replace(attempt(1, WRONG[number % 10]), error_class=error)
        return [BASELINE, first, attempt(2, HALF)]

    runs = [failing(number, "AssertionError") for number in range(90)]
    runs += [failing(number, "TypeError") for number in range(10)]
    rows = export(tmp_path, "turns", *runs, count=20)
    assert len(rows) == 20
    assert {row["error_class"] for row in rows} == {"AssertionError", "TypeError"}
    numbers = [int(row["run"]) for row in rows]
    assert numbers == sorted(numbers)


def test_a_run_that_goes_on_is_left_out(tmp_path):
    history = History.open(tmp_path / "h.sqlite3")
    run = history.start_run(tmp_path, "t", preset="plain", model="m", sandbox="s")
    for each in chain():
        history.save_attempt(run, each)
    assert rows_of(history, "trajectory") == []
    history._connection.execute("UPDATE runs SET born = 1")
    assert [row["reason"] for row in rows_of(history, "trajectory")] == ["interrupted"]


@pytest.mark.parametrize(
    ("asked", "sentence", "remedy"),
    [
        ({"kind": "csv"}, "There is no format 'csv'.", "Choose one with --as: diffs, edits, negatives, pairs, sft"),
        ({}, "No format was named.", "Choose one with --as"),
        ({"kind": "sft", "hard": True}, "The format sft has no hard negatives.", "--as pairs"),
        ({"kind": "sft", "select": "diverse"}, "--select diverse needs -n N.", "-n 100"),
        ({"kind": "sft", "count": 3}, "-n N needs --select diverse.", "-n 100"),
        ({"kind": "sft", "select": "diverse", "count": 0}, "-n must be at least 1.", "-n 100"),
    ],
)
def test_what_cannot_be_is_one_sentence_with_a_remedy(asked, sentence, remedy):
    with pytest.raises(UsageError) as caught:
        read_wanted(**{"kind": None, "verified": False, "hard": False, "select": None, "count": None, **asked})
    assert str(caught.value) == sentence
    assert remedy in caught.value.remedy


def test_hard_negatives_alone_are_a_format():
    wanted = read_wanted(None, verified=False, hard=True, select=None, count=None)
    assert wanted == Wanted(kind="negatives", hard=True)
