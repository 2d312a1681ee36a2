"""Requirement files."""

from __future__ import annotations

import pytest

from greenloop_sandbox import locks
from greenloop_sandbox.locks import requirements


def test_options_in_requirement_files_are_never_passed_on_and_are_said(tmp_path):
    (tmp_path / "requirements.txt").write_text(
        "-i https://user:secret@evil.example/simple\n--extra-index-url=https://evil.example/simple\n-f https://evil.example\n"
        "--find-links ../wheels\n--trusted-host evil.example\n--pre\n-e git+https://evil.example/x#egg=x\n-e .\n-e .[test]\n"
        "--no-binary :all:\n./local\n../up.whl\nthing @ https://evil.example/thing.whl\nhttps://evil.example/y.whl\n"
        "good>=1  # a comment\nother[extra]==2 ; python_version > '3' \\\n   --config-settings x=y\n${SECRET}\n"
    )
    listed = requirements.read_requirements(tmp_path)
    assert listed.requirements == ("good>=1", 'other[extra]==2; python_version > "3"')
    assert not listed.complete
    assert len(listed.notes) == 13
    assert "secret" not in " ".join(listed.notes)
    assert not any("evil" in line for line in (*listed.requirements, *listed.constraints))


def test_includes_are_followed_inside_the_workspace_only(tmp_path):
    root = tmp_path / "w"
    (root / "requirements").mkdir(parents=True)
    (tmp_path / "outside.txt").write_text("evil\n")
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    (root / "requirements.txt").write_text(
        "-r requirements/base.txt\n-c bounds.txt\n-r ../outside.txt\n-rlink.txt\n-r gone.txt\n"
    )
    (root / "requirements" / "base.txt").write_text("a\n-r ../requirements.txt\n")
    (root / "requirements" / "docs.txt").write_text("sphinx\n")
    (root / "bounds.txt").write_text("a<5\n")
    listed = requirements.read_requirements(root)
    assert listed.requirements == ("a",)
    assert listed.constraints == ("a<5",)
    assert [note.split(" is ")[0] for note in listed.notes] == [
        "requirements.txt: ../outside.txt",
        "requirements.txt: link.txt",
        "requirements.txt: gone.txt",
    ]


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("requirements.txt", True),
        ("requirements-dev.txt", True),
        ("requirements_test.txt", True),
        ("test-requirements.txt", True),
        ("requirements/tests.txt", True),
        ("requirements/base.txt", True),
        ("tests/requirements.txt", True),
        ("requirements-docs.txt", False),
        ("requirements/lint.txt", False),
        ("notes.txt", False),
    ],
)
def test_which_files_are_read(tmp_path, name, read):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("thing\n")
    assert requirements.read_requirements(tmp_path).files == ((name,) if read else ())


def test_links_out_of_the_workspace_are_not_read(tmp_path):
    root = tmp_path / "w"
    root.mkdir()
    for name in ("requirements.txt", "uv.lock"):
        (tmp_path / name).write_text("outside\n")
        (root / name).symlink_to(tmp_path / name)
    assert locks.find_sources(root) is None
    assert requirements.read_requirements(root).notes == (
        "requirements.txt points outside the workspace and was skipped.",
    )


@pytest.mark.parametrize("line", ["a>=1 --hash=sha256:00", "a==1", "a==1.* --hash=sha256:00", "a --hash=sha256:00"])
def test_only_exact_lines_with_hashes_are_a_lock(tmp_path, line):
    (tmp_path / "requirements.txt").write_text(f"b==2 --hash=sha256:11\n{line}\n")
    assert not requirements.read_requirements(tmp_path).complete
