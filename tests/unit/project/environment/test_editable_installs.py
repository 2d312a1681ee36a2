"""Which folders an environment's editable installs name, and which of them are not believed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from greenloop.project.environment import editable_installs


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def packages(tmp_path):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    return folder


def project(folder: Path) -> Path:
    (folder / "src" / "lib").mkdir(parents=True)
    (folder / "src" / "lib" / "__init__.py").touch()
    (folder / "pyproject.toml").touch()
    return folder


def test_a_folder_in_a_pth_file(packages, home):
    lib = project(home / "lib")
    (packages / "lib.pth").write_text(f"# a comment\n\n{lib}/src\n{home}/gone\n")
    assert editable_installs.source_folders([packages], visible=[]) == (lib / "src",)


def test_a_relative_line_and_a_link_keep_their_spelling(packages, home):
    lib = project(home / "lib")
    (home / "linked").symlink_to(lib)
    (packages / "lib.pth").write_text(f"{home}/linked/src\n")
    assert editable_installs.source_folders([packages], visible=[]) == (home / "linked" / "src",)
    (packages / "lib.pth").write_text(os.path.relpath(lib / "src", packages) + "\n")
    (found,) = editable_installs.source_folders([packages], visible=[])
    assert found.resolve() == lib / "src"


@pytest.mark.parametrize(
    ("pth", "finder", "text"),
    [
        (
            "import __editable___lib_1_0_finder; __editable___lib_1_0_finder.install()",
            "__editable___lib_1_0_finder",
            "import os\nMAPPING: dict[str, str] = {{'lib': '{lib}/src/lib'}}\nNAMESPACES = {{}}\n",
        ),
        ("import _lib_editable", "_lib_editable", "install({{'lib': '{lib}/src/lib/__init__.py'}}, '{lib}/src/lib')\n"),
    ],
)
def test_a_finder_is_read_and_not_run(packages, home, pth, finder, text):
    lib = project(home / "lib")
    (packages / "lib.pth").write_text(pth + "\n")
    (packages / f"{finder}.py").write_text(text.format(lib=lib) + f"open({str(home / 'ran')!r}, 'w')\n")
    assert editable_installs.source_folders([packages], visible=[]) == (lib / "src" / "lib",)
    assert not (home / "ran").exists()


def test_a_single_module_is_named_without_its_ending(packages, home):
    lib = project(home / "lib")
    (lib / "one.py").touch()
    (packages / "lib.pth").write_text("import _finder\n")
    (packages / "_finder.py").write_text(f"MAPPING = {{'one': '{lib}/one'}}\n")
    assert editable_installs.source_folders([packages], visible=[]) == (lib / "one.py",)


def test_what_is_shown_anyway_is_left_out(packages, home):
    lib = project(home / "lib")
    (packages / "a.pth").write_text(f"{lib}/src\n{lib}/src/lib\n")
    assert editable_installs.source_folders([packages], visible=[]) == (lib / "src",)
    assert editable_installs.source_folders([packages], visible=[lib]) == ()


@pytest.mark.parametrize("name", [".ssh", "notes", "", ".config/app"])
def test_what_is_no_project_or_hidden_is_not_believed(packages, home, name):
    folder = home / name
    folder.mkdir(parents=True, exist_ok=True)
    if name.startswith("."):
        (folder / "pyproject.toml").touch()
    (packages / "a.pth").write_text(f"{folder}\n/\n{home.parent}\n")
    assert editable_installs.source_folders([packages], visible=[]) == ()


def test_a_mark_in_the_home_folder_makes_nothing_in_it_a_project(packages, home):
    (home / "setup.cfg").touch()
    (home / "documents").mkdir()
    (packages / "a.pth").write_text(f"{home}/documents\n")
    assert editable_installs.source_folders([packages], visible=[]) == ()


def test_a_broken_finder_names_nothing(packages, home):
    (packages / "a.pth").write_text("import _broken\nimport _missing\n")
    (packages / "_broken.py").write_text("MAPPING = {\n")
    assert editable_installs.source_folders([packages], visible=[]) == ()
