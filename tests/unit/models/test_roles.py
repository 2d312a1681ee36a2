"""Who is asked in which role, how hot, and who when attempts keep failing: by the course's own parts, models faked."""

from __future__ import annotations

import pytest

from doubling import HALF, RIGHT, WRONG
from greenloop.core.errors import ModelError
from greenloop.core.records.model import ChatRequest, Message, Role
from greenloop.core.records.outcome import StopReason
from greenloop.models import roles
from greenloop.project import configuration, settings
from theatre import SECRET, Fake, Theatre

ALIKE = [f"x + {n} - {n} + 1" for n in range(10)]  # other code, the same wrong values


@pytest.fixture(autouse=True)
def _no_user_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


async def test_the_first_attempt_is_the_drafters_and_the_rest_the_refiners():
    theatre = Theatre([*WRONG[:3], RIGHT], **{"preset": "plain", "drafter.model": "fake/d", "refiner.model": "fake/r"})
    theatre.models.opened |= {
        f"fake/{letter}": Fake(f"fake/{letter}", theatre.log, theatre.models.opened["fake/a"].answers)
        for letter in "dr"
    }
    outcome = await theatre.run()
    assert outcome.solved
    assert theatre.asked == ["d", "r", "r", "r"]
    assert theatre.planned == ["fake/d", "fake/r", "fake/r", "fake/r"]
    assert [attempt.model for attempt in outcome.attempts[1:]] == theatre.planned


async def test_a_role_without_a_model_falls_back_to_the_model():
    theatre = Theatre([WRONG[0], RIGHT], **{"preset": "plain", "refiner.model": "fake/b"})
    await theatre.run()
    assert theatre.asked == ["a", "b"]
    assert theatre.models.name_of(Role.CRITIC) == "fake/a"


@pytest.mark.parametrize(
    ("schedule", "temperatures"),
    [
        ("constant", [0.0, 0.0, 0.0, 0.0]),
        ("rising", [0.0, 0.0, 0.4, 0.8]),
        ("decay", [0.8, 0.8, 0.4, 0.2]),
    ],
)
async def test_temperature_schedules(schedule, temperatures):
    theatre = Theatre(
        ALIKE, **{"preset": "plain", "attempts": 4, "drafter.temperature": schedule, "refiner.temperature": schedule}
    )
    await theatre.run()
    assert theatre.temperatures == temperatures


async def test_rising_never_boils_over_and_waits_for_a_repetition():
    theatre = Theatre(ALIKE, **{"preset": "plain", "attempts": 6, "refiner.temperature": "rising"})
    await theatre.run()
    assert theatre.temperatures == [0.0, 0.0, 0.4, 0.8, 1.0, 1.0]
    other = Theatre(WRONG, **{"preset": "plain", "attempts": 4, "refiner.temperature": "rising"})
    await other.run()
    assert other.temperatures == [0.0] * 4


async def test_a_schedule_starts_from_what_the_search_plans():
    theatre = Theatre([*WRONG[:3], HALF], **{"preset": "magicore", "attempts": 4, "drafter.temperature": "decay"})
    await theatre.run()
    assert sorted(theatre.temperatures) == [0.8, 0.8, 0.8, 1.0]


async def test_failures_call_the_next_model():
    escalation = {"escalation.models": ["fake/b", "fake/c"], "escalation.after": 2}
    theatre = Theatre(WRONG, **{"preset": "plain", "attempts": 7, "refiner.model": "fake/r", **escalation})
    theatre.models.opened["fake/r"] = Fake("fake/r", theatre.log, theatre.models.opened["fake/a"].answers)
    outcome = await theatre.run()
    assert theatre.asked == ["a", "r", "b", "b", "c", "c", "c"]
    assert outcome.reason is StopReason.ATTEMPTS


async def test_without_a_list_nobody_else_is_ever_asked():
    theatre = Theatre(WRONG, preset="plain", attempts=7)
    await theatre.run()
    assert set(theatre.asked) == {"a"}


async def test_a_solved_problem_calls_nobody_else():
    theatre = Theatre([RIGHT], **{"preset": "plain", "escalation.models": ["fake/b"], "escalation.after": 1})
    await theatre.run()
    assert theatre.asked == ["a"]


async def test_roles_that_advise_have_models_and_limits_of_their_own():
    told = {"critic.model": "fake/c", "planner.model": "fake/p", "critic.tokens": 33, "refiner.tokens": 55}
    theatre = Theatre([WRONG[0], RIGHT], **{"preset": "codetree", **told})
    theatre.models.opened["fake/p"] = Fake("fake/p", theatre.log, [])
    outcome = await theatre.run()
    assert outcome.solved
    assert [(name, request.role, request.max_tokens) for name, request in theatre.log] == [
        ("fake/a", Role.DRAFTER, 1024),
        ("fake/c", Role.CRITIC, 33),
        ("fake/a", Role.REFINER, 55),
    ]


async def test_what_parts_ask_is_cleared_of_secrets_and_billed():
    theatre = Theatre([])
    await theatre.refine_run.calls.ask_for_part(
        ChatRequest(messages=(Message(role="user", content=f"why {SECRET}?"),), role=Role.CRITIC)
    )
    ((_name, request),) = theatre.log
    assert SECRET not in request.messages[0].content
    assert theatre.refine_run.state.ledger.used.tokens == 2


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
    assert set(settings.ROLES) == set(Role)


def test_without_an_editor_its_model_cannot_be_opened():
    with pytest.raises(ModelError, match="works only inside an editor"):
        roles.open_model("editor", settings.Settings())
