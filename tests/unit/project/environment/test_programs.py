"""Programs on the PATH."""

from __future__ import annotations

from greenloop.project.environment.programs import find_tool


def test_a_program_inside_the_workspace_is_never_found(tmp_path, monkeypatch):
    root, outside = tmp_path / "project", tmp_path / "bin"
    tool = root / "bin" / "some-tool"
    for folder in (tool.parent, outside):
        folder.mkdir(parents=True)
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent))
    assert find_tool("some-tool", root) is None
    (outside / "some-tool").symlink_to(tool)
    monkeypatch.setenv("PATH", str(outside))
    assert find_tool("some-tool", root) is None


def test_a_program_outside_of_it_is_found(tmp_path, monkeypatch):
    tool = tmp_path / "bin" / "some-tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent))
    assert find_tool("some-tool", tmp_path / "project") == str(tool)
