"""What of a run gets into its file, and which runs no other machine could verify."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.core.records.outcome import Evidence, Outcome, StopReason, Verified
from greenloop.core.records.spec import Case, Provenance, Spec
from greenloop.engine.history.provenance import Basis
from greenloop.engine.history.rows import StoredRun
from greenloop.plugins.replay.export import cleaner, export_run, list_requirements
from greenloop.plugins.replay.run_file import FileEdit, format_run_file

CASE = Case(id="test_m.py::test_a", path="test_m.py", line=1)
BASIS = Basis(
    trusted="f" * 64,
    files={"test_m.py": "0" * 16},
    code={"m.py": "1" * 16, "n.py": "2" * 16},
    python="/somewhere/bin/python",
    version="3.11",
    packages=("a_b-1.0", "old-2.0-py3.11", "unversioned"),
    spec=Spec(cases=(CASE,), selectors=(CASE.id,)),
)


@pytest.fixture
def record(tmp_path) -> StoredRun:
    outcome = Outcome(
        solved=True,
        verified=Verified.VERIFIED,
        reason=StopReason.SOLVED,
        message=f"Verified in {tmp_path}/m.py, {Path.home()}/x and hunter2hunter2.",
        attempts=(),
        before={"m.py": "A = 1\n", "test_m.py": "", "same.py": ""},
        after={"m.py": "A = 2\n", "test_m.py": "# written\n", "same.py": ""},
        evidence=Evidence(warnings=(f"It reads {tmp_path}/data.",)),
    )
    return StoredRun(
        id=7,
        root=str(tmp_path),
        target=CASE.id,
        preset="plain",
        model=f"scripted:{tmp_path}/answers.jsonl",
        sandbox="bubblewrap",
        started=0.0,
        finished=1.0,
        applied=None,
        state="finished",
        owned=False,
        count=3,
        outcome=outcome,
    )


def test_a_file_has_the_change_and_hashes_of_the_rest(record):
    run = export_run(record, BASIS, {})
    assert run.change == (FileEdit(path="m.py", before="A = 1\n", after="A = 2\n"),)
    assert (run.cases, run.tests, run.code) == ((CASE.id,), BASIS.files, {"n.py": "2" * 16})
    assert run.environment.packages == ("a-b==1.0", "old==2.0")
    assert (run.attempts, run.finished) == (3, "1970-01-01T00:00:01Z")


def test_folders_and_secrets_stay_here(record):
    text = format_run_file(export_run(record, BASIS, {"API_TOKEN": "hunter2hunter2"}))
    for word in (record.root, str(Path.home()), "/somewhere", "hunter2hunter2"):
        assert word not in text
    assert "Verified in ./m.py, ~/x and [redacted]." in text
    assert '"model": "scripted:answers.jsonl"' in text


@pytest.mark.parametrize("where", ["before", "after"])
def test_code_with_a_secret_is_not_exported(record, where):
    texts = {"before": {"m.py": "A = 1\n"}, "after": {"m.py": "A = 2\n"}}
    texts[where] = {"m.py": "A = 'hunter2hunter2'\n"}
    outcome = replace(record.outcome, **texts)
    with pytest.raises(UsageError, match=r"m\.py contains a value that looks like a secret") as error:
        export_run(replace(record, outcome=outcome), BASIS, {"API_TOKEN": "hunter2hunter2"})
    assert "hunter2" not in f"{error.value} {error.value.remedy}"


def test_a_test_with_a_secret_in_its_name_is_not_exported(record):
    with pytest.raises(UsageError, match="name of a test contains"):
        export_run(record, BASIS, {"API_TOKEN": "test_m.py::test_a"})


def with_case(**changes) -> Basis:
    return replace(BASIS, spec=replace(BASIS.spec, cases=(replace(CASE, **changes),)))


@pytest.mark.parametrize(
    ("basis", "told"),
    [
        (None, "recorded by an older greenloop"),
        (replace(BASIS, spec=Spec()), "recorded by an older greenloop"),
        (with_case(provenance=Provenance.DESIGNED), "not proven by failing tests of the project"),
        (with_case(provenance=Provenance.DOCTEST), "not proven by failing tests of the project"),
        (with_case(provenance=Provenance.GOAL), "not proven by failing tests of the project"),
        (
            replace(BASIS, spec=replace(BASIS.spec, files={"test_m.py": ""})),
            "not proven by failing tests of the project",
        ),
    ],
)
def test_what_no_other_machine_could_verify(record, basis, told):
    with pytest.raises(CannotVerifyError, match=told) as error:
        export_run(record, basis, {})
    assert error.value.remedy


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"solved": False}, "no result that could be exported"),
        ({"after": {}}, "no result that could be exported"),
        ({"after": {"test_m.py": "# written\n"}}, "changed nothing but tests"),
        ({"after": {"m.pyi": "A = 1\n"}}, "changed m.pyi, which is not an ordinary Python file"),
    ],
)
def test_a_run_without_a_change_is_not_exported(record, changes, told):
    with pytest.raises(UsageError, match=told):
        export_run(replace(record, outcome=replace(record.outcome, **changes)), BASIS, {})
    with pytest.raises(UsageError, match="no result"):
        export_run(replace(record, outcome=None), BASIS, {})


def test_packages_become_requirements():
    assert list_requirements(["Zope.Interface-5.0", "a_b-1.0+local.1", "__editable__.x"]) == (
        "a-b==1.0+local.1",
        "zope-interface==5.0",
    )


@pytest.mark.parametrize(
    ("value", "clean"),
    [
        ("/w/m.py", "./m.py"),
        (f"{Path.home()}/x", "~/x"),
        ({"a": ["x s3cr3t-value", 3, None]}, {"a": ["x [redacted]", 3, None]}),
    ],
)
def test_folders_and_secrets(value, clean):
    assert cleaner(Path("/w"), ["s3cr3t-value"])(value) == clean


def test_the_root_of_the_machine_is_in_every_path_and_stays():
    assert cleaner(Path("/"), [])("/usr/lib") == "/usr/lib"
