"""The experiments of lab/benchmarks/evidence.toml compare arms that their plans have."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

import pytest

from greenloop_lab.bench import plans
from greenloop_lab.bench.recordings import Recordings

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
EXPERIMENTS = tomllib.loads((BENCHMARKS / "evidence.toml").read_text())["experiment"]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda each: each["name"])
def test_every_compared_arm_is_in_the_plan(experiment):
    compared = {each[side] for each in experiment.get("compare", ()) for side in ("better", "than")}
    if "plan" in experiment:
        arms = {arm.name for arm in plans.read(BENCHMARKS / "ablations" / f"{experiment['plan']}.toml").arms}
        assert compared
        assert compared <= set(experiment.get("arms", arms)) <= arms
    elif other := experiment.get("beside"):
        (there,) = (each for each in EXPERIMENTS if each["name"] == other["experiment"])
        assert compared == {*experiment["arms"], other["name"]}
        assert {there["tasks"], there.get("repeats", 1)} == {experiment["tasks"], experiment.get("repeats", 1)}
        arms = {arm.name for arm in plans.read(BENCHMARKS / "ablations" / f"{there['plan']}.toml").arms}
        assert other["arm"] in there.get("arms", arms)
    else:
        assert not compared


@pytest.mark.parametrize("path", sorted((BENCHMARKS / "answers").iterdir()), ids=lambda path: path.stem)
def test_recorded_answers_are_those_of_a_plan_and_can_be_read(path, tmp_path):
    plan = BENCHMARKS / "plans" / f"{path.name.partition('.')[0]}.toml"
    answers = tmp_path / "answers.jsonl"
    spec = importlib.util.spec_from_file_location("evidence", BENCHMARKS / "evidence.py")
    evidence = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(evidence)
    evidence.take_recorded(plan, answers)
    assert len(Recordings(answers)) == len(answers.read_text().splitlines()) > 0
    answers.write_text("")
    evidence.take_recorded(plan, answers)  # what is there stays
    assert not answers.read_text()


@pytest.mark.parametrize("path", sorted((BENCHMARKS / "plans").glob("*.toml")), ids=lambda path: path.stem)
def test_a_plan_for_a_machine_names_its_model_and_what_it_leaves_out(path):
    plan = tomllib.loads(path.read_text())
    assert plan["model"]
    assert plan["sample"] >= 60
    assert {*plan.get("skip", ())} <= {each["name"] for each in EXPERIMENTS}
