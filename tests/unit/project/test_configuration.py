"""Settings: order of sources, one spelling, the repository's allow-list, one warning a bad key."""

from __future__ import annotations

import pytest

from greenloop.core.errors import SettingsError
from greenloop.project import configuration, settings


@pytest.fixture(autouse=True)
def _no_user_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def load(tmp_path, *, repository="", user="", environ=None, **sources):
    (tmp_path / "pyproject.toml").write_text(repository)
    settings.user_file().parent.mkdir(parents=True, exist_ok=True)
    settings.user_file().write_text(user)
    return configuration.load(tmp_path, environ=environ or {}, **sources)


def test_later_sources_win(tmp_path):
    found, warnings = load(
        tmp_path,
        repository="[tool.greenloop]\nattempts = 1\npreset = 'plain'\n",
        user="attempts = 2\nmodel = 'u'\nseconds = 3",
        editor={"attempts": 3, "model": "e"},
        environ={"GREENLOOP_ATTEMPTS": "4"},
        command_line={"attempts": 6},
    )
    assert (found.attempts, found.model, found.seconds, found.preset) == (6, "e", 3.0, "plain")
    assert warnings == []


def test_nested_and_dotted_are_one_spelling(tmp_path):
    nested, _ = load(tmp_path, user="[sandbox]\nkind = 'docker'\n")
    dotted, _ = load(tmp_path, editor={"sandbox.kind": "docker"})
    environ, _ = load(tmp_path, environ={"GREENLOOP_SANDBOX_KIND": "docker"})
    assert nested == dotted == environ


@pytest.mark.parametrize(
    "key", ["model = 'x'", "interpreter = '/bin/sh'", "sandbox.unsafe = true", "api.base = 'http://x'"]
)
def test_a_repository_may_not_set_what_could_harm(tmp_path, key):
    found, warnings = load(tmp_path, repository=f"[tool.greenloop]\n{key}\n")
    assert found == settings.Settings()
    assert len(warnings) == 1
    assert "a repository cannot set it" in warnings[0]


@pytest.mark.parametrize("table", ["[tool]\ngreenloop = 3\n", "[[tool.greenloop]]\nattempts = 1\n", "tool = 3\n"])
def test_a_repository_whose_table_is_none_has_no_settings(tmp_path, table):
    found, warnings = load(tmp_path, repository=table, user="attempts = 2")
    assert found.attempts == 2
    assert ["is not a table" in warning for warning in warnings] == ([True] if "greenloop" in table else [])


def test_a_repository_may_only_lower_limits(tmp_path):
    found, warnings = load(tmp_path, repository="[tool.greenloop]\ntokens = 60000\nseconds = 10\n")
    assert (found.tokens, found.seconds) == (50_000, 10.0)
    assert "only lower" in warnings[0]


@pytest.mark.parametrize(
    ("editor", "word"),
    [
        ({"attemps": 3}, "did you mean 'attempts'"),
        ({"attempts": "three"}, "must be a whole number"),
        ({"attempts": True}, "must be a whole number"),
        ({"attempts": -1}, "at least 0"),
        ({"seconds": float("nan")}, "at least 1"),
        ({"sandbox": {"kind": "vm"}}, "must be one of"),
        ({"sandbox": {"env": [1]}}, "must be a list of strings"),
    ],
)
def test_a_bad_key_is_one_warning_and_the_default_holds(tmp_path, editor, word):
    found, warnings = load(tmp_path, editor=editor)
    assert found == settings.Settings()
    assert len(warnings) == 1
    assert word in warnings[0]


def test_a_broken_user_file_is_named_and_survived(tmp_path):
    found, warnings = load(tmp_path, user="model = ")
    assert found == settings.Settings()
    assert str(settings.user_file()) in warnings[0]


def test_the_command_line_is_refused_instead_of_warned(tmp_path):
    with pytest.raises(SettingsError, match="sandbox.knd"):
        load(tmp_path, command_line=configuration.parse_assignments(["sandbox.knd=docker"]))
    with pytest.raises(SettingsError, match="key=value"):
        configuration.parse_assignments(["attempts"])


def test_assignments_are_toml_where_they_parse(tmp_path):
    assert configuration.parse_assignments(["attempts=3", "model=openai/gpt", "sandbox.network=true"]) == {
        "attempts": 3,
        "model": "openai/gpt",
        "sandbox.network": True,
    }


def test_no_consent_comes_from_an_editor_whose_settings_may_be_the_repositorys(tmp_path):
    found, warnings = configuration.load(tmp_path, editor={"sandbox": {"unsafe": True, "kind": "none"}}, environ={})
    assert not found.sandbox.unsafe
    assert any("'sandbox.unsafe' in the editor is ignored" in text for text in warnings)
    own, _ = configuration.load(tmp_path, command_line={"sandbox.unsafe": True}, environ={})
    assert own.sandbox.unsafe


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("ladder.temperatures", [0, 0.5], [0.0, 0.5]),
        ("ladder.temperatures", "0.2, 1", [0.2, 1.0]),
        ("ladder.order", ["samples", "answer"], ["samples", "answer"]),
        ("ladder.order", "samples,answer", ["samples", "answer"]),
    ],
)
def test_lists_of_numbers_and_of_known_words(tmp_path, key, value, found):
    loaded, warnings = load(tmp_path, editor={key: value})
    assert (settings.get(loaded, key), warnings) == (found, [])


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("ladder.temperatures", [0.5, 3], "must be at most 2"),
        ("ladder.temperatures", ["hot"], "must be a list of numbers"),
        ("ladder.temperatures", [True], "must be a list of numbers"),
        ("ladder.temperatures", 0.5, "must be a list of numbers"),
        ("ladder.order", ["holes", "hole"], "must be a list of holes, answer"),
        ("ladder.order", ["holes", "holes"], "each at most once"),
        ("ladder.order", [1], "must be a list of strings"),
    ],
)
def test_lists_with_a_bad_item_are_warned_of(tmp_path, key, value, why):
    loaded, (warning,) = load(tmp_path, editor={key: value})
    assert why in warning
    assert settings.get(loaded, key) == settings.get(settings.Settings(), key)


@pytest.mark.parametrize(
    ("sources", "model"),
    [
        ({"command_line": {"model.kind": "capable"}}, ""),
        ({"environ": {"GREENLOOP_MODEL_KIND": "capable"}}, ""),
        ({"editor": {"model": "openai/m", "modelKind": "capable"}}, "openai/m"),
        ({"user": "[model]\nname = 'openai/m'\nkind = 'capable'\n"}, "openai/m"),
    ],
)
def test_the_kind_of_a_model_has_a_key_next_to_its_name(tmp_path, sources, model):
    found, warnings = load(tmp_path, **sources)
    assert (found.model_kind, found.model, warnings) == ("capable", model, [])


def test_another_kind_is_refused(tmp_path):
    found, warnings = load(tmp_path, user="[model]\nkind = 'huge'\n")
    assert found.model_kind == "auto"
    assert "model.kind" in warnings[0]


@pytest.mark.usefixtures("install")
@pytest.mark.parametrize("key", ["ranker.model", "planner.skip"])
def test_a_setting_of_the_laboratory_says_what_it_needs(tmp_path, key):
    _settings, warnings = load(tmp_path, editor={key: "small"})
    expected = f"Setting '{key}' in the editor belongs to greenloop's laboratory, which is not installed. Run `pip"
    assert [each.partition(" install ./lab")[0] for each in warnings] == [expected]
