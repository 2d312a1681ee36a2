"""What a result rests on: the same place gives the same basis, and each difference is told."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Spec
from greenloop.core.text.json_codec import from_json, to_json
from greenloop.engine.history import provenance
from greenloop_sandbox import Environment, SandboxSpec

SPEC = Spec(cases=(Case(id="test_m.py::test_a", path="test_m.py", line=1),), selectors=("test_m.py",))


@pytest.fixture
def place(tmp_path) -> SandboxSpec:
    root, prefix = tmp_path / "work", tmp_path / "venv"
    root.mkdir()
    for name in ("m.py", "test_m.py", "pytest.ini"):
        (root / name).write_text("")
    site = prefix / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    for name in ("a_b-1.0.dist-info", "c-2.0.egg-info"):
        (site / name).mkdir(parents=True)
    environment = Environment(
        executable=prefix / "bin/python",
        prefix=prefix,
        base=Path("/usr"),
        version=sys.version_info[:2],
        source="test",
        has_pytest=True,
    )
    return SandboxSpec(root=root, environment=environment)


def test_a_basis_survives_json(place):
    problem = Problem(root=place.root, spec=SPEC, regions=(), originals={}, files={}, neighbours=("test_m.py::b",))
    whole = provenance.run_basis(place, problem, {"test_m.py::test_a": "failed"})
    assert whole.packages == ("a_b-1.0", "c-2.0")
    assert from_json(provenance.Basis, to_json(whole)) == whole


def test_the_same_place_differs_in_nothing(place):
    then = provenance.current_basis(place)
    assert provenance.changed_tests(then, provenance.current_basis(place)) == ()
    assert provenance.current_basis(place) == then


def test_changed_tests_are_named(place):
    then = provenance.current_basis(place)
    (place.root / "test_m.py").write_text("1")
    (place.root / "conftest.py").write_text("")
    (place.root / "pytest.ini").unlink()
    assert provenance.changed_tests(then, provenance.current_basis(place)) == ("conftest.py", "pytest.ini", "test_m.py")
    assert provenance.changed_tests(replace(then, files={}), replace(provenance.current_basis(place), files={})) != ()


def test_unsaved_tests_count_before_the_disk(place):
    then = provenance.current_basis(place, {"test_m.py": b"1"})
    assert provenance.changed_tests(then, provenance.current_basis(place)) == ("test_m.py",)
    (place.root / "test_m.py").write_text("1")
    assert provenance.changed_tests(then, provenance.current_basis(place)) == ()


def test_of_very_many_files_only_one_hash_is_kept(place):
    then = provenance.current_basis(place, most=1)
    assert then.files == {}
    (place.root / "test_m.py").write_text("1")
    assert provenance.changed_tests(then, provenance.current_basis(place, most=1)) == (
        "the tests or their configuration",
    )
