"""Which Python runs a project's tests: read from files, never by running what lies in the repository."""

from __future__ import annotations

import base64
import hashlib
import sys

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.project.environment.interpreters import describe_disagreement, describe_environment, has_other_module
from greenloop_sandbox import Environment
from project_files import write_files
from virtual_environments import VERSION, find_environment, make_venv

INSTALLED = {"numpy/__init__.py": "1", "six.py": "2", "yaml.cpython-311-x86_64-linux-gnu.so": "", "data/x.txt": ""}


@pytest.mark.parametrize(("key", "version"), [("version", f"{VERSION}.2"), ("version_info", f"{VERSION}.2.final.0")])
def test_dot_venv_is_read_and_not_run(tmp_path, key, version):
    folder = make_venv(tmp_path / ".venv", version=version, key=key, pytest_too=True)
    found = find_environment(tmp_path)
    assert (found.executable, found.prefix, found.source) == (folder / "bin" / "python", folder, ".venv")
    assert found.version == sys.version_info[:2]
    assert found.has_pytest
    assert (found.base / "lib" / f"python{VERSION}" / "os.py").is_file()
    assert not (folder / "ran").exists()
    assert describe_environment(found, tmp_path) == f".venv (Python {VERSION})"


def test_the_order(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    elsewhere = make_venv(tmp_path / "elsewhere")
    active = {"VIRTUAL_ENV": str(elsewhere)}
    assert find_environment(root, active).source == "VIRTUAL_ENV"
    make_venv(root / "venv")
    assert find_environment(root, active).source == "venv"
    make_venv(root / ".venv")
    assert find_environment(root, active).source == ".venv"
    chosen = find_environment(root, active, interpreter=str(elsewhere))
    assert (chosen.source, chosen.prefix) == ("setting", elsewhere)
    assert find_environment(root, active, interpreter=str(elsewhere / "bin" / "python")).prefix == elsewhere
    assert find_environment(root, active, interpreter=".venv").prefix == root / ".venv"


def test_a_member_of_a_workspace_uses_the_environment_around_it(tmp_path):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    root = tmp_path / "repo" / "packages" / "api"
    root.mkdir(parents=True)
    make_venv(tmp_path / ".venv")  # outside of the repository
    assert find_environment(root, {"PATH": f"{make_venv(tmp_path / 'elsewhere')}/bin"}).source == "PATH"
    around = make_venv(tmp_path / "repo" / ".venv")
    found = find_environment(root)
    assert (found.prefix, found.source) == (around, ".venv of repo")
    own = make_venv(root / ".venv")
    assert find_environment(root).prefix == own


@pytest.mark.parametrize(
    ("folders", "chosen", "source"),
    [
        ([".tox/py39", ".tox/py311", ".tox/lint"], ".tox/py311", "tox"),
        ([".tox/docs", ".nox/tests-3-12"], ".nox/tests-3-12", "nox"),
        ([".pixi/envs/default"], ".pixi/envs/default", "pixi"),
        ([".direnv/python-3.9", ".direnv/python-3.11"], ".direnv/python-3.11", "direnv"),
    ],
)
def test_environments_that_other_tools_keep_in_the_project(tmp_path, folders, chosen, source):
    for folder in folders:
        make_venv(tmp_path / folder, pytest_too=True)
    found = find_environment(tmp_path)
    assert (found.prefix, found.source) == (tmp_path / chosen, source)
    assert describe_environment(found, tmp_path) == f"{chosen} (Python {VERSION}, {source})"


def test_an_environment_of_tox_without_pytest_or_broken_is_passed_over(tmp_path):
    root = tmp_path / "root"
    make_venv(root / ".tox" / "py312")
    (root / ".tox" / "py313").mkdir()
    (root / ".tox" / "py313" / "pyvenv.cfg").write_text("home = /nowhere\nversion = 3.13.1\n")
    path = {"PATH": f"{make_venv(tmp_path / 'elsewhere')}/bin"}
    assert find_environment(root, path).source == "PATH"
    usable = make_venv(root / ".tox" / "py311", pytest_too=True)
    assert find_environment(root, path).prefix == usable


@pytest.mark.skipif(sys.platform != "linux", reason="the folder is that of Linux")
def test_hatch_keeps_environments_by_the_projects_name_and_place(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (root / "pyproject.toml").write_text("[project]\nname = 'My_Proj.x'\n")
    mark = base64.urlsafe_b64encode(hashlib.sha256(str(root.resolve()).encode()).digest()).decode()[:8]
    data = tmp_path / "data" / "hatch" / "env" / "virtual" / "my-proj-x" / mark
    default = make_venv(data / "my-proj-x", pytest_too=True)
    environ = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    assert find_environment(root, environ).prefix == default
    tests = make_venv(data / "hatch-test.py3.11", pytest_too=True)
    assert find_environment(root, environ).prefix == tests


def test_a_path_with_dots_is_written_without_them(tmp_path):
    """A sandbox shows the environment, and not the folders that such a path leads through."""
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    folder = make_venv(tmp_path / "elsewhere")
    python = folder / "bin" / "python"
    spelled = ["../elsewhere", "sub/../../elsewhere/bin/python", f"{root}/sub/../../elsewhere", str(python)]
    found = [find_environment(root, interpreter=name) for name in spelled]
    found.append(find_environment(root, {"VIRTUAL_ENV": f"{root}/../elsewhere"}))
    found.append(find_environment(root, {"PATH": f"{root}/sub/../../elsewhere/bin"}))
    assert {(each.executable, each.prefix) for each in found} == {(python, folder)}


def test_dots_behind_a_link_lead_where_the_link_leads(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    folder = make_venv(tmp_path / "far" / "env")
    (tmp_path / "far" / "other").mkdir()
    (root / "link").symlink_to(tmp_path / "far" / "other")
    assert find_environment(root, interpreter="link/../env/bin/python").prefix == folder


def test_without_pytest_it_says_so(tmp_path):
    make_venv(tmp_path / ".venv")
    assert not find_environment(tmp_path).has_pytest


def test_poetry_pdm_pipenv_and_conda(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    (root / "pyproject.toml").write_text("[tool.poetry]\nname = 'My App'\n")
    (root / "Pipfile").touch()

    conda = tmp_path / "conda"
    (conda / "conda-meta").mkdir(parents=True)
    (conda / "bin").mkdir()
    (conda / "bin" / "python").touch()
    (conda / "conda-meta" / "python-3.12.4-h1_0.json").touch()
    found = find_environment(root, {**home, "CONDA_PREFIX": str(conda), "CONDA_DEFAULT_ENV": "work"})
    assert (found.source, found.version, found.base) == ("conda", (3, 12), conda)

    folder = make_venv(tmp_path / ".local" / "share" / "virtualenvs" / "root-abc")
    (folder / ".project").write_text(f"{root}\n")
    assert find_environment(root, home).source == "Pipenv"

    mark = base64.urlsafe_b64encode(hashlib.sha256(str(root.resolve()).encode()).digest()).decode()[:8]
    make_venv(tmp_path / "cache" / "pypoetry" / "virtualenvs" / f"my_app-{mark}-py{VERSION}")
    if sys.platform == "linux":
        assert find_environment(root, home).source == "Poetry"

    pdm = make_venv(tmp_path / "pdm")
    (root / ".pdm-python").write_text(f"{pdm}/bin/python\n")
    assert find_environment(root, home).source == "PDM"


def test_nothing_in_the_repository_is_run(tmp_path):
    trap = tmp_path / "bin" / "python3"
    trap.parent.mkdir()
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    trap.chmod(0o755)
    with pytest.raises(CannotVerifyError, match="No Python was found"):
        find_environment(tmp_path, {"PATH": f"{trap.parent}:bin:."})
    with pytest.raises(CannotVerifyError, match="is inside the workspace"):
        find_environment(tmp_path, interpreter="bin/python3")
    link = tmp_path.parent / f"{tmp_path.name}-link"
    link.symlink_to(trap)
    with pytest.raises(CannotVerifyError, match="is inside the workspace"):
        find_environment(tmp_path, interpreter=str(link))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        ({"version": "3.8.10"}, "does not exist any more|Python 3.8"),
        ({"home": "/nonexistent/bin"}, "does not exist any more"),
        ({"version": "rubbish"}, "incomplete"),
        ({"home": ""}, "incomplete"),
    ],
)
def test_a_broken_environment_is_named_with_its_cure(tmp_path, make, sentence):
    make_venv(tmp_path / ".venv", **make)
    with pytest.raises(CannotVerifyError, match=sentence) as raised:
        find_environment(tmp_path)
    assert "venv" in raised.value.remedy


def test_an_old_python_is_refused(tmp_path):
    base = tmp_path / "old"
    (base / "lib" / "python3.8").mkdir(parents=True)
    (base / "lib" / "python3.8" / "os.py").touch()
    root = tmp_path / "root"
    make_venv(root / ".venv", version="3.8.10", home=base / "bin")
    with pytest.raises(CannotVerifyError, match=r"is Python 3\.8; greenloop runs tests with Python 3\.9"):
        find_environment(root)


@pytest.mark.parametrize(
    ("name", "data", "other"),
    [
        ("numpy", b"", True),
        ("numpy", b"1", False),  # the project itself, installed from here
        ("six", b"", True),
        ("yaml", b"", True),
        ("data", b"", False),
        ("nothing", b"", False),
    ],
)
def test_a_module_of_the_environment(tmp_path, name, data, other):
    site = tmp_path / "lib/python3.11/site-packages"
    write_files(site, INSTALLED)
    environment = Environment(
        executable=tmp_path / "bin/python",
        prefix=tmp_path,
        base=tmp_path,
        version=(3, 11),
        source="x",
        has_pytest=True,
    )
    assert has_other_module(environment, name, data) is other


def test_each_member_of_a_workspace_may_have_its_own(tmp_path):
    (tmp_path / ".git").mkdir()
    around, own = make_venv(tmp_path / ".venv"), make_venv(tmp_path / "packages" / "api" / ".venv")
    tests = ["packages/api/tests/test_a.py::test_one[a/b]", "packages/api/tests/unit/test_b.py"]
    found = find_environment(tmp_path, tests=tests)
    assert (found.prefix, found.source) == (own, ".venv of packages/api")
    for others in (
        [],
        ["packages/core/test_c.py"],
        [*tests, "packages/core/test_c.py"],
        ["../x/test_d.py"],
        ["/etc/x"],
    ):
        assert find_environment(tmp_path, tests=others).prefix == around


def test_what_asks_for_another_python_is_said(tmp_path):
    other = make_venv(tmp_path / "other")
    make_venv(tmp_path / "work" / ".venv")
    root = tmp_path / "work"
    found = find_environment(root)
    assert describe_disagreement(found, root, {}) == ""
    assert describe_disagreement(found, root, {"VIRTUAL_ENV": str(tmp_path / "gone")}) == ""
    said = f"another environment is active, {other}: to use it, set 'interpreter'"
    assert describe_disagreement(found, root, {"VIRTUAL_ENV": str(other)}) == said
    version = ".".join(map(str, found.version))
    for wanted, is_said in ((f">={version}", False), (f">={version}.2", False), (">=3.99", True), ("nonsense", False)):
        (root / "pyproject.toml").write_text(f'[project]\nname = "x"\nrequires-python = "{wanted}"\n')
        assert bool(describe_disagreement(found, root, {})) is is_said, wanted


def test_environments_that_disagree_are_said_and_those_that_agree_are_not(tmp_path):
    root = tmp_path / "work"
    ours, tox = make_venv(root / ".venv", pytest_too=True), make_venv(root / ".tox" / "py311", pytest_too=True)

    def say() -> str:
        found = find_environment(root)
        assert found.source == ".venv"
        return describe_disagreement(found, root, {})

    def install(folder, *packages):
        for package in packages:
            (folder / "lib" / f"python{VERSION}" / "site-packages" / f"{package}.dist-info").mkdir(parents=True)

    install(ours, "six-1.16.0", "black-25.1.0")
    install(tox, "six-1.16.0", "tox-4.0")
    assert say() == ""
    install(ours, "attrs-25.1.0")
    install(tox, "attrs-24.2.0")
    shown = f".tox/py311 (Python {VERSION}, tox) has"
    assert say() == f"{shown} attrs 24.2.0, not 25.1.0: to use it, set 'interpreter'"
    (ours / "lib" / f"python{VERSION}" / "site-packages" / "pytest" / "__init__.py").unlink()
    (tox / "lib" / f"python{VERSION}" / "site-packages" / "attrs-24.2.0.dist-info").rmdir()
    assert say() == f"{shown} pytest: to use it, set 'interpreter'"


def test_an_environment_of_another_python_is_said(tmp_path):
    root, base = tmp_path / "work", tmp_path / "base"
    for file in ("bin/python3.10", "lib/python3.10/os.py"):
        (base / file).parent.mkdir(parents=True)
        (base / file).touch()
    make_venv(root / ".venv", pytest_too=True)
    tox = make_venv(root / ".tox" / "py310", version="3.10.2")
    (tox / "pyvenv.cfg").write_text(f"home = {base}/bin\nversion = 3.10.2\n")
    (tox / "lib/python3.10/site-packages/pytest").mkdir(parents=True)
    (tox / "lib/python3.10/site-packages/pytest/__init__.py").touch()
    said = ".tox/py310 (Python 3.10, tox) has another Python: to use it, set 'interpreter'"
    assert describe_disagreement(find_environment(root), root, {}) == said
    make_venv(root / ".tox" / "py311", pytest_too=True)
    assert describe_disagreement(find_environment(root), root, {}) == ""
