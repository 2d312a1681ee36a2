"""`greenloop export`, and what `greenloop verify` does with a file."""

from __future__ import annotations

import json

import pytest

from fake_engine import AFTER, BEFORE, CASE, unsolved
from greenloop.cli.main import main
from greenloop.core.records.spec import Case, Spec
from greenloop.engine.history.provenance import Basis
from greenloop.engine.history.store import History
from greenloop.engine.verify.report import Verification
from greenloop.plugins.replay import run_file
from greenloop.plugins.replay.commands import verify_targets
from greenloop.plugins.replay.verify_file import ChangedText

BASIS = Basis(trusted="f" * 64, version="3.11", spec=Spec(cases=(Case(id=CASE, path="test_m.py", line=4),)))


@pytest.fixture
def solved_run(fake, capsys):
    """Run 1 of the history, solved; and run 2, which is not."""
    main(["fix", CASE])
    fake.result = unsolved()
    main(["fix", CASE])
    history = History.open()
    history.set_basis(1, BASIS)
    history.close()
    capsys.readouterr()


@pytest.mark.parametrize("word", ["1", "run:1", "last"])
def test_a_run_is_printed(solved_run, word, capsys):
    assert main(["export", word]) == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["format"], value["cases"]) == ("greenloop-run", [CASE])
    assert value["change"] == [{"path": "m.py", "before": BEFORE, "after": AFTER}]


def test_a_run_is_written(solved_run, project, capsys):
    assert main(["export", "run:1", "--out", "r.json", "--root", "."]) == 0
    assert "greenloop verify r.json" in capsys.readouterr().out
    assert run_file.read_run_file(project / "r.json").target == CASE


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nonsense"], "'nonsense' is not the number of a run"),
        (["9"], "There is no run 9"),
        (["2"], "Run 2 has no result"),
        (["1", "--out", "no/such/r.json"], "There is no folder"),
        (["1", "--out", "."], "is not a regular file"),
    ],
)
def test_what_cannot_be_exported_is_2(solved_run, words, told, capsys):
    assert main(["export", *words]) == 2
    assert told in capsys.readouterr().err


def test_the_last_run_of_an_empty_history(project, capsys):
    assert main(["export", "last"]) == 2
    assert "No run in the history has a result" in capsys.readouterr().err


@pytest.fixture
def verified(project, monkeypatch):
    """Makes the verification of a file return this result; what was asked for is in the list."""
    asked = []

    def set_(**result):
        async def verify_run_file(file, root, *, settings, seconds, report_status):
            asked.append((file, root, seconds))
            change = ChangedText(current={"m.py": BEFORE}, before={"m.py": BEFORE}, after={"m.py": AFTER})
            return Verification(revision="this workspace", sandbox="bubblewrap", **result), change

        monkeypatch.setattr(verify_targets, "verify_run_file", verify_run_file)
        return asked

    return set_


def test_a_file_is_verified_and_its_change_is_shown(verified, project, capsys):
    asked = verified(verified=True)
    assert main(["verify", "r.json", "--seconds", "5"]) == 0
    assert asked == [(project / "r.json", project, 5.0)]
    out = capsys.readouterr().out
    assert "+    return x * 2" in out
    assert "Verified in bubblewrap: 0 tests of this workspace pass with this code" in out
    assert (project / "m.py").read_text() == BEFORE


@pytest.mark.parametrize("is_verified", [True, False])
def test_only_what_is_verified_is_written(verified, project, is_verified, capsys):
    verified(verified=is_verified, reason="" if is_verified else "No.")
    assert main(["verify", "r.json", "--apply", "--json"]) == (0 if is_verified else 1)
    assert json.loads(capsys.readouterr().out)["written"] == (["m.py"] if is_verified else [])
    assert (project / "m.py").read_text() == (AFTER if is_verified else BEFORE)


def test_nothing_is_written_over_another_text(verified, project, capsys):
    verified(verified=True)
    (project / "m.py").write_text("# typed\n")
    assert main(["verify", "r.json", "--apply"]) == 1
    err = capsys.readouterr().err
    assert "m.py changed in the meantime" in err
    assert "Nothing was written" in err
    assert (project / "m.py").read_text() == "# typed\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["r.json", "test_m.py"], "cannot be combined with other targets"),
        (["r.json", "--base", "main"], "--base cannot be combined with an exported run"),
        (["r.json", "--known-failing", "a.py"], "--known-failing cannot be combined with an exported run"),
        (["test_m.py", "--apply"], "--apply needs an exported run"),
        (["run:1", "--apply"], "--apply needs an exported run"),
        (["none.json"], "none.json cannot be read"),
    ],
)
def test_words_that_do_not_fit_are_2(project, words, told, capsys):
    assert main(["verify", *words]) == 2
    assert told in capsys.readouterr().err
