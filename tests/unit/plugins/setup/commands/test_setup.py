"""`greenloop setup`: the lines an editor or agent needs, the gates of agents, and files that keep what they held."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path

import pytest

from greenloop.cli.main import main
from greenloop.plugins.setup import editors
from greenloop.plugins.setup.commands.setup import ONE_MACHINE
from greenloop.plugins.setup.editors import AGENTS, EDITORS, GATES

ALL = {**EDITORS, **AGENTS}
OWN = str(Path(sys.executable).parent)  # of the virtual environment that runs the tests
WRITABLE = [name for name, editor in ALL.items() if editor.file]
AGENTS_PAGE = (Path(__file__).parents[5] / "docs" / "agents.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def command(project, tmp_path, monkeypatch):
    """A `greenloop` that everybody finds."""
    monkeypatch.setenv("PATH", str(script(tmp_path / "programs").parent), prepend=os.pathsep)
    return project


def file_of(name: str) -> Path:
    path = ALL[name].config_file()
    assert path is not None
    return path


@pytest.mark.parametrize("name", list(EDITORS))
def test_the_lines_alone_are_on_standard_output(name, capsys):
    assert main(["setup", name]) == 0
    captured = capsys.readouterr()
    assert captured.out == ALL[name].snippet(["greenloop", ALL[name].verb])
    assert name not in WRITABLE or str(file_of(name)) in captured.err
    assert EDITORS[name].tested or "untested" in captured.err or "no" in captured.out


@pytest.mark.parametrize("name", [name for name in EDITORS if name not in ("vscode", "zed")])
def test_the_page_has_the_same_lines_word_for_word(name, capsys):
    page = (Path(__file__).parents[5] / "docs" / "editors.md").read_text(encoding="utf-8")
    assert main(["setup", name]) == 0
    assert f"\n{capsys.readouterr().out}```\n" in page


def test_the_page_says_what_was_never_run():
    page = (Path(__file__).parents[5] / "docs" / "editors.md").read_text(encoding="utf-8")
    never = [row for row in page.splitlines() if row.endswith("| never run |")]
    assert never == ["| Sublime Text, Zed, [PyCharm](remote.md) | never run |"]
    assert [name for name, editor in EDITORS.items() if not editor.tested] == ["sublime", "zed"]


@pytest.mark.parametrize("name", WRITABLE)
def test_write_makes_the_file_and_a_second_time_changes_nothing(name, capsys):
    assert main(["setup", name, "--write", "--yes"]) == 0
    first = file_of(name).read_bytes()
    assert b"greenloop" in first
    assert main(["setup", name, "--write", "--yes"]) == 0
    assert file_of(name).read_bytes() == first
    assert "already" in capsys.readouterr().out


@pytest.mark.parametrize("name", WRITABLE)
def test_what_would_change_is_shown_and_nobody_there_means_nothing_written(name, capsys):
    assert main(["setup", name, "--write"]) == 2
    captured = capsys.readouterr()
    assert "+++ b/" in captured.out
    assert "--yes" in captured.err
    assert not file_of(name).exists()


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1)])
def test_a_user_at_the_terminal_is_asked(answer, code, keyboard):
    keyboard.lines.append(answer)
    assert main(["setup", "neovim", "--write"]) == code
    assert file_of("neovim").exists() == (answer == "y")


@pytest.mark.parametrize("name", [name for name, editor in EDITORS.items() if not editor.file])
def test_what_cannot_be_written_says_so(name, capsys):
    assert main(["setup", name, "--write", "--yes"]) == 2
    assert "There is no file" in capsys.readouterr().err


def test_an_unknown_editor_names_the_nearest(capsys):
    assert main(["setup", "neovm"]) == 2
    assert "Did you mean neovim?" in capsys.readouterr().err


def test_no_editor_lists_them(capsys):
    assert main(["setup"]) == 0
    assert all(name in capsys.readouterr().out for name in ["neovim"])


# -- agents and their gates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "words"), [*((name, []) for name in AGENTS), *((name, ["--gate"]) for name in GATES)])
def test_the_page_has_the_lines_of_agents_word_for_word(name, words, capsys):
    assert main(["setup", name, *words]) == 0
    assert f"\n{capsys.readouterr().out}```\n" in AGENTS_PAGE


@pytest.mark.parametrize("name", ["claude", "cursor", "vscode-mcp", "codex"])
def test_a_file_that_was_written_starts_the_server(name):
    assert main(["setup", name, "--write", "--yes"]) == 0
    text = file_of(name).read_text()
    value = tomllib.loads(text) if name == "codex" else json.loads(text)
    (servers,) = value.values()
    assert (servers["greenloop"]["command"], servers["greenloop"]["args"]) == ("greenloop", ["mcp"])


@pytest.mark.parametrize(
    ("folder", "words", "is_said"),
    [
        (OWN, ["claude"], True),
        (OWN, ["claude", "--gate", "--write", "--yes"], True),
        ("", ["claude", "--write", "--yes"], False),
        (OWN, ["codex"], False),  # a file in the home folder
    ],
)
def test_a_file_that_a_team_may_share_and_that_names_this_machine_says_so(monkeypatch, capsys, folder, words, is_said):
    monkeypatch.setenv("PATH", folder or os.environ["PATH"])
    assert main(["setup", *words]) == 0
    assert (ONE_MACHINE in capsys.readouterr().err) is is_said


@pytest.mark.parametrize("name", [name for name in GATES if name != "opencode"])
def test_a_gate_is_a_hook_that_calls_verify(name):
    assert main(["setup", name, "--gate", "--write", "--yes"]) == 0
    path = GATES[name].config_file()
    assert path is not None
    (hooks,) = json.loads(path.read_text())["hooks"].values()
    hook = hooks[0].get("hooks", hooks)[0]
    words = (hook.get("command") or hook["bash"]).split()
    assert words[:3] == ["greenloop", "verify", "--gate"]
    assert ("--json" in words) is (name != "gemini")


def test_an_agent_without_a_stop_hook_has_no_gate(capsys):
    assert main(["setup", "zed", "--gate"]) == 2
    assert "There are: claude, codex" in capsys.readouterr().err


# -- the lines for any command -------------------------------------------------------------------------------------


@pytest.mark.parametrize("editor", [*ALL.values(), *GATES.values()], ids=lambda editor: editor.name)
def test_each_word_of_the_command_is_quoted_as_the_file_needs_it(editor):
    lines = editor.snippet(["/a 'b'/python", "-m", "greenloop", editor.verb])
    assert "@" not in lines
    if editor.file.endswith(".json"):
        assert "/python" in str(json.loads(lines))
    if editor.file.endswith(".toml"):
        assert "/a 'b'/python" in str(tomllib.loads(lines))
    if editor.name == "vim":
        assert "'executable': '/a ''b''/python'" in lines


# -- files that hold something -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WRITABLE)
@pytest.mark.parametrize("content", [b"mine\n", b"\xff\xfe"])
def test_a_file_that_exists_stays_unchanged_and_the_lines_are_shown(name, content, capsys):
    path = file_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    assert main(["setup", name, "--write", "--yes"]) == 2
    assert path.read_bytes() == content
    captured = capsys.readouterr()
    assert captured.out == ALL[name].snippet(["greenloop", ALL[name].verb])
    assert "by hand" in captured.err


@pytest.mark.parametrize("name", WRITABLE)
def test_lines_that_were_added_by_hand_are_recognised(name, capsys):
    path = file_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine\n" + ALL[name].snippet(["greenloop", ALL[name].verb]), encoding="utf-8")
    assert main(["setup", name, "--write", "--yes"]) == 0
    assert "already" in capsys.readouterr().out


def test_a_link_that_leads_nowhere_stays_a_link(tmp_path):
    link = file_of("eglot")
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "dotfiles.el")
    assert main(["setup", "eglot", "--write", "--yes"]) == 1
    assert link.is_symlink()
    assert not (tmp_path / "dotfiles.el").exists()


def test_a_folder_that_cannot_be_made_is_one_sentence(capsys, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    assert main(["setup", "helix", "--write", "--yes"]) == 1
    assert "cannot be" in capsys.readouterr().err


# -- what is started ---------------------------------------------------------------------------------------------


def script(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "greenloop"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_script_that_everybody_finds_is_named_by_its_bare_name(tmp_path, monkeypatch):
    script(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert editors.command() == ["greenloop", "serve"]


def test_a_script_of_an_active_virtual_environment_is_named_by_its_path(monkeypatch):
    monkeypatch.setenv("PATH", OWN)
    assert editors.command() == [f"{OWN}/greenloop", "serve"]


def test_without_a_script_the_interpreter_starts_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert editors.command()[1:] == ["-m", "greenloop", "serve"]
    assert Path(editors.command()[0]).is_absolute()


def test_editors_are_found_on_the_path(tmp_path, monkeypatch):
    script(tmp_path / "bin").rename(tmp_path / "bin" / "hx")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert [editor.name for editor in editors.installed_editors()] == ["helix"]
