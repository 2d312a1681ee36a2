"""`greenloop history export --as` and `greenloop bench export`."""

from __future__ import annotations

import json

import pytest

from double_problem import BASELINE
from greenloop.cli.main import main
from greenloop.core import registry
from greenloop.engine.history.store import History
from learning_runs import WRONG, add_run, attempt, chain


@pytest.fixture
def runs(project):
    history = History.open()
    add_run(history, chain(), root=project)
    add_run(history, [BASELINE, attempt(1, WRONG[0])])
    history.close()
    return project


def rows_of(capsysbinary) -> list[dict]:
    out, err = capsysbinary.readouterr()
    assert err == b""
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("kind", registry.list_parts("export"))
def test_every_format_is_json_lines(runs, capsysbinary, kind):
    assert main(["history", "export", "--as", kind]) == 0
    rows = rows_of(capsysbinary)
    assert rows
    assert {row["kind"] for row in rows} == {kind}


def test_one_run_one_workspace_and_verified_ones(runs, capsysbinary):
    for words, numbers in ((["2"], ["2"]), (["--verified"], ["1"])):
        assert main(["history", "export", *words, "--as", "trajectory"]) == 0
        assert [row["run"] for row in rows_of(capsysbinary)] == numbers
    assert main(["history", "--root", str(runs), "export", "--as", "trajectory"]) == 0
    assert [row["run"] for row in rows_of(capsysbinary)] == ["1"]


def test_a_file_says_how_many_rows_it_has(runs, capsys):
    assert main(["history", "export", "--as", "turns", "--out", "turns.jsonl"]) == 0
    assert capsys.readouterr().out == "2 rows in turns.jsonl\n"
    assert len((runs / "turns.jsonl").read_text().splitlines()) == 2


def test_a_selection_of_rows_that_differ(runs, capsysbinary):
    assert main(["history", "export", "--as", "turns", "--select", "diverse", "-n", "1"]) == 0
    assert len(rows_of(capsysbinary)) == 1


def test_hard_negatives_alone_and_of_pairs(runs, capsysbinary):
    assert main(["history", "export", "--hard-negatives"]) == 0
    assert [row["attempt"] for row in rows_of(capsysbinary)] == [2]
    assert main(["history", "export", "--as", "pairs", "--hard-negatives"]) == 0
    assert [row["rejected_attempt"] for row in rows_of(capsysbinary)] == [2]


def test_without_any_of_these_options_the_export_is_what_it_was(runs, capsys):
    assert main(["history", "export"]) == 0
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == [1, 2]


@pytest.mark.parametrize(
    ("words", "why", "remedy"),
    [
        (["--as", "csv"], "There is no format 'csv'.", "Choose one with --as: diffs, edits,"),
        (["--verified"], "No format was named.", "Choose one with --as"),
        (["--as", "sft", "--out", "m.py"], "m.py exists already.", "--out"),
        (["--as", "sft", "--out", "no/x.jsonl"], "There is no folder no.", "--out"),
        (["--as", "sft", "--select", "diverse"], "--select diverse needs -n N.", "-n 100"),
        (["--as", "edits", "--hard-negatives"], "The format edits has no hard negatives.", "--as pairs"),
        (["2", "--as", "sft"], "No run of the history gives such a row.", "--as"),
        (["2", "--as", "turns", "--verified"], "No fully verified run of the history gives such a row.", "--verified"),
        (["99", "--as", "sft"], "There is no run 99 in the history.", "greenloop history"),
    ],
)
def test_what_cannot_be_is_one_sentence_with_its_remedy(runs, capsys, words, why, remedy):
    assert main(["history", "export", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert why in err
    assert remedy in err
    assert "Traceback" not in err


def test_no_run_at_all_is_a_sentence(project, capsys):
    assert main(["history", "export", "--as", "sft"]) == 2
    assert "The history has no run to export. Run `greenloop fix` first." in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["export", "--as", "sft"], "No file of results was given."),
        (["export", "none.jsonl", "--as", "sft"], "none.jsonl cannot be read"),
        (["export", "m.py", "--as", "sft"], "is not a result"),
    ],
)
def test_results_that_cannot_be_exported_are_one_sentence(project, capsys, words, why):
    assert main(["bench", *words]) == 2
    assert why in capsys.readouterr().err
