"""`greenloop undo`: the files are as before the run, or untouched."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fake_engine import AFTER, BEFORE, CASE, solved
from greenloop.cli.main import main
from greenloop.engine.history.store import History


@pytest.mark.parametrize("words", [[], ["last"], ["1"], ["run:1"]])
def test_what_a_run_wrote_is_put_back_and_can_be_written_again(fake, project, capsys, words):
    main(["fix", CASE, "--apply"])
    assert (project / "m.py").read_text() == AFTER
    assert main(["undo", *words]) == 0
    assert (project / "m.py").read_text() == BEFORE
    assert "Undone: m.py" in capsys.readouterr().out
    assert main(["undo", *words]) == 2  # it is not written any more
    assert main(["history", "apply", "1", "--yes"]) == 0
    assert (project / "m.py").read_text() == AFTER


@pytest.mark.parametrize("text", [AFTER + "# typed\n", None], ids=["changed", "deleted"])
def test_a_file_that_changed_since_stays(fake, project, capsys, text):
    main(["fix", CASE, "--apply"])
    if text is None:
        (project / "m.py").unlink()
    else:
        (project / "m.py").write_text(text)
    assert main(["undo"]) == 1
    err = capsys.readouterr().err
    assert "m.py was deleted since" in err if text is None else "m.py changed since run 1 was written" in err
    assert "greenloop history show 1" in err
    assert ((project / "m.py").read_text() if (project / "m.py").exists() else None) == text


def test_one_changed_file_keeps_all_others(fake, project):
    before = {"m.py": BEFORE, "n.py": None}
    fake.result = replace(solved(project), before=before, after={"m.py": AFTER, "n.py": "new = 1\n"})
    main(["fix", CASE, "--apply"])
    assert (project / "n.py").read_text() == "new = 1\n"
    (project / "n.py").write_text("new = 2\n")
    assert main(["undo"]) == 1
    assert ((project / "m.py").read_text(), (project / "n.py").read_text()) == (AFTER, "new = 2\n")
    (project / "n.py").write_text("new = 1\n")
    assert main(["undo"]) == 0
    assert (project / "m.py").read_text() == BEFORE
    assert not (project / "n.py").exists()  # the run had made it


def test_the_encoding_and_line_ends_of_the_file_stay(fake, project):
    (project / "m.py").write_bytes(b"\xef\xbb\xbf" + BEFORE.encode())
    main(["fix", CASE, "--apply"])
    assert main(["undo"]) == 0
    assert (project / "m.py").read_bytes() == b"\xef\xbb\xbf" + BEFORE.encode()


def test_nothing_to_undo_is_2(fake, project, capsys):
    assert main(["undo"]) == 2
    assert "No run of this workspace was written" in capsys.readouterr().err
    main(["fix", CASE])
    assert main(["undo", "1"]) == 2
    assert "Run 1 was not written" in capsys.readouterr().err
    assert main(["undo", "99"]) == 2
    with History.open() as history:
        assert history.run(1).applied is None
