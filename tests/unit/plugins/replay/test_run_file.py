"""The file of an exported run: it survives, and nothing that is not one is read."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from greenloop.core.errors import UsageError
from greenloop.core.records.outcome import Evidence, Verified
from greenloop.plugins.replay import run_file
from greenloop.plugins.replay.run_file import (
    Claim,
    FileEdit,
    Lock,
    RunFile,
    RunSettings,
    format_run_file,
    is_safe_path,
    read_run_file,
)
from greenloop_sandbox import Limits

SCHEMA = Path(__file__).parents[4] / "docs" / "run-file.schema.json"
RUN = RunFile(
    target="test_m.py::test_a",
    cases=("test_m.py::test_a",),
    change=(FileEdit(path="m.py", before="A = 1\n", after="A = 2\n"), FileEdit(path="n.py", before=None, after="")),
    tests_hash="f" * 64,
    tests={"test_m.py": "0" * 16},
    code={"o.py": "1" * 16},
    claim=Claim(verified=Verified.VERIFIED, message="Verified.", evidence=Evidence(cases={"user": (1, 1)})),
    environment=Lock(python="3.11", packages=("attrs==22.1.0",), sandbox="bubblewrap"),
    settings=RunSettings(network=True, variables=("A",), seeds=(1,), limits=Limits()),
    outcomes={"test_m.py::test_a": "failed"},
    related=("test_m.py::test_b",),
    model="m",
    preset="plain",
    attempts=3,
    finished="2026-01-01T00:00:00Z",
    greenloop="1",
)
VALUE = json.loads(format_run_file(RUN))


def write(folder: Path, value: object) -> Path:
    file = folder / "run.json"
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return file


def test_a_run_survives_its_file(tmp_path):
    assert read_run_file(write(tmp_path, format_run_file(RUN))) == RUN


@pytest.mark.parametrize("run", [RUN, replace(RUN, settings=RunSettings())])
def test_the_schema_describes_the_file(run):
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(format_run_file(run)), schema)


def test_the_schema_names_every_field_and_no_other():
    schema = json.loads(SCHEMA.read_text())
    assert {*schema["properties"]} == {*VALUE} == {*schema["required"]}
    for name in ("environment", "settings", "claim"):
        assert {*schema["properties"][name]["properties"]} == {*VALUE[name]}
    assert {*schema["properties"]["change"]["items"]["properties"]} == {*VALUE["change"][0]}


def test_fields_of_a_later_greenloop_are_ignored(tmp_path):
    assert read_run_file(write(tmp_path, {**VALUE, "later": 1})) == RUN


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("\x00", "is not JSON"),
        ('{"version": ' + "9" * 5000 + "}", "is not JSON"),
        ([], "is not an exported run"),
        ({}, "is not an exported run"),
        ({**VALUE, "format": "other"}, "is not an exported run"),
        ({**VALUE, "version": 2}, "has version 2 of the format, and this greenloop reads 1"),
        ({**VALUE, "version": 0}, "unknown version"),
        ({**VALUE, "version": True}, "unknown version"),
        ({**VALUE, "version": "1"}, "unknown version"),
        ({**VALUE, "change": "m.py"}, "damaged"),
        ({**VALUE, "change": [1]}, "damaged"),
        ({**VALUE, "change": [{"path": "m.py"}]}, "damaged"),
        ({**VALUE, "change": [{"path": "m.py", "before": 1, "after": ""}]}, "damaged"),
        ({**VALUE, "cases": {"a": "b"}}, "damaged"),
        ({**VALUE, "tests": 7}, "damaged"),
        ({**VALUE, "claim": {"verified": "surely"}}, "damaged"),
        ({name: each for name, each in VALUE.items() if name != "environment"}, "damaged"),
        ({**VALUE, "change": []}, "no change"),
        ({**VALUE, "cases": []}, "no change, or no test"),
        ({**VALUE, "change": [VALUE["change"][0]] * 2}, "one of them twice"),
        ({**VALUE, "change": [{"path": "m.py", "before": "", "after": "\ud800"}]}, "a text of m.py that no file"),
        ({**VALUE, "change": [{"path": "m.py", "before": "\0", "after": ""}]}, "a text of m.py that no file"),
        ({**VALUE, "change": [{"path": "../m.py", "before": "", "after": ""}]}, "'../m.py', which is not a path"),
    ],
)
def test_what_is_not_an_exported_run_is_refused_in_a_sentence(tmp_path, value, told):
    with pytest.raises(UsageError) as error:
        read_run_file(write(tmp_path, value))
    assert "run.json" in str(error.value)
    assert told in str(error.value)
    assert str(error.value).endswith(".")
    assert error.value.remedy


def test_a_huge_file_is_not_read(tmp_path):
    file = write(tmp_path, "")
    os.truncate(file, run_file.MOST_BYTES + 1)
    with pytest.raises(UsageError, match="larger than 16 MiB"):
        read_run_file(file)


def test_what_is_not_a_file_is_not_read(tmp_path):
    with pytest.raises(UsageError, match=r"cannot be read: No such file"):
        read_run_file(tmp_path / "none.json")
    with pytest.raises(UsageError, match="not a regular file"):
        read_run_file(tmp_path)
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(UsageError, match="not a regular file"):
        read_run_file(tmp_path / "pipe.json")


@pytest.mark.parametrize("path", ["m.py", "a b/ü.py", "src/a/__init__.py"])
def test_paths_of_a_workspace(path):
    assert is_safe_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "", ".", "..", "/m.py", "../m.py", "a/../m.py", "./m.py", "a//m.py", "a/", "~/m.txt", "m.txt", "m.so", "m.pth",
        "C:/m.py", "a\\m.py", "\\\\host\\m.py", "m.py\0", "m\n.py", "\ud800.py", ".git/hooks/m.py", ".m.py",
        "a/.venv/m.py", "m.py/", "a:b.py", "\u202em.py",
    ],
)  # fmt: skip
def test_paths_that_could_lead_elsewhere(path):
    assert not is_safe_path(path)
