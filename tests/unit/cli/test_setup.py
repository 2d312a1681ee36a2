"""`greenloop setup`: the lines an editor needs, and files that keep what they held."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from greenloop.cli import editors
from greenloop.cli.editors import EDITORS
from greenloop.cli.main import main
from greenloop.cli.screen import View

WRITABLE = [name for name, editor in EDITORS.items() if editor.config_file is not None]
EMACS = ["eglot", "lsp-mode"]


@pytest.fixture(autouse=True)
def command(project, monkeypatch):
    monkeypatch.setattr("greenloop.cli.commands.setup.command", lambda verb: ["greenloop", verb])
    return project


def file_of(name: str) -> Path:
    make = EDITORS[name].config_file
    assert make is not None
    return make()


@pytest.mark.parametrize("name", list(EDITORS))
def test_the_lines_alone_are_on_standard_output(name, capsys):
    assert main(["setup", name]) == 0
    captured = capsys.readouterr()
    assert captured.out == EDITORS[name].snippet(["greenloop", "serve"])
    assert name not in WRITABLE or str(file_of(name)) in captured.err
    assert EDITORS[name].is_tested or "untested" in captured.err or "no" in captured.out


@pytest.mark.parametrize("name", [name for name in EDITORS if name not in ("vscode", "zed")])
def test_the_page_has_the_same_lines_word_for_word(name, capsys):
    page = (Path(__file__).parents[3] / "docs" / "editors.md").read_text(encoding="utf-8")
    assert main(["setup", name]) == 0
    assert f"\n{capsys.readouterr().out}```\n" in page


def test_the_page_says_what_was_never_run():
    page = (Path(__file__).parents[3] / "docs" / "editors.md").read_text(encoding="utf-8")
    never = [row for row in page.splitlines() if row.endswith("| never run |")]
    assert never == ["| Sublime Text, Zed | never run |"]
    assert [name for name, editor in EDITORS.items() if not editor.is_tested] == ["sublime", "zed"]


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
def test_a_user_at_the_terminal_is_asked(answer, code, monkeypatch):
    monkeypatch.setattr(View, "can_ask", staticmethod(lambda: True))
    monkeypatch.setattr("greenloop.cli.screen.read_line", lambda _question: answer)
    assert main(["setup", "neovim", "--write"]) == code
    assert file_of("neovim").exists() == (answer == "y")


@pytest.mark.parametrize("name", [name for name, editor in EDITORS.items() if editor.config_file is None])
def test_what_cannot_be_written_says_so(name, capsys):
    assert main(["setup", name, "--write", "--yes"]) == 2
    assert "There is no file" in capsys.readouterr().err


def test_an_unknown_editor_names_the_nearest(capsys):
    assert main(["setup", "neovm"]) == 2
    assert "Did you mean neovim?" in capsys.readouterr().err


def test_no_editor_lists_them(capsys):
    assert main(["setup"]) == 0
    assert all(name in capsys.readouterr().out for name in ["neovim"])


# -- files that hold something -----------------------------------------------------------------------------------


def put(name: str, text: str) -> Path:
    path = file_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_emacs_lines_go_to_the_end_in_a_marked_block_once_each_server():
    path = put("eglot", "(setq é 1)")
    for name in EMACS * 2:
        assert main(["setup", name, "--write", "--yes"]) == 0
    text = path.read_text(encoding="utf-8")
    assert text.startswith("(setq é 1)\n\n;; >>> greenloop ")
    assert (text.count("eglot-server-programs"), text.count("make-lsp-client")) == (1, 1)
    assert path.with_name(path.name + ".before-greenloop").read_text(encoding="utf-8") == "(setq é 1)"


def test_an_earlier_block_is_replaced_in_its_place():
    one = editors.mark_block("before\n", "old\n", "#", "a")
    two = editors.mark_block(one + "after\n", "new\n", "#", "a")
    assert two == one.replace("old", "new") + "after\n"


def test_json_settings_keep_what_they_held():
    path = put("kate", '{"servers": {"cpp": {"command": ["clangd"]}, "python": {"settings": 1}}, "é": true}')
    assert main(["setup", "kate", "--write", "--yes"]) == 0
    value = json.loads(path.read_text(encoding="utf-8"))
    assert value["servers"]["cpp"] == {"command": ["clangd"]}
    assert value["é"] is True
    assert value["servers"]["python"]["settings"] == 1
    assert value["servers"]["python"]["command"] == ["greenloop", "serve"]


HELIX = """\
# mine
[[language]]
name = "rust"
language-servers = ["rust-analyzer"]

[[language]]
name = "python"   # here
auto-format = true
language-servers = [
  "pyright",
]

[language-server.pyright]
command = "p"
"""


def test_a_python_entry_of_helix_gets_one_more_server():
    path = put("helix", HELIX)
    assert main(["setup", "helix", "--write", "--yes"]) == 0
    text = path.read_text(encoding="utf-8")
    after, before = tomllib.loads(text), tomllib.loads(HELIX)
    assert after["language"][1]["language-servers"] == ["pyright", "greenloop"]
    assert after["language-server"]["greenloop"] == {"command": "greenloop", "args": ["serve"]}
    assert (after["language"][0], after["language-server"]["pyright"]) == (before["language"][0], {"command": "p"})
    assert text.startswith("# mine\n")


def test_a_helix_file_without_python_gets_an_entry():
    put("helix", HELIX.replace('"python"', '"go"'))
    assert main(["setup", "helix", "--write", "--yes"]) == 0
    after = tomllib.loads(file_of("helix").read_text(encoding="utf-8"))
    assert after["language"][-1]["language-servers"][-1] == "greenloop"


def test_a_python_entry_that_names_greenloop_gets_the_server_alone():
    put("helix", '[[language]]\nname = "python"\nlanguage-servers = ["greenloop"]\n')
    assert main(["setup", "helix", "--write", "--yes"]) == 0
    after = tomllib.loads(file_of("helix").read_text(encoding="utf-8"))
    assert after["language"][0]["language-servers"] == ["greenloop"]
    assert after["language-server"]["greenloop"] == {"command": "greenloop", "args": ["serve"]}


@pytest.mark.parametrize("text", ["", HELIX])
def test_helix_is_told_where_greenloop_has_moved_to(text, monkeypatch, capsys):
    put("helix", text)
    assert main(["setup", "helix", "--write", "--yes"]) == 0
    monkeypatch.setattr("greenloop.cli.commands.setup.command", lambda _verb: ["/venv/bin/greenloop", "serve"])
    before = file_of("helix").read_text(encoding="utf-8")
    assert main(["setup", "helix", "--write", "--yes"]) == 0
    after = file_of("helix").read_text(encoding="utf-8")
    assert after == before.replace('command = "greenloop"', 'command = "/venv/bin/greenloop"')
    assert "already" not in capsys.readouterr().out


def test_a_command_of_the_users_own_stays(capsys):
    path = put("helix", HELIX)
    assert main(["setup", "helix", "--write", "--yes"]) == 0
    path.write_text(path.read_text().replace('args = ["serve"]', 'args = ["serve", "--log-level", "info"]'))
    assert main(["setup", "helix", "--write", "--yes"]) == 0
    assert "already" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kate", "{ // a comment\n}"),
        ("kate", "[1]"),
        ("jupyterlab", "nonsense"),
        ("helix", "this is = = no TOML"),
        ("helix", '[[language]]\nname = "python"\n'),
        ("helix", '[[language]]\nname = "python"\n[[language]]\nname = "go"\nlanguage-servers = ["gopls"]\n'),
        ("helix", 'language = [{name = "python", language-servers = ["a"]}]\n'),
        ("helix", '[language-server]\ngreenloop = {command = "old"}\n'),
    ],
)
def test_a_file_that_cannot_be_changed_safely_stays_as_it_is(name, text, capsys):
    path = put(name, text)
    assert main(["setup", name, "--write", "--yes"]) == 2
    assert path.read_text(encoding="utf-8") == text
    assert "by hand" in capsys.readouterr().err


def test_a_file_that_is_no_utf8_stays_as_it_is():
    path = put("eglot", "")
    path.write_bytes(b"\xff\xfe")
    assert main(["setup", "eglot", "--write", "--yes"]) == 2
    assert path.read_bytes() == b"\xff\xfe"


def test_a_link_into_a_repository_of_settings_stays_a_link(tmp_path):
    real = tmp_path / "dotfiles.el"
    real.write_text("(setq a 1)\n")
    link = file_of("eglot")
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    real.chmod(0o640)
    assert main(["setup", "eglot", "--write", "--yes"]) == 0
    assert link.is_symlink()
    assert "greenloop" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640


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


def test_a_script_of_an_active_virtual_environment_is_named_by_its_path(tmp_path, monkeypatch):
    path = script(tmp_path / "venv" / "bin")
    monkeypatch.setenv("PATH", str(path.parent))
    monkeypatch.setattr("sys.prefix", str(tmp_path / "venv"))
    monkeypatch.setattr("sys.base_prefix", "/usr")
    assert editors.command() == [str(path), "serve"]


def test_without_a_script_the_interpreter_starts_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert editors.command()[1:] == ["-m", "greenloop", "serve"]
    assert Path(editors.command()[0]).is_absolute()


def test_editors_are_found_on_the_path(tmp_path, monkeypatch):
    script(tmp_path / "bin").rename(tmp_path / "bin" / "hx")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert [editor.name for editor in editors.installed_editors()] == ["helix"]
