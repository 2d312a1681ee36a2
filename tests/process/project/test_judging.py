"""What judges a change comes from the revision, and a change of it is named: small repositories, one for each case."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.project.revisions.git import Repository
from greenloop.project.revisions.revision import compare
from greenloop.project.revisions.staged import compare_staged

FILES = {
    "shop.py": "def total(prices):\n    return sum(prices)\n",
    "test_shop.py": "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
}
SIGNED = {
    **FILES,
    "test_shop.py": "from helpers import same\nfrom shop import total\n\n\ndef test_total():\n    assert 1\n",
}
PLUGIN = "def pytest_configure(config):\n    pass\n"


def write(root: Path, files: Mapping[str, str | None]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text)


def git(root: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=root, check=True, capture_output=True
    )


@pytest.fixture
def compared(tmp_path):
    """The comparison of a change (None: removed) with a commit of files, in the working tree or as staged."""

    def run(files: Mapping[str, str], change: Mapping[str, str | None], *, staged: bool = False, **more):
        root = tmp_path / "project"
        root.mkdir()
        write(root, files)
        git(root, "init", "-q")
        git(root, "add", "-Af")
        git(root, "commit", "-qm", "x")
        write(root, change)
        repository = Repository.find(root)
        if staged:
            git(root, "add", "-Af")
        return (compare_staged if staged else compare)(repository, repository.commit("HEAD"), **more)

    return run


def named(found) -> dict[str, str]:
    return {each.path: each.change for each in found.judging_changes}


EDITED = {
    "a test": (FILES, {"test_shop.py": "def test_total():\n    pass\n"}),
    "a removed test": (FILES, {"test_shop.py": None}),
    "data below a folder of tests": ({**FILES, "tests/data/prices.csv": "1\n"}, {"tests/data/prices.csv": "2\n"}),
    "a conftest": ({**FILES, "conftest.py": "A = 1\n"}, {"conftest.py": "A = 2\n"}),
    "a helper by its name": (
        {**SIGNED, "helpers.py": "def same(a, b):\n    return a == b\n"},
        {"helpers.py": "def same(a, b):\n    return True\n"},
    ),
    "a helper that imports pytest": (
        {
            **FILES,
            "kit.py": "import pytest\n\n\ndef near(a):\n    return pytest.approx(a)\n",
            "conftest.py": "from kit import near\n",
        },
        {"kit.py": "class Any:\n    __eq__ = lambda *_: True\n\n\ndef near(a):\n    return Any()\n"},
    ),
    "a helper of a helper": (
        {**SIGNED, "helpers.py": "from fakes import X\n", "fakes.py": "X = 1\n"},
        {"fakes.py": "X = 2\n"},
    ),
    "a helper that is given results": (
        {
            "shop.py": FILES["shop.py"],
            "agree.py": "def same(a, b):\n    return a == b\n",
            "test_shop.py": "from agree import same\nfrom shop import total\n\n\ndef test_total():\n"
            "    assert same(total([1]), 1)\n",
        },
        {"agree.py": "def same(a, b):\n    return True\n"},
    ),
    "a plugin of conftest": (
        {**FILES, "conftest.py": "pytest_plugins = ['tools.extra']\n", "tools/extra.py": PLUGIN},
        {"tools/extra.py": PLUGIN + "    config.option.x = 1\n"},
    ),
    "a plugin of addopts": (
        {**FILES, "pytest.ini": "[pytest]\naddopts = -q -p extra\n", "extra.py": PLUGIN},
        {"extra.py": PLUGIN + "# x\n"},
    ),
    "a plugin of pyproject": (
        {**FILES, "pyproject.toml": "[project.entry-points.pytest11]\nx = 'extra'\n", "extra.py": PLUGIN},
        {"extra.py": PLUGIN + "# x\n"},
    ),
    "a plugin of metadata": (
        {**FILES, "x.dist-info/entry_points.txt": "[pytest11]\nx = extra\n", "extra.py": PLUGIN},
        {"extra.py": PLUGIN + "# x\n"},
    ),
    "metadata": (
        {**FILES, "x.egg-info/entry_points.txt": "[console_scripts]\nx = shop:total\n"},
        {"x.egg-info/entry_points.txt": "[pytest11]\nx = shop\n"},
    ),
    "pytest's table": (
        {**FILES, "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q'\n"},
        {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q -k nothing'\n"},
    ),
    "the table of coverage": (
        {**FILES, "setup.cfg": "[metadata]\nname = x\n"},
        {"setup.cfg": "[metadata]\nname = x\n[coverage:run]\nplugins = shop\n"},
    ),
    "the file of coverage": ({**FILES, ".coveragerc": "[run]\n"}, {".coveragerc": "[run]\nplugins = shop\n"}),
    "the file of nox": ({**FILES, "noxfile.py": "A = 1\n"}, {"noxfile.py": "A = 2\n"}),
    "a golden file": ({**FILES, "out/total.golden": "3\n"}, {"out/total.golden": "4\n"}),
    "a snapshot": ({**FILES, "__snapshots__/test_shop.ambr": "3\n"}, {"__snapshots__/test_shop.ambr": "4\n"}),
    "data in a test's own folder": ({**FILES, "test_shop/total.yml": "3\n"}, {"test_shop/total.yml": "4\n"}),
    "data that a test names": (
        {**FILES, "test_shop.py": "EXPECTED = open('data/total.json').read()\n", "data/total.json": "3\n"},
        {"data/total.json": "4\n"},
    ),
    "data in a folder that a test names": (
        {**FILES, "test_shop.py": "CASES = Path('cases').glob('*')\n", "cases/one.json": "3\n"},
        {"cases/one.json": "4\n"},
    ),
}


@pytest.mark.parametrize("staged", [False, True], ids=["disk", "staged"])
@pytest.mark.parametrize("case", EDITED)
def test_an_edit_of_what_judges_is_named_and_not_used(compared, case, staged):
    files, change = EDITED[case]
    found = compared(files, change, staged=staged)
    (path,) = change
    assert named(found) == {path: "removes" if change[path] is None else "edits"}
    assert found.files[path].decode() == files[path]
    assert path not in found.old_code


ADDED = {
    "the standard library's": ("json.py", "def loads(text):\n    return 3\n"),
    "a package of the standard library": ("json/__init__.py", ""),
    "an installed one": ("numpy.py", ""),
    "a conftest above tests": ("conftest.py", ""),
    "configuration": ("pytest.ini", "[pytest]\naddopts = -k nothing\n"),
    "configuration of coverage": (".coveragerc", "[run]\nplugins = shop\n"),
    "a table of pytest": ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-k nothing'\n"),
    "code that Python runs first": ("sitecustomize.py", ""),
    "code that Python runs for its user": ("usercustomize.py", ""),
    "a path file": ("x.pth", "import shop\n"),
    "a plugin in metadata": ("x.dist-info/entry_points.txt", "[pytest11]\nx = shop\n"),
    "another module of a helper's name": ("helpers/__init__.py", "same = max\n"),
}


@pytest.mark.parametrize("staged", [False, True], ids=["disk", "staged"])
@pytest.mark.parametrize("case", ADDED)
def test_a_new_file_that_judges_is_named_and_left_out(compared, case, staged):
    path, text = ADDED[case]
    files = {**SIGNED, "helpers.py": "def same(a, b):\n    return a == b\n"}
    found = compared(files, {path: text}, staged=staged, installed=lambda name, _text: name == "numpy")
    assert named(found) == {path: "adds"}
    assert path in found.removed_paths or path in found.added
    assert path not in found.new_code


def test_a_link_that_leads_elsewhere_is_named(compared, tmp_path):
    found = None

    def link(target: str) -> None:
        (tmp_path / "project/tests").mkdir(parents=True, exist_ok=True)
        (tmp_path / "project/tests/data").unlink(missing_ok=True)
        (tmp_path / "project/tests/data").symlink_to(target)

    root = tmp_path / "project"
    link("../good")
    write(root, {**FILES, "good/a.txt": "1\n", "bad/a.txt": "2\n"})
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    link("../bad")
    repository = Repository.find(root)
    found = compare(repository, repository.commit("HEAD"))
    assert named(found) == {"tests/data": "edits"}


def test_a_link_in_the_name_of_a_library_is_refused(compared, tmp_path):
    (tmp_path / "project/own").mkdir(parents=True)
    root = tmp_path / "project"
    write(root, {**FILES, "own/__init__.py": ""})
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    (root / "json").symlink_to("own")
    repository = Repository.find(root)
    with pytest.raises(CannotVerifyError, match="json is a symbolic link"):
        compare(repository, repository.commit("HEAD"))


HONEST = {
    "code": (FILES, {"shop.py": "def total(prices):\n    return 3\n"}),
    "code that only its test imports": ({**FILES, "test_all.py": "import shop\n"}, {"shop.py": "A = 1\n"}),
    "a second module of one test": (
        {
            **FILES,
            "money.py": "def cents(a):\n    return a\n",
            "test_shop.py": "from money import cents\nfrom shop import total\n\n\ndef test_total():\n"
            "    assert total([cents(1)]) == 1\n    assert cents(2) == 2\n",
        },
        {"money.py": "def cents(a):\n    return a * 1\n"},
    ),
    "a helper of the code": (
        {**FILES, "shop.py": "from helpers import x\n", "helpers.py": "x = 1\n"},
        {"helpers.py": "x = 2\n"},
    ),
    "a version": (
        {**FILES, "pyproject.toml": "[project]\nname = 'x'\n[tool.pytest.ini_options]\n"},
        {"pyproject.toml": "[project]\nname = 'x'\ndependencies = []\n[tool.pytest.ini_options]\n"},
    ),
    "a build": ({**FILES, "setup.py": "A = 1\n"}, {"setup.py": "A = 2\n"}),
    "data of the code that a test names too": (
        {
            "shop.py": "DATA = open('prices.json').read()\n",
            "test_shop.py": "A = 'prices.json'\n",
            "prices.json": "1\n",
        },
        {"prices.json": "2\n"},
    ),
    "a page that a test names": (
        {**FILES, "test_shop.py": "A = 'README.md'\n", "README.md": "1\n"},
        {"README.md": "2"},
    ),
    "a new test": (FILES, {"test_more.py": "", "tests/new/conftest.py": "", "tests/new/test_more.py": ""}),
    "a new module for a test of the commit": (
        {**FILES, "test_more.py": "from more import x\n"},
        {"more.py": "x = 1\n"},
    ),
    "a module in a package": ({**FILES, "pkg/__init__.py": ""}, {"pkg/json.py": ""}),
    "metadata of a build": (FILES, {"x.egg-info/entry_points.txt": "[console_scripts]\nx = shop:total\n"}),
    "a new package that is installed from here": (FILES, {"fresh.py": "same\n"}),
}


@pytest.mark.parametrize("staged", [False, True], ids=["disk", "staged"])
@pytest.mark.parametrize("case", HONEST)
def test_honest_work_is_not_named(compared, case, staged):
    files, change = HONEST[case]
    found = compared(files, change, staged=staged, installed=lambda name, text: name == "fresh" and text != b"same\n")
    assert named(found) == {}
    code = {path for path in change if path in files and path.endswith(".py") and path != "setup.py"}
    assert code <= {*found.old_code}


def test_a_module_that_may_be_a_helper_is_said(compared):
    files, change = HONEST["a second module of one test"]
    assert any("money.py" in note for note in compared(files, change).notes)


@pytest.mark.parametrize("staged", [False, True], ids=["disk", "staged"])
@pytest.mark.parametrize("pattern", ["tests", "tests/*", "tests/test_a.py"])
def test_what_the_user_allows_judges(compared, pattern, staged):
    files = {**FILES, "tests/test_a.py": "A = 1\n"}
    change = {"tests/test_a.py": "A = 2\n", "test_shop.py": "B = 2\n"}
    found = compared(files, change, staged=staged, allow=(pattern,))
    assert [(each.path, each.allowed) for each in found.judging_changes] == [
        ("test_shop.py", False),
        ("tests/test_a.py", True),
    ]
    assert found.changed == ("test_shop.py",)
    assert {"tests/test_a.py", "test_shop.py"} <= found.trusted
    assert "tests/test_a.py" not in {*found.old_code, *found.removed_paths, *found.new_code}
    assert found.files.get("tests/test_a.py", b"A = 2\n") == b"A = 2\n"


def test_a_new_file_and_a_removed_one_may_be_allowed(compared):
    files = {**FILES, "tests/test_a.py": "A = 1\n"}
    change = {"tests/test_a.py": None, "tests/test_b.py": "B = 1\n", "conftest.py": ""}
    found = compared(files, change, allow=("tests", "conftest.py"))
    assert {each.path: (each.change, each.allowed) for each in found.judging_changes} == {
        "conftest.py": ("adds", True),
        "tests/test_a.py": ("removes", True),
        "tests/test_b.py": ("adds", True),
    }
    assert (found.files, found.removed_paths, found.new_code, found.added) == ({}, (), (), ())
