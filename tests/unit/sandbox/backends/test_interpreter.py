"""The interpreter inside."""

from __future__ import annotations

from pathlib import Path

from greenloop_sandbox.backends import _interpreter
from mount_helpers import argument_pairs, make_environment


def test_links_to_the_interpreter_are_rebuilt(tmp_path):
    real = tmp_path / "store" / "cpython-3.12.1"
    (real / "bin").mkdir(parents=True)
    (real / "bin" / "python3.12").touch()
    alias = tmp_path / "store" / "cpython-3.12"
    alias.symlink_to("cpython-3.12.1")
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(alias / "bin" / "python3.12")
    words = _interpreter.mount_arguments(make_environment(venv, alias), tmp_path / "w")
    assert {source for source, _ in argument_pairs(words, "--ro-bind")} == {str(real), str(venv)}
    assert argument_pairs(words, "--symlink") == [("cpython-3.12.1", str(alias))]


def test_an_environment_in_the_workspace_is_not_bound_twice(tmp_path):
    assert _interpreter.mount_arguments(make_environment(tmp_path / "w" / ".venv", Path("/usr")), tmp_path / "w") == []
