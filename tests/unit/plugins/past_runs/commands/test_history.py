"""`greenloop history`."""

from __future__ import annotations

import argparse
import json

import pytest

from conversation_attempts import BLEMISH, LOOKS, turn
from fake_engine import AFTER, BEFORE, CASE, attempt, solved, unsolved
from greenloop.cli.main import main
from greenloop.core.errors import UsageError
from greenloop.core.records.model import ModelKind
from greenloop.core.records.verdict import Status
from greenloop.engine.history.store import History
from greenloop.plugins.past_runs.commands import history
from history_runs import OLD_MESSAGE, forget_newer_fields, give_old_proofs


def test_an_empty_history(project, capsys):
    assert main(["history"]) == 0
    assert "No runs yet" in capsys.readouterr().out
    assert main(["history", "show"]) == 2
    assert main(["history", "apply"]) == 2
    assert main(["history", "export"]) == 0


def test_runs_are_listed_shown_exported(fake, capsys):
    main(["fix", CASE])
    fake.result = unsolved()
    main(["fix", CASE])
    capsys.readouterr()
    assert main(["history"]) == 0
    out = capsys.readouterr().out
    assert "not solved" in out
    assert main(["history", "show", "1"]) == 0
    out = capsys.readouterr().out
    assert "+    return x * 2" in out
    assert "verified" in out
    assert main(["history", "export"]) == 0
    assert [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()] == [1, 2]
    assert main(["history", "export", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["outcome"]["solved"] is False


@pytest.mark.parametrize("action", ["show", "export", "apply"])
@pytest.mark.parametrize(
    ("word", "run"), [("last", 2), ("2", 2), ("run:2", 2), ("1", 1), ("run:1", 1), ("99", None), ("latest", None)]
)
def test_each_verb_takes_a_number_or_last(fake, project, capsys, action, word, run):
    main(["fix", CASE])
    main(["fix", CASE])
    capsys.readouterr()
    more = ["--yes"] if action == "apply" else []
    code = main(["history", action, word, *more])
    out = capsys.readouterr().out
    assert code == (0 if run else 2)
    if run:
        assert (json.loads(out)["id"] if action == "export" else int(out.split()[1].rstrip(","))) == run


@pytest.mark.parametrize("words", [["show", "99"], ["apply", "99"], ["export", "99"], ["nonsense"]])
def test_a_run_that_is_not_there_is_2(fake, words, capsys):
    main(["fix", CASE])
    assert main(["history", *words]) == 2


def test_a_result_of_an_earlier_version_is_shown_with_its_label(fake, project, capsys):
    main(["fix", CASE])
    history = History.open()
    give_old_proofs(history)
    history.close()
    capsys.readouterr()
    assert main(["history"]) == 0
    assert " verified " in capsys.readouterr().out
    assert main(["history", "show"]) == 0
    out, err = capsys.readouterr()
    assert OLD_MESSAGE in out
    assert "+    return x * 2" in out
    assert err == ""
    assert main(["history", "apply", "1", "--yes"]) == 0
    assert (project / "m.py").read_text() == AFTER


def test_a_killed_run_is_shown_as_interrupted(project, capsys):
    history = History.open()
    history.start_run(project, CASE, preset="plain", model="m", sandbox="s")
    history._connection.execute("UPDATE runs SET born = 1")
    assert main(["history", "show"]) == 0
    assert "interrupted" in capsys.readouterr().out


def test_a_result_can_be_written_later_but_not_over_a_change(fake, project, capsys):
    main(["fix", CASE])
    assert main(["history", "apply"]) == 2  # nobody there to say yes
    (project / "m.py").write_text("# typed\n\n\n" + BEFORE)
    assert main(["history", "apply", "--yes"]) == 1
    assert "m.py changed since the run" in capsys.readouterr().err
    (project / "m.py").write_text(BEFORE)
    assert main(["history", "apply", "--yes"]) == 0
    assert (project / "m.py").read_text() == AFTER
    assert main(["history", "apply", "--yes"]) == 0
    assert main(["history"]) == 0
    assert "written" in capsys.readouterr().out


def test_the_kind_of_the_model_its_looks_and_notes_are_shown(project, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    one = turn(1, *LOOKS, blemishes=(BLEMISH,))
    history = History.open()
    run = history.start_run(
        project, CASE, preset="default", model="openai/gpt-5.1", sandbox="bubblewrap", kind=ModelKind.CAPABLE
    )
    history.save_attempt(run, attempt(0))
    history.save_attempt(run, one)
    history.finish_run(run, solved(project, attempts=(attempt(0), one), best=1))
    assert main(["history", "show"]) == 0
    out = capsys.readouterr().out
    assert "With openai/gpt-5.1 (capable), preset default, sandbox bubblewrap\n" in out
    assert "search RATES: m.py:3: RATES = {}" in out
    assert "1 question, 3 looks, 12,300 tokens (9,800 cached)" in out
    assert f"\nNote: {BLEMISH}\n" in out
    assert main(["history"]) == 0
    assert "(capable)" in " ".join(capsys.readouterr().out.split())


def test_a_run_of_before_there_were_kinds_and_looks_is_shown(project, capsys):
    history = History.open()
    run = history.start_run(project, CASE, preset="plain", model="local", sandbox="s")
    history.save_attempt(run, attempt(0))
    history.save_attempt(run, attempt(1, Status.PASSED))
    history.finish_run(run, solved(project, attempts=(attempt(0), attempt(1, Status.PASSED)), best=1))
    forget_newer_fields(history)
    history.close()
    assert main(["history", "show"]) == 0
    out = capsys.readouterr().out
    assert "With local, preset plain" in out
    assert "passed" in out
    assert main(["history"]) == 0
    assert main(["history", "export"]) == 0


@pytest.mark.usefixtures("project", "install")
def test_without_the_laboratory_rows_are_refused_with_the_way_to_get_them():
    parser = argparse.ArgumentParser()
    history.add_arguments(parser)
    with pytest.raises(UsageError) as refused:
        history.run(parser.parse_args(["export", "--as", "sft"]))
    assert str(refused.value) == (
        "Rows to learn from (`--as`) belong to greenloop's laboratory, which is not installed."
    )
    assert "pip install ./lab" in refused.value.remedy
    assert refused.value.exit_code == 2
