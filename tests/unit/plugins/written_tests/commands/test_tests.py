"""`greenloop tests`, and the frozen tests as a run shows them."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from cells import notebook
from docstring_specs import REGION, make_spec
from fake_engine import AFTER, BEFORE, CASE, solved
from greenloop.cli.live_table import LiveTable, PlainLines
from greenloop.cli.main import main
from greenloop.core.events import Specified
from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.records.outcome import Evidence, Verified
from greenloop.core.records.spec import Provenance, Spec
from greenloop.plugins.notebooks.adapter import load, prepare
from greenloop.plugins.notebooks.cell_targets import CellTarget
from greenloop.plugins.written_tests import stored_tests
from greenloop.wording.outcome import summarize_solved as label


def ruled() -> Spec:
    """One of them was voted down."""
    whole = make_spec()
    return replace(whole, cases=whole.cases[:2], outvoted=whole.cases[2:])


@pytest.fixture
def kept(project):
    return stored_tests.save(stored_tests.load(project, REGION, BEFORE), make_spec(), "m")


def test_those_of_a_function_in_a_notebook_are_found_by_its_name(project, capsys):
    (project / "nb.ipynb").write_text(notebook("import os", BEFORE))
    asked = prepare(load(project, "nb.ipynb")[0], CellTarget(cell=1, last_cell=1, name="double"))
    region = asked.target.region
    stored_tests.save(stored_tests.load(project, region, asked.composed.module), make_spec(), "nb_ipynb")
    assert main(["tests", "nb.ipynb::double"]) == 0
    assert "assert double(2) == 4" in capsys.readouterr().out


# -- the command -------------------------------------------------------------------------------------------------


def test_it_prints_the_tests_and_where_they_are(kept, capsys):
    assert main(["tests", "m.py::double"]) == 0
    out, err = capsys.readouterr()
    assert "def test_designed_1():\n    assert double(2) == 4\n" in out
    assert err.strip() == str(kept.path)


@pytest.mark.parametrize("typed", ["m.py:1", "m.py"])
def test_a_function_by_its_line_or_its_file(kept, capsys, typed):
    assert main(["tests", typed]) == 0
    assert "test_designed_1" in capsys.readouterr().out


def test_without_tests_it_says_how_to_make_some(project, capsys):
    assert main(["tests", "m.py::double"]) == 1
    assert "`greenloop fix m.py::double` generates them from its docstring." in capsys.readouterr().err


@pytest.mark.parametrize("typed", ["test_m.py::test_double", "m.py::nothing", "gone.py::f"])
def test_what_is_no_function_is_2(project, capsys, typed):
    assert main(["tests", typed]) == 2
    assert "Traceback" not in capsys.readouterr().err


# -- during a run ------------------------------------------------------------------------------------------------


def test_frozen_tests_are_listed_once_and_then_what_changed():
    said: list[str] = []
    lines = PlainLines(said.append)
    lines.emit(Specified(spec=make_spec()))
    assert said == [
        "tests, fixed before the first attempt: 1 example in the docstring, 2 written by the model",
        "  ? assert double(2) == 4  (written by the model)",
        "  ? assert double(0) == 1  (written by the model)",
        "  in doubt: The docstring does not say what double(None) is.",
    ]
    said.clear()
    lines.emit(Specified(spec=ruled(), reason="1 of 2 generated tests are trusted."))
    assert said == [
        "1 of 2 generated tests are trusted.",
        "  ? assert double(2) == 4  (written by the model, supported by votes)",
        "  x assert double(0) == 1  (discarded: the votes go against it)",
    ]


def test_the_live_table_shows_them_above():
    out = io.StringIO()
    with LiveTable(Console(file=out, force_terminal=True, width=100)) as live:
        live.emit(Specified(spec=make_spec()))
    assert "? assert double(0) == 1" in out.getvalue()


def test_nothing_a_model_wrote_reaches_the_terminal_raw():
    said: list[str] = []
    evil = build_test_file(
        REGION, "m", "designed", [Check(body="x", line=1, provenance=Provenance.DESIGNED, shown="\x1b[2J\u202e")]
    )
    PlainLines(said.append).emit(Specified(spec=replace(evil, doubts=("\x1b]0;x\x07",))))
    assert not [line for line in said if "\x1b" in line or "\u202e" in line]


def test_programs_get_them_with_whether_they_are_believed(fake, capsys):
    inner = fake.events
    fake.events = lambda attempts: [
        Specified(spec=make_spec()),
        *inner(attempts),
        Specified(spec=ruled(), reason="1 of 2"),
    ]
    main(["fix", CASE, "--json"])
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    first, last = [event for event in events if event["event"] == "specified"]
    assert [case["believed"] for case in first["cases"]] == [True, True, True]
    assert [(case["source"], case["believed"]) for case in last["cases"]][1:] == [
        ("assert double(2) == 4", True),
        ("assert double(0) == 1", False),
    ]
    assert last["said"] == "1 of 2"


def test_what_only_designed_tests_speak_for_is_1_and_not_written(fake, project, capsys):
    """Who wrote the tests is in the sentence; `--accept partial` takes it."""
    evidence = Evidence(sandbox="bubblewrap", cases={"designed": (7, 8), "property": (2, 2)})
    message = label(evidence, Verified.PARTIALLY)
    fake.result = solved(project, verified=Verified.PARTIALLY, evidence=evidence, message=message)
    assert main(["fix", CASE, "--apply"]) == 1
    assert (
        "Partially verified in bubblewrap: no tests of your own, 7/8 generated tests pass, 2/2 properties pass"
        in capsys.readouterr().out
    )
    assert (project / "m.py").read_text() == BEFORE
    assert main(["fix", CASE, "--apply", "--accept", "partial"]) == 0
    assert (project / "m.py").read_text() == AFTER
