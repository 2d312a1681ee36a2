"""The words bubblewrap is given, which files are hidden, and what a failed self-test is called."""

from __future__ import annotations

import os
import struct
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.sandbox import Environment, SandboxSpec
from greenloop.sandboxes.backends import _bwrap_binary, _identity, _interpreter, _mounts, _seccomp
from greenloop.sandboxes.backends._masking import FolderScanner, HiddenPaths, WorkspaceScanner

ME = _identity.Identity(uid=1000, gid=1000)


def environment(prefix, base, executable=None):
    return Environment(
        executable=executable or prefix / "bin" / "python",
        prefix=prefix,
        base=base,
        version=(3, 12),
        source="",
        has_pytest=True,
    )


def words_of(place, **more):
    options = {"writable": True, "files": {}, "hidden": HiddenPaths(), "seccomp": b"f", "hash_seed": 3, **more}
    return _mounts.one_shot_arguments(place, ME, **options)


def pairs(words, option):
    return [tuple(words[number + 1 : number + 3]) for number, word in enumerate(words) if word == option]


@pytest.fixture
def place(tmp_path):
    root = tmp_path / "w"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "m.py").write_text("")
    return SandboxSpec(root=root, environment=environment(Path("/usr"), Path("/usr")), variables={"TOKEN": "t"})


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
    assert ("PYTHONHASHSEED", "3") in pairs(words, "--setenv")
    assert ("TOKEN", "t") in pairs(words, "--setenv")


def test_home_and_root_are_never_bound(place, tmp_path, monkeypatch):
    bound = {source for source, _ in pairs(words_of(place), "--ro-bind")}
    assert not bound & {"/", str(Path.home()), "/home", "/root", "/etc"}
    monkeypatch.setenv("HOME", str(tmp_path))
    for base in (tmp_path, tmp_path.parent, Path("/")):
        with pytest.raises(CannotVerifyError):
            _interpreter.mount_arguments(environment(tmp_path / "v", base), place.root)


def test_network_is_shared_only_when_asked_for(place):
    words = words_of(SandboxSpec(root=place.root, environment=place.environment, network=True))
    assert "--share-net" in words
    assert "/etc/resolv.conf" in words


def test_links_to_the_interpreter_are_rebuilt(tmp_path):
    real = tmp_path / "store" / "cpython-3.12.1"
    (real / "bin").mkdir(parents=True)
    (real / "bin" / "python3.12").touch()
    alias = tmp_path / "store" / "cpython-3.12"
    alias.symlink_to("cpython-3.12.1")
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(alias / "bin" / "python3.12")
    words = _interpreter.mount_arguments(environment(venv, alias), tmp_path / "w")
    assert {source for source, _ in pairs(words, "--ro-bind")} == {str(real), str(venv)}
    assert pairs(words, "--symlink") == [("cpython-3.12.1", str(alias))]


def test_an_environment_in_the_workspace_is_not_bound_twice(tmp_path):
    assert _interpreter.mount_arguments(environment(tmp_path / "w" / ".venv", Path("/usr")), tmp_path / "w") == []


def test_new_names_in_a_read_only_workspace_get_room(place):
    (place.root / "link").symlink_to("pkg")
    root = str(place.root)
    words = words_of(place, writable=False, files={"new/a.py": b"1", "pkg/m.py": b"2"})
    start = words.index(root) - 1
    assert words[start : start + 3] == ["--ro-bind", root, root]
    assert ("--tmpfs", root) in pairwise(words)
    assert (f"{root}/pkg", f"{root}/pkg") in pairs(words, "--ro-bind")
    assert ("pkg", f"{root}/link") in pairs(words, "--symlink")
    assert {(b"1", f"{root}/new/a.py"), (b"2", f"{root}/pkg/m.py")} <= set(pairs(words, "--ro-bind-data"))
    assert words[-6:-3] == ["--remount-ro", root, "--remount-ro"]


@pytest.mark.parametrize("name", ["../x", "/x", "link/x.py", "pkg", "pkg/m.py/x", "pkg/link.py"])
def test_paths_in_the_way(place, name):
    (place.root / "link").symlink_to("/etc")
    (place.root / "pkg" / "link.py").symlink_to("/etc/passwd")
    with pytest.raises(ValueError, match=r"not a "):
        _mounts.check_paths(place.root, [name])


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
    assert (str(lib), str(lib)) in pairs(words, "--ro-bind")
    assert {f"{place.root}/.env", f"{lib}/.env"} <= {target for _data, target in pairs(words, "--ro-bind-data")}
    assert f"{lib}/.git" in [target for target, _ in pairs(words, "--tmpfs")]
    assert words.index(f"{lib}/.env") > words.index(str(lib))


def test_hidden_files_are_found_and_kept_up_to_date(tmp_path):
    for name in (
        ".env",
        "a/b/.env.local",
        "a/k.pem",
        ".git/config",
        "node_modules/x/.env",
        ".venv/c.pem",
        "env/c.pem",
        "ok.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / "secret.txt").write_text("x")
    (tmp_path / ".env.link").symlink_to("secret.txt")
    (tmp_path / ".env.out").symlink_to("/etc/passwd")
    search = FolderScanner(tmp_path, (".env*", "*.pem", ".git", "a/ok*"), tmp_path / "env")
    assert search.scan() == HiddenPaths(files=(".env", "a/b/.env.local", "a/k.pem", "secret.txt"), folders=(".git",))
    (tmp_path / "a" / "new.pem").write_text("x")
    (tmp_path / ".env").unlink()
    os.utime(tmp_path, ns=(1, 1))
    os.utime(tmp_path / "a", ns=(1, 1))
    assert search.scan() == HiddenPaths(
        files=("a/b/.env.local", "a/k.pem", "a/new.pem", "secret.txt"), folders=(".git",)
    )


def test_an_interpreter_in_a_hidden_looking_folder_stays(tmp_path):
    (tmp_path / ".env" / "py" / "bin").mkdir(parents=True)
    assert FolderScanner(tmp_path, (".env*",), tmp_path / ".env").scan() == HiddenPaths()
    assert FolderScanner(tmp_path, (".env*",), tmp_path / ".env" / "py").scan() == HiddenPaths()


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_a_whole_program(machine):
    data = _seccomp.program(machine)
    steps = [struct.unpack_from("<HBBI", data, offset) for offset in range(0, len(data), 8)]
    for number, (operation, then, otherwise, _value) in enumerate(steps):
        if operation & 7 == 5:  # a jump stays inside
            assert number + 1 + max(then, otherwise) < len(steps)
    assert (steps[-1][0], steps[-1][3]) == (6, 0x7FFF0000)


def test_unknown_machines_have_no_filter():
    assert _seccomp.program("riscv64") is None


def test_what_is_not_installed_has_a_remedy():
    with pytest.raises(CannotVerifyError) as caught:
        _bwrap_binary.choose(())
    assert "apt install bubblewrap" in caught.value.remedy


@pytest.mark.parametrize(
    ("printed", "cause", "remedy"),
    [
        ("bwrap: Unknown option --disable-userns", "too old", "0.8"),
        ("bwrap: setting up uid map: Permission denied", "user namespaces", ""),
        ("bwrap: No permissions to create a new namespace", "namespaces", ""),
        ("bwrap: Can't find source path /usr", "Can't find source path", "Docker"),
    ],
)
def test_causes_have_remedies(printed, cause, remedy):
    told = _bwrap_binary.explain(printed)
    assert cause in told[0]
    assert remedy in told[1]
    assert told[1]
