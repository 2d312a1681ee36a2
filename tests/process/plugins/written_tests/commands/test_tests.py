"""`greenloop tests --edit` with an editor."""

from __future__ import annotations

import sys

import pytest

from docstring_specs import REGION, make_spec
from fake_engine import BEFORE
from greenloop.cli.main import main
from greenloop.plugins.written_tests import stored_tests

EDITOR = """import sys, pathlib
path = pathlib.Path(sys.argv[1])
path.write_text(path.read_text().replace({old!r}, {new!r}))
"""


@pytest.fixture
def kept(project):
    return stored_tests.save(stored_tests.load(project, REGION, BEFORE), make_spec(), "m")


def edit_by(monkeypatch, tmp_path, old: str, new: str) -> None:
    script = tmp_path / "an editor.py"
    script.write_text(EDITOR.format(old=old, new=new))
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} '{script}'")


def test_edited_tests_are_the_users(kept, project, monkeypatch, tmp_path):
    edit_by(monkeypatch, tmp_path, "double(0) == 1", "double(0) == 0")
    assert main(["tests", "m.py::double", "--edit"]) == 0
    known = stored_tests.load(project, REGION, BEFORE)
    assert [each.body for each in known.confirmed] == ["assert double(0) == 0"]
    assert list(known.struck.values()) == ["assert double(0) == 1"]


def test_what_was_struck_out_is_listed(kept, monkeypatch, tmp_path, capsys):
    edit_by(
        monkeypatch, tmp_path, "\n\n\n# written by the model\ndef test_designed_2():\n    assert double(0) == 1", ""
    )
    main(["tests", "m.py::double", "--edit"])
    capsys.readouterr()
    assert main(["tests", "m.py::double"]) == 0
    assert "# rejected: assert double(0) == 1" in capsys.readouterr().out


def test_a_slip_in_the_editor_is_said_at_once(kept, monkeypatch, tmp_path, capsys):
    edit_by(monkeypatch, tmp_path, "double(0) == 1", "double(0) == (")
    assert main(["tests", "m.py::double", "--edit"]) == 2
    err = capsys.readouterr().err
    assert "cannot be read: line " in err
    assert "Correct or delete it" in err


@pytest.mark.parametrize(("editor", "why"), [("", "No editor is set"), ("/no/such/editor -w", "cannot be started")])
def test_an_editor_that_is_none(kept, monkeypatch, capsys, editor, why):
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    assert main(["tests", "m.py::double", "--edit"]) == 2
    err = capsys.readouterr().err
    assert why in err
    assert str(kept.path) in err
