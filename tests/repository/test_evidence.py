"""The experiments of benchmarks/evidence.toml compare arms that their plans have."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from greenloop.bench import plans

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
EXPERIMENTS = tomllib.loads((BENCHMARKS / "evidence.toml").read_text())["experiment"]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda each: each["name"])
def test_every_compared_arm_is_in_the_plan(experiment):
    compared = {each[side] for each in experiment.get("compare", ()) for side in ("better", "than")}
    if "plan" in experiment:
        arms = {arm.name for arm in plans.read(BENCHMARKS / "ablations" / f"{experiment['plan']}.toml").arms}
        assert compared
        assert compared <= set(experiment.get("arms", arms)) <= arms
    else:
        assert not compared


@pytest.mark.parametrize("path", sorted((BENCHMARKS / "plans").glob("*.toml")), ids=lambda path: path.stem)
def test_a_plan_for_a_machine_names_its_model_and_what_it_leaves_out(path):
    plan = tomllib.loads(path.read_text())
    assert plan["model"]
    assert plan["sample"] >= 60
    assert {*plan.get("skip", ())} <= {each["name"] for each in EXPERIMENTS}
