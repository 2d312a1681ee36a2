"""Who is asked in which role, how hot, and who when attempts keep failing: by the course's own parts, models faked."""

from __future__ import annotations

import pytest

from double_problem import HALF, RIGHT, WRONG
from greenloop.core.errors import ModelError
from greenloop.core.records.model import ChatRequest, Message, Role
from greenloop.core.records.outcome import StopReason
from greenloop.models import roles
from greenloop.project import configuration, settings
from simulated_run import SECRET, FakeModel, SimulatedRun

ALIKE = [f"x + {n} - {n} + 1" for n in range(10)]  # other code, the same wrong values


@pytest.fixture(autouse=True)
def _no_user_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


async def test_the_first_attempt_is_the_drafters_and_the_rest_the_refiners():
    simulated_run = SimulatedRun(
        [*WRONG[:3], RIGHT], **{"preset": "plain", "drafter.model": "fake/d", "refiner.model": "fake/r"}
    )
    simulated_run.models.opened |= {
        f"fake/{letter}": FakeModel(f"fake/{letter}", simulated_run.log, simulated_run.models.opened["fake/a"].answers)
        for letter in "dr"
    }
    outcome = await simulated_run.run()
    assert outcome.solved
    assert simulated_run.asked == ["d", "r", "r", "r"]
    assert simulated_run.planned == ["fake/d", "fake/r", "fake/r", "fake/r"]
    assert [attempt.model for attempt in outcome.attempts[1:]] == simulated_run.planned


async def test_a_role_without_a_model_falls_back_to_the_model():
    simulated_run = SimulatedRun([WRONG[0], RIGHT], **{"preset": "plain", "refiner.model": "fake/b"})
    await simulated_run.run()
    assert simulated_run.asked == ["a", "b"]
    assert simulated_run.models.name_of(Role.CRITIC) == "fake/a"


@pytest.mark.parametrize(
    ("schedule", "temperatures"),
    [
        ("constant", [0.0, 0.0, 0.0, 0.0]),
        ("rising", [0.0, 0.0, 0.4, 0.8]),
        ("decay", [0.8, 0.8, 0.4, 0.2]),
    ],
)
async def test_temperature_schedules(schedule, temperatures):
    simulated_run = SimulatedRun(
        ALIKE, **{"preset": "plain", "attempts": 4, "drafter.temperature": schedule, "refiner.temperature": schedule}
    )
    await simulated_run.run()
    assert simulated_run.temperatures == temperatures


async def test_rising_never_boils_over_and_waits_for_a_repetition():
    simulated_run = SimulatedRun(ALIKE, **{"preset": "plain", "attempts": 6, "refiner.temperature": "rising"})
    await simulated_run.run()
    assert simulated_run.temperatures == [0.0, 0.0, 0.4, 0.8, 1.0, 1.0]
    other = SimulatedRun(WRONG, **{"preset": "plain", "attempts": 4, "refiner.temperature": "rising"})
    await other.run()
    assert other.temperatures == [0.0] * 4


async def test_a_schedule_starts_from_what_the_search_plans():
    simulated_run = SimulatedRun(
        [*WRONG[:3], HALF], **{"preset": "magicore", "attempts": 4, "drafter.temperature": "decay"}
    )
    await simulated_run.run()
    assert sorted(simulated_run.temperatures) == [0.8, 0.8, 0.8, 1.0]


async def test_failures_call_the_next_model():
    escalation = {"escalation.models": ["fake/b", "fake/c"], "escalation.after": 2}
    simulated_run = SimulatedRun(WRONG, **{"preset": "plain", "attempts": 7, "refiner.model": "fake/r", **escalation})
    simulated_run.models.opened["fake/r"] = FakeModel(
        "fake/r", simulated_run.log, simulated_run.models.opened["fake/a"].answers
    )
    outcome = await simulated_run.run()
    assert simulated_run.asked == ["a", "r", "b", "b", "c", "c", "c"]
    assert outcome.reason is StopReason.ATTEMPTS


async def test_without_a_list_nobody_else_is_ever_asked():
    simulated_run = SimulatedRun(WRONG, preset="plain", attempts=7)
    await simulated_run.run()
    assert set(simulated_run.asked) == {"a"}


async def test_a_solved_problem_calls_nobody_else():
    simulated_run = SimulatedRun([RIGHT], **{"preset": "plain", "escalation.models": ["fake/b"], "escalation.after": 1})
    await simulated_run.run()
    assert simulated_run.asked == ["a"]


async def test_roles_that_advise_have_models_and_limits_of_their_own():
    told = {"critic.model": "fake/c", "planner.model": "fake/p", "critic.tokens": 33, "refiner.tokens": 55}
    simulated_run = SimulatedRun([WRONG[0], RIGHT], **{"preset": "codetree", **told})
    simulated_run.models.opened["fake/p"] = FakeModel("fake/p", simulated_run.log, [])
    outcome = await simulated_run.run()
    assert outcome.solved
    assert [(name, request.role, request.max_tokens) for name, request in simulated_run.log] == [
        ("fake/a", Role.DRAFTER, 1024),
        ("fake/c", Role.CRITIC, 33),
        ("fake/a", Role.REFINER, 55),
    ]


async def test_what_parts_ask_is_cleared_of_secrets_and_billed():
    simulated_run = SimulatedRun([])
    await simulated_run.parts.calls.ask_for_part(
        ChatRequest(messages=(Message(role="user", content=f"why {SECRET}?"),), role=Role.CRITIC)
    )
    ((_name, request),) = simulated_run.log
    assert SECRET not in request.messages[0].content
    assert simulated_run.parts.state.ledger.used.tokens == 2


def test_a_repository_may_not_choose_who_is_asked(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        "[tool.greenloop]\nescalation.models = ['openai/x']\nescalation.after = 1\ncritic.model = 'openai/y'\n"
    )
    found, warnings = configuration.load(tmp_path, environ={})
    assert found == settings.Settings()
    assert len(warnings) == 3


def test_every_model_that_may_be_asked_is_known():
    found = settings.Settings(
        model="a",
        critic=settings.RoleSettings(model="b"),
        escalation=settings.EscalationSettings(models=["c", "a"]),
    )
    assert settings.models(found) == {"a", "b", "c"}
    assert settings.models(settings.Settings()) == set()


def test_without_an_editor_its_model_cannot_be_opened():
    with pytest.raises(ModelError, match="works only inside an editor"):
        roles.open_model("editor", settings.Settings())


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("gtp-4o", "No provider is known"),
        ("openai/gpt-4oo", "no model with the name"),
        ("gpt-4o", "no key for gpt-4o"),
        ("editor", "works only inside an editor"),
        ("local/none", "no embedded model"),
    ],
)
async def test_a_model_that_cannot_be_asked_is_noticed_before_a_run(name, sentence, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = settings.Settings(escalation=settings.EscalationSettings(models=[name]))
    with pytest.raises(ModelError, match=sentence) as caught:
        await roles.Models(settings=found).check()
    assert caught.value.remedy
    await roles.Models(settings=found, override=FakeModel("x", [], [])).check()
    await roles.Models(settings=found, opened={name: FakeModel(name, [], [])}).check()


async def test_an_editor_may_have_keys_and_a_model_of_its_own_but_no_other_names(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name, is_known in (("gpt-4o", True), ("editor", True), ("gtp-4o", False), ("local/none", False)):
        models = roles.Models(settings=settings.Settings(model=name), factory=lambda _name, _settings: None)
        if is_known:
            await models.check()
        else:
            with pytest.raises(ModelError):
                await models.check()


async def test_no_model_is_opened_by_the_check(tmp_path):
    await roles.Models(settings=settings.Settings(model=f"scripted:{tmp_path / 'gone.jsonl'}")).check()
