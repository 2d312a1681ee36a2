"""Which packages a project's tests need.

The lock files in `files/` were written by their own tools for one project; only their addresses have been shortened.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox import locks
from greenloop_sandbox.locks import project

DATA = Path(__file__).parent / "files"
LINUX = {
    "implementation_name": "cpython",
    "implementation_version": "3.11.2",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_release": "6.1",
    "platform_system": "Linux",
    "platform_version": "1",
    "python_full_version": "3.11.2",
    "python_version": "3.11",
    "sys_platform": "linux",
}
OLDER = {**LINUX, "python_full_version": "3.10.12", "python_version": "3.10"}
MAIN = {"click", "docopt"}
FOR_TESTS = {"attrs", "sortedcontainers"}
DEV = {"iniconfig", "pycodestyle"}


def laid(root: Path, *names: str) -> Path:
    for name in names:
        shutil.copy(DATA / name, root / name)
    return root


def found(root: Path, markers=LINUX) -> dict[str, locks.Pin]:
    pins, _notes = locks.read_pins(locks.find_sources(root), markers)
    assert len({pin.name for pin in pins}) == len(pins)
    return {pin.name: pin for pin in pins}


@pytest.mark.parametrize(
    ("lock", "names"),
    [
        ("uv.lock", MAIN | FOR_TESTS | DEV),
        ("poetry.lock", MAIN | FOR_TESTS | DEV),
        ("pdm.lock", MAIN | FOR_TESTS),  # written without its group dev
        ("pylock.toml", MAIN | FOR_TESTS | DEV | {"idna"}),  # whoever exported it chose the extras
        ("requirements.txt", MAIN | FOR_TESTS | DEV),
    ],
)
def test_a_lock_gives_the_exact_packages_that_apply(tmp_path, lock, names):
    pins = found(laid(tmp_path, "pyproject.toml", lock))
    assert set(pins) == names
    assert pins["docopt"].version == "0.6.2"
    assert pins["docopt"].hashes == ("sha256:49b3a825280bd66b3aa83585ef59c4a8c82f2c8a522dbe754a8bc8d08c85c491",)
    assert all(pin.hashes and all(value.startswith("sha256:") for value in pin.hashes) for pin in pins.values())
    older = found(tmp_path, OLDER)
    assert set(older) == names | {"typing-extensions"}


def test_a_pipfile_lock_has_both_sections(tmp_path):
    pins = found(laid(tmp_path, "Pipfile.lock"))
    assert set(pins) == {"click", "sortedcontainers"}
    assert str(pins["click"]).startswith("click==8.5.1 --hash=sha256:")


def test_the_first_lock_wins_and_complete_requirements_come_before_pipenv(tmp_path):
    laid(tmp_path, "pyproject.toml", "Pipfile.lock")
    assert locks.find_sources(tmp_path).files == ("Pipfile.lock",)
    laid(tmp_path, "requirements.txt")
    assert locks.find_sources(tmp_path).files == ("requirements.txt",)
    for name in ("pylock.toml", "pdm.lock", "poetry.lock", "uv.lock"):
        laid(tmp_path, name)
        assert locks.find_sources(tmp_path).files == (name,)


def test_the_content_changes_with_what_is_needed_and_not_with_the_rest(tmp_path):
    laid(tmp_path, "pyproject.toml")
    first = locks.find_sources(tmp_path)
    text = (tmp_path / "pyproject.toml").read_text()
    (tmp_path / "pyproject.toml").write_text(text.replace('version = "2.1"', 'version = "2.2"'))
    assert locks.find_sources(tmp_path).content == first.content
    (tmp_path / "pyproject.toml").write_text(text.replace("click>=8", "click>=8.1"))
    assert locks.find_sources(tmp_path).content != first.content
    laid(tmp_path, "uv.lock")
    assert locks.find_sources(tmp_path).content != first.content


def test_what_a_lock_takes_from_elsewhere_is_left_out_and_said(tmp_path):
    (tmp_path / "Pipfile.lock").write_text(
        '{"default": {"own": {"path": ".", "editable": true}, "odd": {"git": "https://x"}, "a": {"version": "==1"}}}'
    )
    pins, notes = locks.read_pins(locks.find_sources(tmp_path), LINUX)
    assert [pin.name for pin in pins] == ["a"]
    assert notes == ["Pipfile.lock: odd comes from git, not from a package index, and was skipped."]


PYLOCK = """\
lock-version = "{version}"
created-by = "x"
[[packages]]
name = "me"
directory = {{path = "."}}
[[packages]]
name = "odd"
vcs = {{type = "git", url = "https://x", commit-id = "1"}}
[[packages]]
name = "a"
version = "1.0"
marker = "{marker}"
wheels = [{{url = "https://x/a-1.0-py3-none-any.whl", hashes = {{sha256 = "{digest}"}}}}]
"""


def test_a_pylock_takes_only_packages_from_an_index(tmp_path):
    text = PYLOCK.format(version="1.0", marker="sys_platform == 'linux'", digest="00")
    (tmp_path / "pylock.toml").write_text(text)
    pins, notes = locks.read_pins(locks.find_sources(tmp_path), LINUX)
    assert [str(pin) for pin in pins] == ["a==1.0 --hash=sha256:00"]
    assert notes == ["pylock.toml: odd comes from vcs, not from a package index, and was skipped."]


@pytest.mark.parametrize(("version", "marker"), [("2.0", "os_name == 'posix'"), ("1.0", "no marker")])
def test_a_pylock_that_breaks_the_specification_is_rejected(tmp_path, version, marker):
    (tmp_path / "pylock.toml").write_text(PYLOCK.format(version=version, marker=marker, digest="00"))
    with pytest.raises(CannotVerifyError, match=r"pylock\.toml cannot be parsed"):
        locks.read_pins(locks.find_sources(tmp_path), LINUX)


@pytest.mark.parametrize("name", ["uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "Pipfile.lock"])
@pytest.mark.parametrize("text", ["{", "[[package]]\nversion = 1\n", "[]", "\0", '{"default": 5}'])
def test_a_lock_that_is_none_is_one_sentence(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(CannotVerifyError, match=name) as caught:
        locks.read_pins(locks.find_sources(tmp_path), LINUX)
    assert caught.value.remedy


# -- projects without a lock ------------------------------------------------------------------------------------


def test_what_pyproject_asks_for_with_the_extras_and_groups_for_tests(tmp_path):
    wanted = locks.find_sources(laid(tmp_path, "pyproject.toml"))
    names = {Requirement(line).name for line in wanted.requirements}
    assert names == MAIN | FOR_TESTS | DEV | {"typing-extensions"}
    assert wanted.files == ("pyproject.toml",)
    assert not wanted.lock


def test_a_project_that_asks_for_nothing_has_no_packages(tmp_path):
    assert locks.find_sources(tmp_path) is None
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (tmp_path / "setup.cfg").write_text("not = a [file")
    assert locks.find_sources(tmp_path) is None


def test_setup_cfg_is_read(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "setup.cfg").write_text(
        "[metadata]\nname = old\nversion = 3.2\n[options]\ninstall_requires =\n  attrs>=20\n  tomli; python_version<'3.11'\n"
        "package_dir =\n  = lib\n[options.extras_require]\ntest = pytest\ndocs = sphinx\n"
        "[options.entry_points]\nconsole_scripts =\n  old = old:main\n"
    )
    read = project.read_project(tmp_path)
    assert (read.name, read.version, read.sources) == ("old", "3.2", ("lib",))
    assert {Requirement(line).name for line in read.requirements} == {"attrs", "tomli", "pytest"}
    assert read.entry_points == {"console_scripts": {"old": "old:main"}}


@pytest.mark.parametrize(
    ("asked", "specifier"),
    [
        ("^1.2.3", "<2,>=1.2.3"),
        ("^0.2.3", "<0.3,>=0.2.3"),
        ("^0.0.3", "<0.0.4,>=0.0.3"),
        ("~1.2", "<1.3,>=1.2"),
        ("~=1.2", "~=1.2"),
        ("1.5", "==1.5"),
        ("*", ""),
        (">=1,<3", "<3,>=1"),
    ],
)
def test_poetrys_own_constraints(tmp_path, asked, specifier):
    (tmp_path / "pyproject.toml").write_text(f"[tool.poetry.dependencies]\npython = '^3.9'\nthing = '{asked}'\n")
    assert project.read_project(tmp_path).requirements == (f"thing{specifier}",)


def test_an_extra_of_the_project_itself_is_what_that_extra_needs(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        "[project]\nname = 'me'\n[project.optional-dependencies]\nall = ['one', 'two']\ntest = ['me[all]', 'pytest']\n"
    )
    assert project.read_project(tmp_path).requirements == ("pytest", "one", "two")


def test_source_folders_inside_the_workspace_only(tmp_path):
    for folder in ("src/pkg", "python/pkg", "outside"):
        (tmp_path / "w" / folder).mkdir(parents=True)
    (tmp_path / "w" / "pyproject.toml").write_text(
        "[project]\nname = 'pkg'\ndynamic = ['version']\n[tool.setuptools.package-dir]\n'' = 'python'\nx = '../outside'\ny = '/etc'\n"
        "[tool.hatch.build.targets.wheel]\npackages = ['src/pkg']\n"
    )
    (tmp_path / "w" / "src" / "pkg" / "__init__.py").write_text('"""Doc."""\n__version__ = "7.1"\n')
    read = project.read_project(tmp_path / "w")
    assert read.sources == ("python", "src")
    assert read.version == "7.1"


def test_members_of_a_uv_workspace_are_found_too(tmp_path):
    for folder in ("packages/one/src/one", "packages/two/two", "outside"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(
        "[project]\nname = 'all'\n[tool.uv.workspace]\nmembers = ['packages/*', '../*', '/etc/*']\n"
    )
    assert set(project.read_project(tmp_path).sources) == {"packages/one/src", "packages/one", "packages/two"}
