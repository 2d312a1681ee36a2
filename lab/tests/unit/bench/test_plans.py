"""Arms on the command line and in plans."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.errors import SettingsError, UsageError
from greenloop.project.settings import get
from greenloop_lab.bench import plans
from greenloop_lab.settings import PlanningSettings

ABLATIONS = Path(__file__).resolve().parents[3] / "benchmarks" / "ablations"


def test_an_arm_has_parts_settings_and_a_match():
    arm = plans.parse_arm("default:search=best_of_n,feedback=raw+docs,attempts=7,sandbox.env=A,B,match=plain")
    assert (arm.preset.name, arm.preset.search, arm.preset.feedback) == ("default", "best_of_n", ("raw", "docs"))
    assert arm.settings == {"attempts": 7, "sandbox.env": "A,B"}
    assert arm.parts == {"search": "best_of_n", "feedback": ["raw", "docs"]}
    assert arm.match == "plain"
    assert plans.parse_arm("plain").preset.search == "chain"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("plane", "no preset named 'plane'"),
        ("plain:atempts=3", "Unknown setting 'atempts'"),
        ("plain:attempts=many", "must be a whole number"),
        ("plain:search=best", "no search part named 'best'"),
        ("plain:feedback=raw+dox", "no feedback part named 'dox'"),
        ("plain:prompt=fancy", "Unknown prompt 'fancy'"),
        ("plain:attempts", "not in the form key=value"),
    ],
)
def test_an_arm_that_cannot_be_is_told(text, why):
    with pytest.raises(SettingsError, match=why):
        plans.parse_arm(text)


def test_a_setting_of_an_arm_may_be_a_list():
    settings = plans.settings_for({"planner.skip": ["design", "review"], "model": "reference"}, None)
    assert settings.of(PlanningSettings).skip == ["design", "review"]
    assert settings.model == ""


def test_arms_that_match_come_last_and_match_what_is_there():
    one, other = plans.parse_arm("plain:match=default"), plans.parse_arm("default")
    assert plans.check_arms([one, other]) == [other, one]
    with pytest.raises(UsageError, match="matches 'default', which does not make its own calls"):
        plans.check_arms([one])
    with pytest.raises(UsageError, match="Two arms are named 'default'"):
        plans.check_arms([other, other])


PLAN = plans.Plan(arms=tuple(plans.make_arm(name, "plain", {}) for name in ("once", "twice", "chain")))
NAMED_AS_A_PRESET = plans.Plan(arms=(plans.make_arm("once", "plain", {}), plans.make_arm("plain", "default", {})))


@pytest.mark.parametrize(
    ("texts", "plan", "names"),
    [
        ((), None, ["default"]),
        (("plain", "default:attempts=2"), None, ["plain", "default:attempts=2"]),
        ((), PLAN, ["once", "twice", "chain"]),
        (("twice",), PLAN, ["twice"]),
        (("twice", "once"), PLAN, ["twice", "once"]),
        (("plain",), PLAN, ["once", "twice", "chain", "plain"]),
        (("plain:attempts=2", "twice"), PLAN, ["plain:attempts=2", "twice"]),
        (("plain:match=once", "once"), PLAN, ["once", "plain:match=once"]),
        (("plain",), NAMED_AS_A_PRESET, ["plain"]),
    ],
)
def test_arms_of_a_plan_are_chosen_by_name_and_presets_run_as_well(texts, plan, names):
    assert [arm.name for arm in plans.choose_arms(texts, plan)] == names


def test_an_arm_of_the_plan_takes_precedence_over_a_preset_of_its_name():
    (arm,) = plans.choose_arms(("plain",), NAMED_AS_A_PRESET)
    assert arm.preset.name == "default"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("thrice", "'thrice' is neither a preset nor an arm of the plan, which has: once, twice, chain."),
        ("once:attempts=2", "'once:attempts=2' is neither a preset nor an arm of the plan"),
        ("plain:x=1", "Unknown setting 'x'"),
        ("plain:match=twice", "matches 'twice', which does not make its own calls"),
    ],
)
def test_an_arm_that_cannot_be_chosen_is_told(text, why):
    with pytest.raises((UsageError, SettingsError), match=re.escape(why)):
        plans.choose_arms(("once", text), PLAN)


def test_a_plan(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(
        'about = "a"\nrepeats = 3\n[settings]\nsandbox.seconds = 5.0\n'
        '[arms.one]\npreset = "plain"\nattempts = 1\n[arms.two]\npreset = "plain"\nblind = true\ndrafter.tokens = 50\n'
    )
    plan = plans.read(path)
    assert (plan.about, plan.repeats, plan.settings) == ("a", 3, {"sandbox.seconds": 5.0})
    assert [(arm.name, arm.settings, arm.preset.blind) for arm in plan.arms] == [
        ("one", {"attempts": 1}, False),
        ("two", {"drafter.tokens": 50}, True),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("arms = 3", "names no arm"),
        ("[arm.x]\npreset = 'plain'", "the key 'arm' is not allowed in a plan"),
        ("[arms.x]\nattempts = 3", "the arm 'x' names no preset"),
        ("[arms.x]\npreset = 'plane'", "no preset named 'plane'"),
        ("repeats = 0\n[arms.x]\npreset = 'plain'", "'repeats' must be"),
        ("[arms", "is not TOML"),
        (None, "cannot be read"),
    ],
)
def test_a_plan_that_cannot_be_is_told(text, why, tmp_path):
    path = tmp_path / "plan.toml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=why) as caught:
        plans.read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("path", sorted(ABLATIONS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_ablation_is_a_plan(path):
    plan = plans.read(path)
    assert plan.about
    assert len(plans.check_arms(plan.arms)) >= 2


def test_every_ablation_that_is_wanted_is_there():
    wanted = (
        "refinement feedback attempts generic early-stop turns temperature context model restart docs search critic"
    )
    assert {path.stem for path in ABLATIONS.glob("*.toml")} >= set(wanted.split())


def test_a_setting_that_is_a_list_reaches_the_tasks():
    settings = plans.settings_for({"spec.constraints": ["no-imports"], "model": "reference"}, None)
    assert (get(settings, "spec.constraints"), settings.model) == (["no-imports"], "")


def test_records_tell_texts_of_a_template_apart():
    arm = plans.parse_arm("plain:feedback=raw")
    one, other = (replace(arm, preset=replace(arm.preset, templates={"draft": text})) for text in ("a", "b"))
    assert arm.recorded_parts == {"feedback": ["raw"]}
    assert one.recorded_parts["templates"].keys() == {"draft"}
    assert one.recorded_parts != other.recorded_parts
