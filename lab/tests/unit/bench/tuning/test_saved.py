"""Files that were tuned, and what was there before."""

from __future__ import annotations

import tomllib

import pytest

from greenloop.core.errors import UsageError
from greenloop_lab.bench.tuning import saved


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "greenloop" / "prompts" / "default" / "draft.txt"


def test_what_was_not_there_is_removed_again(file):
    saved.save(file, "tuned")
    assert file.read_text() == "tuned"
    assert "removed" in saved.undo(file)
    assert not file.exists()
    with pytest.raises(UsageError, match="was not tuned"):
        saved.undo(file)


def test_the_users_own_text_comes_back_byte_for_byte_however_often_it_was_tuned(file):
    file.parent.mkdir(parents=True)
    file.write_bytes("my own ü\r\n".encode())
    saved.save(file, "first")
    saved.save(file, "second")
    saved.undo(file)
    assert file.read_text() == "first"
    saved.undo(file)
    assert file.read_bytes() == "my own ü\r\n".encode()


def test_what_was_edited_since_is_left_alone(file):
    saved.save(file, "tuned")
    file.write_text("edited")
    with pytest.raises(UsageError, match="has changed since it was tuned"):
        saved.undo(file)
    assert file.read_text() == "edited"


def test_a_broken_log_is_one_sentence(file):
    file.parent.mkdir(parents=True)
    (file.parents[2] / "tuned.json").write_text("{")
    with pytest.raises(UsageError, match="is not JSON"):
        saved.save(file, "tuned")
    assert not file.exists()


def test_lines_of_settings_stand_before_those_of_the_user_and_replace_earlier_ones(file):
    config = file.parents[2] / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('model = "m"\n\n[sandbox]\nkind = "none"\n')
    assert saved.save_settings("ladder.holes = 4\n", "ladder") == config
    saved.save_settings("ladder.holes = 8\n", "ladder")
    table = tomllib.loads(config.read_text())
    assert table == {"model": "m", "sandbox": {"kind": "none"}, "ladder": {"holes": 8}}
    saved.undo(config)
    assert tomllib.loads(config.read_text())["ladder"] == {"holes": 4}
    saved.undo(config)
    assert config.read_text() == 'model = "m"\n\n[sandbox]\nkind = "none"\n'


@pytest.mark.parametrize(
    ("text", "why"), [("[ladder]\npairs = 1\n", "sets some of ladder itself"), ("x =", "is not TOML")]
)
def test_settings_that_the_user_has_written_are_left_alone(file, text, why):
    config = file.parents[2] / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(text)
    with pytest.raises(UsageError, match=why) as raised:
        saved.save_settings("ladder.holes = 4\n", "ladder")
    assert "ladder.holes = 4" in raised.value.remedy
    assert config.read_text() == text
