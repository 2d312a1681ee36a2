"""What is common to every command."""

from __future__ import annotations

from greenloop.cli.main import main


def test_serve_is_the_language_server(project, monkeypatch):
    monkeypatch.setattr("greenloop.lsp.server.serve", lambda **_: 7)
    assert main(["serve", "--stdio"]) == 7


def test_help_tells_the_exit_codes(capsys):
    for words in (["--help"], ["fix", "--help"], ["doctor", "--help"], ["history", "show", "--help"]):
        assert main(words) == 0
    assert capsys.readouterr().out.count("130  cancelled") == 3
    assert main(["--version"]) == 0
