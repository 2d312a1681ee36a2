"""Reading a revision: real repositories, some of them with traps in their configuration."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from greenloop.core.errors import CannotVerifyError, UsageError
from greenloop.project.revisions import git
from greenloop.project.revisions.git import Repository
from greenloop.project.revisions.revision import compare
from project_files import write_files

FILES = {"m.py": "A = 1\n", "tests/test_m.py": "def test_a():\n    pass\n", "pytest.ini": "[pytest]\n"}


def run(root: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"GIT_CONFIG_GLOBAL": os.devnull}
    return subprocess.run(
        ["git", *identity, *words], cwd=root, check=True, capture_output=True, text=True, env=environ
    ).stdout


def commit(root: Path, message: str = "x") -> str:
    run(root, "add", "-A")
    run(root, "commit", "-qm", message)
    return run(root, "rev-parse", "HEAD").strip()


@pytest.fixture
def work(tmp_path) -> Path:
    root = tmp_path / "a project"
    write_files(root, FILES)
    run(root, "init", "-q", "-b", "main")
    commit(root)
    return root


@pytest.fixture
def trap(tmp_path) -> tuple[Path, Callable[[], bool]]:
    """A program that leaves a file behind when it is run, and whether it was."""
    mark, script = tmp_path / "sprung", tmp_path / "trap.sh"
    script.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script, mark.exists


def against(root: Path, revision: str = "HEAD", **more):
    repository = Repository.find(root)
    return compare(repository, repository.commit(revision), **more)


# -- the plumbing -------------------------------------------------------------------------------------------------


def test_a_clean_tree_differs_in_nothing(work):
    found = against(work)
    assert (found.files, found.removed_paths, found.old_code, found.new_code) == ({}, (), {}, ())
    assert found.paths == FILES.keys()
    assert found.trusted == {"tests/test_m.py", "pytest.ini"}
    assert not found.code_changed


def test_nothing_that_the_repository_names_is_executed(work, trap):
    script, sprung = trap
    write_files(work, {".gitattributes": "* filter=evil diff=evil\n"})
    commit(work)
    hooks = work / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        shutil.copy(script, hooks / name)
    for key, value in {
        "core.fsmonitor": str(script),
        "core.hooksPath": str(hooks),
        "core.pager": str(script),
        "core.editor": str(script),
        "core.sshCommand": str(script),
        "core.askPass": str(script),
        "diff.external": str(script),
        "diff.evil.textconv": str(script),
        "filter.evil.smudge": str(script),
        "filter.evil.clean": str(script),
        "filter.evil.process": str(script),
        "alias.ls-tree": f"!{script}",
        "alias.cat-file": f"!{script}",
        "pager.ls-tree": str(script),
        "extensions.partialClone": "origin",
        "remote.origin.url": f"ext::{script}",
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(script),
    }.items():
        run(work, "config", key, value)
    write_files(work, {"tests/test_m.py": "changed\n", "m.py": "A = 2\n"})
    index = (work / ".git/index").read_bytes()
    repository = Repository.find(work)
    found = compare(repository, repository.commit("HEAD"))
    assert found.files == {"tests/test_m.py": FILES["tests/test_m.py"].encode()}
    with pytest.raises(CannotVerifyError, match="not in this clone"):
        repository.contents([git.TreeEntry(path="gone.py", mode="100644", oid="1" * 40)])
    assert not sprung()
    assert (work / ".git/index").read_bytes() == index
    run(work, "-c", "alias.trap=!" + f"'{script}'", "trap")
    assert sprung(), "the trap itself works"


def test_variables_that_redirect_git_are_not_passed_on(work, tmp_path, monkeypatch, trap):
    other = tmp_path / "other"
    write_files(other, {"z.py": "Z = 1\n"})
    run(other, "init", "-q")
    commit(other)
    for name, value in {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_INDEX_FILE": "/nowhere",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(trap[0]),
        "GIT_EXEC_PATH": "/nowhere",
    }.items():
        monkeypatch.setenv(name, value)
    assert against(work).paths == FILES.keys()
    assert not trap[1]()


def test_replaced_objects_are_not_believed(work):
    write_files(work, {"tests/test_m.py": "def test_a():\n    assert 0\n"})
    good = run(work, "rev-parse", "HEAD:tests/test_m.py").strip()
    evil = run(work, "hash-object", "-w", "tests/test_m.py").strip()
    run(work, "replace", good, evil)
    assert run(work, "cat-file", "-p", good) == "def test_a():\n    assert 0\n"
    assert against(work).files == {"tests/test_m.py": FILES["tests/test_m.py"].encode()}


@pytest.mark.parametrize("name", ["HEAD:tests/test_m.py", "HEAD:tests", "HEAD^{tree}", "HEAD"])
def test_an_object_that_is_not_what_its_name_says_is_not_believed(work, name):
    """git itself reads such an object without a word."""
    oid = run(work, "rev-parse", name).strip()
    kind = run(work, "cat-file", "-t", oid).strip().encode()
    loose = work / ".git/objects" / oid[:2] / oid[2:]
    data = (
        zlib.decompress(loose.read_bytes()).partition(b"\0")[2].replace(b"pass", b"fail").replace(b"test_m", b"evil_m")
    )
    data = data.replace(b"tests", b"nests").replace(b"a@b", b"a@c")
    loose.chmod(0o644)
    loose.write_bytes(zlib.compress(kind + b" %d\0" % len(data) + data))
    write_files(work, {"tests/test_m.py": "changed\n"})
    with pytest.raises(CannotVerifyError, match="does not match its hash|is damaged"):
        against(work)


def test_a_git_that_lies_in_the_workspace_is_not_run(work, trap, monkeypatch):
    (work / "bin").mkdir()
    shutil.copy(trap[0], work / "bin" / "git")
    monkeypatch.setenv("PATH", f"{work / 'bin'}{os.pathsep}{os.environ['PATH']}")
    against(work)
    assert not trap[1]()


def test_odd_names_and_bytes(work):
    odd = "tests/test_é\n[x] 'y'.py"
    (work / odd).write_bytes(b"\xff\x00\n")
    commit(work)
    (work / odd).write_bytes(b"other")
    assert against(work).files == {odd: b"\xff\x00\n"}


def test_sha256_repositories(tmp_path):
    write_files(tmp_path / "p", FILES)
    run(tmp_path / "p", "init", "-q", "--object-format=sha256")
    commit(tmp_path / "p")
    assert against(tmp_path / "p").files == {}


def test_a_workspace_below_the_top(work):
    write_files(work, {"sub/tests/test_s.py": "a\n", "sub/s.py": "b\n"})
    commit(work)
    write_files(work, {"sub/tests/test_s.py": "changed\n"})
    found = against(work / "sub")
    assert found.paths == {"tests/test_s.py", "s.py"}
    assert found.files == {"tests/test_s.py": b"a\n"}


def test_a_linked_worktree(work, tmp_path):
    run(work, "worktree", "add", "-q", str(tmp_path / "linked"))
    write_files(tmp_path / "linked", {"tests/test_m.py": "changed\n"})
    assert against(tmp_path / "linked").changed == ("tests/test_m.py",)
    assert against(work).changed == ()


def test_line_ends_of_a_checkout_are_no_change(work):
    (work / "tests/test_m.py").write_bytes(FILES["tests/test_m.py"].replace("\n", "\r\n").encode())
    assert against(work).files == {}


def test_lfs_files_are_compared_by_their_hash(work):
    data = b"\x89big"
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{hashlib.sha256(data).hexdigest()}\nsize 4\n"
    write_files(work, {"tests/big.bin": pointer})
    commit(work)
    (work / "tests/big.bin").write_bytes(data)
    assert against(work).files == {}
    (work / "tests/big.bin").write_bytes(data + b"!")
    with pytest.raises(CannotVerifyError, match="Git LFS"):
        against(work)


def test_submodules(work, tmp_path):
    other = tmp_path / "other"
    write_files(other, {"tests/test_z.py": "z\n"})
    run(other, "init", "-q")
    commit(other)
    run(work, "submodule", "add", "-q", str(other), "sub")
    commit(work)
    write_files(work, {"sub/tests/test_z.py": "changed\n"})
    assert against(work).files == {"sub/tests/test_z.py": b"z\n"}
    clone = tmp_path / "clone"
    run(tmp_path, "clone", "-q", str(work), str(clone))
    assert any("sub" in note for note in against(clone).notes)
    write_files(clone, {"sub/tests/test_z.py": "planted\n"})
    with pytest.raises(CannotVerifyError, match="submodule sub"):
        against(clone)


# -- what cannot be read ------------------------------------------------------------------------------------------


def test_no_repository(tmp_path):
    with pytest.raises(CannotVerifyError, match="not in a readable git repository"):
        Repository.find(tmp_path)


def test_no_git(work, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CannotVerifyError, match="git was not found"):
        Repository.find(work)


def test_no_commit_yet(tmp_path):
    run(tmp_path, "init", "-q")
    with pytest.raises(CannotVerifyError, match="has no commits yet"):
        Repository.find(tmp_path).commit("HEAD")


@pytest.mark.parametrize("revision", ["nope", "", "--help", "-x", "HEAD:m.py", "a\nb", "HEAD~7"])
def test_unknown_revisions(work, revision):
    with pytest.raises(UsageError, match="There is no commit"):
        Repository.find(work).commit(revision)


def test_a_shallow_clone_says_how_to_deepen_it(work, tmp_path):
    first = run(work, "rev-parse", "HEAD").strip()
    write_files(work, {"m.py": "A = 3\n"})
    commit(work)
    run(tmp_path, "clone", "-q", "--depth", "1", f"file://{work}", "shallow")
    repository = Repository.find(tmp_path / "shallow")
    assert repository.commit("HEAD")
    with pytest.raises(UsageError) as caught:
        repository.commit(first)
    assert "--unshallow" in caught.value.remedy


# -- told apart ---------------------------------------------------------------------------------------------------


def test_what_is_trusted_comes_from_the_revision_and_the_rest_from_the_working_tree(work):
    write_files(
        work,
        {
            "m.py": "A = 2\n",
            "n.py": "N = 1\n",
            "data.toml": "x = 1\n",
            "conftest.py": "",
            "tests/helper.py": "",
            "tests/test_new.py": "",
            "sitecustomize.py": "",
            "evil.pth": "",
            "pytest.ini": "[pytest]\naddopts = -k nothing\n",
            "tests/__pycache__/test_m.cpython-311.pyc": "",
            "__pycache__/m.cpython-311.pyc": "",
            ".venv/pyvenv.cfg": "",
            ".venv/lib/conftest.py": "",
        },
    )
    (work / "tests/test_m.py").unlink()
    found = against(work)
    assert found.files == {name: FILES[name].encode() for name in ("pytest.ini", "tests/test_m.py")}
    assert found.changed == ("pytest.ini",)
    assert found.removed == ("tests/test_m.py",)
    assert found.added == ("conftest.py", "evil.pth", "sitecustomize.py", "tests/helper.py", "tests/test_new.py")
    caches = ("__pycache__/m.cpython-311.pyc", "tests/__pycache__/test_m.cpython-311.pyc")
    assert found.removed_paths == tuple(sorted((*found.added, *caches)))
    assert found.old_code == {"m.py": b"A = 1\n"}
    assert found.new_code == ("n.py",)
    assert found.new_data == ("data.toml",)


def test_the_revision_says_what_a_test_file_is(work):
    write_files(work, {"pytest.ini": "[pytest]\npython_files = check_*.py\n", "check_m.py": "1\n"})
    commit(work)
    write_files(work, {"pytest.ini": "[pytest]\npython_files = other_*.py\n", "check_m.py": "2\n", "other_m.py": "3\n"})
    found = against(work)
    assert found.files["check_m.py"] == b"1\n"
    assert found.new_code == ("other_m.py",)


def test_kept_files_stay(work):
    write_files(work, {"pkg/_version.py": "", "tests/data/generated.json": ""})
    found = against(work, keep=("pkg/_version.py", "tests/data/*"))
    assert found.new_code == found.removed_paths == ()
    assert found.kept == ("pkg/_version.py", "tests/data/generated.json")


def test_hidden_files_are_left_alone(work):
    write_files(work, {".env": "A=1\n"})
    run(work, "add", "-f", ".env")
    commit(work)
    write_files(work, {".env": "A=2\n", "tests/.env.local": ""})
    found = against(work, masked=(".env*",))
    assert found.old_code == {}
    assert found.removed_paths == ()


@pytest.mark.parametrize("name", ["conftest.py", "tests/test_m.py", "tests"])
def test_links_in_place_of_trusted_files_are_refused(work, name):
    write_files(work, {"elsewhere/test_m.py": FILES["tests/test_m.py"]})
    path = work / name
    if path.is_dir():
        shutil.rmtree(path)
        path.symlink_to("elsewhere")
    else:
        path.unlink(missing_ok=True)
        path.symlink_to(work / "elsewhere/test_m.py")
    with pytest.raises(CannotVerifyError, match=f"{name} is a symbolic link"):
        against(work)


def test_what_a_trusted_link_names_is_trusted_too(work):
    write_files(work, {"shared/cases.py": "1\n"})
    (work / "tests/cases.py").symlink_to("../shared/cases.py")
    commit(work)
    write_files(work, {"shared/cases.py": "2\n"})
    assert against(work).files == {"shared/cases.py": b"1\n"}


def test_a_pipe_in_place_of_a_file_does_not_hang(work):
    (work / "m.py").unlink()
    os.mkfifo(work / "m.py")
    assert against(work).old_code == {"m.py": b"A = 1\n"}
