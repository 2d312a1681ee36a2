"""The words bubblewrap is given, which files are hidden, and what a failed self-test is called."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox import SandboxSpec
from greenloop_sandbox.backends import _identity, _interpreter, _mounts
from greenloop_sandbox.backends._masking import HiddenPaths, WorkspaceScanner
from mount_helpers import argument_pairs, make_environment

ME = _identity.Identity(uid=1000, gid=1000)


def words_of(place, **more):
    options = {"writable": True, "files": {}, "hidden": HiddenPaths(), "seccomp": b"f", "hash_seed": 3, **more}
    return _mounts.one_shot_arguments(place, ME, **options)


@pytest.fixture
def place(tmp_path):
    root = tmp_path / "w"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "m.py").write_text("")
    return SandboxSpec(root=root, environment=make_environment(Path("/usr"), Path("/usr")), variables={"TOKEN": "t"})


def test_every_flag_of_the_wall_is_there(place):
    words = words_of(place)
    for flag in (
        "--unshare-all", "--unshare-user", "--disable-userns", "--assert-userns-disabled", "--die-with-parent", "--new-session",
        "--as-pid-1", "--clearenv", "--seccomp",
    ):  # fmt: skip
        assert flag in words, flag
    assert "--share-net" not in words
    assert words[words.index("--cap-drop") + 1] == "ALL"
    read_only = [words[number + 1] for number, word in enumerate(words) if word == "--remount-ro"]
    assert read_only == ["/proc", "/dev", "/"]
    assert ("PYTHONHASHSEED", "3") in argument_pairs(words, "--setenv")
    assert ("TOKEN", "t") in argument_pairs(words, "--setenv")


def test_own_files_need_no_mounts_and_become_read_only_with_the_root(place):
    words = words_of(place)
    written = {target for _data, target in argument_pairs(words, "--file")}
    assert {f"{_mounts.INSIDE}/supervisor.py", f"{_mounts.INSIDE}/bundle"} <= written
    assert not any(str(word).startswith(_mounts.INSIDE) for _data, word in argument_pairs(words, "--ro-bind-data"))
    last = max(number for number, word in enumerate(words) if word == "--file")
    assert ("--remount-ro", "/") in pairwise(words[last:])


def test_home_and_root_are_never_bound(place, tmp_path, monkeypatch):
    bound = {source for source, _ in argument_pairs(words_of(place), "--ro-bind")}
    assert not bound & {"/", str(Path.home()), "/home", "/root", "/etc"}
    monkeypatch.setenv("HOME", str(tmp_path))
    for base in (tmp_path, tmp_path.parent, Path("/")):
        with pytest.raises(CannotVerifyError):
            _interpreter.mount_arguments(make_environment(tmp_path / "v", base), place.root)


def test_network_is_shared_only_when_asked_for(place):
    words = words_of(SandboxSpec(root=place.root, environment=place.environment, network=True))
    assert "--share-net" in words
    assert "/etc/resolv.conf" in words


def test_new_names_in_a_read_only_workspace_get_room(place):
    (place.root / "link").symlink_to("pkg")
    root = str(place.root)
    words = words_of(place, writable=False, files={"new/a.py": b"1", "pkg/m.py": b"2"})
    start = words.index(root) - 1
    assert words[start : start + 3] == ["--ro-bind", root, root]
    assert ("--tmpfs", root) in pairwise(words)
    assert (f"{root}/pkg", f"{root}/pkg") in argument_pairs(words, "--ro-bind")
    assert ("pkg", f"{root}/link") in argument_pairs(words, "--symlink")
    assert {(b"1", f"{root}/new/a.py"), (b"2", f"{root}/pkg/m.py")} <= set(argument_pairs(words, "--ro-bind-data"))
    assert words[-6:-3] == ["--remount-ro", root, "--remount-ro"]


def test_what_an_editable_install_names_is_shown_read_only_and_covered_too(place, tmp_path):
    lib = tmp_path / "lib"
    (lib / ".git").mkdir(parents=True)
    (lib / ".env").touch()
    (place.root / ".env").touch()
    environment = replace(place.environment, extra=(lib,))
    place = replace(place, environment=environment, masked=(".env", ".git"))
    hidden = WorkspaceScanner(place).scan()
    assert hidden == HiddenPaths(files=(".env", f"{lib}/.env"), folders=(f"{lib}/.git",))
    words = words_of(place, hidden=hidden)
    assert (str(lib), str(lib)) in argument_pairs(words, "--ro-bind")
    assert {f"{place.root}/.env", f"{lib}/.env"} <= {
        target for _data, target in argument_pairs(words, "--ro-bind-data")
    }
    assert f"{lib}/.git" in [target for target, _ in argument_pairs(words, "--tmpfs")]
    assert words.index(f"{lib}/.env") > words.index(str(lib))
