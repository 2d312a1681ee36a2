"""Tests that earlier runs have shown: what counts again, and what does not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.reach import Reach
from greenloop.plugins.known_tests.known_tests import KnownTests
from greenloop_sandbox import CaseResult, Environment, SandboxSpec
from greenloop_sandbox.report.traces import ReachedFunction
from project_files import write_files

A, SLOW, FAILED, BLIND = (f"tests/test_m.py::test_{name}" for name in ("a", "slow", "failed", "blind"))
FILES = {
    "tests/test_m.py": "from shop import m\n",
    "tests/conftest.py": "",
    "shop/__init__.py": "",
    "shop/m.py": "from shop.rates import RATE\n\n\ndef f(): ...\n",
    "shop/rates.py": "RATE = 2\n",
    "shop/other.py": "",
    "data.json": "{}",
}
REACH = Reach(
    functions={
        case: (ReachedFunction(path="shop/m.py", firstlineno=4, name="f", depth=1),) for case in (A, FAILED, BLIND)
    },
    also={A: {("shop/m.py", 4)}},
    shared={"": {("tests/conftest.py", 1)}},
    blind={BLIND},
    callers={("shop/m.py", 4): {("tests/test_m.py", 1)}},
    opened={A: {("data.json", "shop/m.py")}},
)
RESULTS = {
    A: CaseResult(id=A, outcome="passed", seconds=0.5),
    FAILED: CaseResult(id=FAILED, outcome="failed"),
    BLIND: CaseResult(id=BLIND, outcome="passed"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SandboxSpec:
    """A workspace whose tests have run once."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = tmp_path / "work"
    write_files(root, FILES)
    environment = Environment(
        executable=tmp_path / "bin/python", version=(3, 11), prefix=tmp_path, base=tmp_path, source="", has_pytest=True
    )
    place = SandboxSpec(root=root, environment=environment)
    KnownTests.read(place, {}, lambda: 1e12).keep(RESULTS, [SLOW], REACH, {SLOW: 3.0})
    return place


def read(place: SandboxSpec, **buffers: bytes) -> tuple[dict[str, CaseResult], Reach, KnownTests]:
    known, results, reach = KnownTests.read(place, buffers), {}, Reach()
    known.add_to(reach, results, ["tests/test_m.py"])
    return results, reach, known


def test_what_passed_and_was_traced_counts_again_and_the_others_run(place):
    results, reach, known = read(place)
    assert results == {A: RESULTS[A]}
    assert (reach.functions[A], reach.also[A], reach.opened[A]) == (
        REACH.functions[A],
        REACH.also[A],
        REACH.opened[A],
    )
    assert (reach.shared, reach.callers) == (REACH.shared, REACH.callers)
    assert known.choose(["tests/test_m.py", "tests/test_new.py"], results, 1.5) == (
        [FAILED, BLIND, "tests/test_new.py"],
        [SLOW],
    )


@pytest.mark.parametrize("path", [path for path in FILES if path != "shop/other.py"])
def test_any_changed_file_that_it_executed_imported_or_read_counts(place, path):
    (place.root / path).write_text("# changed")
    assert read(place)[0] == {}


def test_a_new_configuration_or_an_unsaved_text_counts_too(place):
    assert read(place, **{"shop/rates.py": b"RATE = 3\n"})[0] == {}
    (place.root / "pytest.ini").write_text("[pytest]\n")
    assert read(place)[0] == {}


def test_other_files_and_times_do_not_count(place):
    (place.root / "shop/other.py").write_text("# changed")
    (place.root / "shop/m.py").write_text(FILES["shop/m.py"])
    assert list(read(place)[0]) == [A]


def test_another_environment_has_its_own(place):
    assert read(replace(place, variables={"MODE": "fast"}))[0] == {}


def test_the_names_of_tests_count_only_as_long_as_their_file_is_the_same(place):
    (place.root / "tests/test_m.py").write_text("# changed")
    assert read(place)[2].choose(["tests/test_m.py"], {}, 1.5) == (["tests/test_m.py"], [])


def test_what_changed_during_the_run_is_not_kept(place):
    other = replace(place, variables={"MODE": "fast"})
    KnownTests.read(other, {}, lambda: 0.0).keep(RESULTS, [SLOW], REACH, {})
    assert read(other)[0] == {}


@pytest.mark.parametrize(
    "damage",
    [
        lambda _stored: "{",
        lambda _stored: "[]",
        lambda stored: json.dumps({**stored, "traces": {A: {"reads": []}}}),
        lambda stored: json.dumps({**stored, "seconds": ["x"]}),
        lambda stored: json.dumps({**stored, "shared": {"places": [[1]], "cached": 3}}),
    ],
)
def test_a_damaged_store_is_an_empty_one(place, damage):
    (file,) = (place.root.parent / "state").rglob("*.json")
    file.write_text(damage(json.loads(file.read_text())))
    results, _reach, known = read(place)
    assert (results, known.seconds) == ({}, {})
