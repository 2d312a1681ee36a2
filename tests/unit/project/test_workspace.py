"""Root, trust, secrets and imports."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from greenloop.core.errors import UsageError
from greenloop.project import workspace
from project_files import write_files

# -- root -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini", ".git/HEAD"])
def test_the_nearest_mark_upward_is_the_root(tmp_path, mark):
    write_files(tmp_path, {mark: "", "a/b/m.py": ""})
    assert workspace.find_root(tmp_path / "a" / "b") == tmp_path
    assert workspace.find_root(tmp_path / "a" / "b" / "m.py") == tmp_path


MEMBERS = [
    {"pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src", "../b/src"]\n'},
    {"pytest.ini": "[pytest]\npythonpath = src ../b/src\n"},
    {"pyproject.toml": "[tool.uv.sources]\nb = { workspace = true }\n"},
    {"pyproject.toml": '[tool.poetry.dependencies]\nb = { path = "../b", develop = true }\n'},
]


@pytest.mark.parametrize("mark", [".git/HEAD", "uv.lock"])
@pytest.mark.parametrize("settings", MEMBERS)
def test_a_member_that_imports_from_others_belongs_to_the_workspace(tmp_path, mark, settings):
    member = {f"packages/a/{name}": text for name, text in settings.items()}
    write_files(tmp_path, {mark: "", "packages/b/src/b.py": "", "packages/a/tests/test_a.py": "", **member})
    assert workspace.find_root(tmp_path / "packages/a/tests/test_a.py") == tmp_path
    assert workspace.find_start(tmp_path, PurePosixPath("packages/a/tests")) == "packages/a"
    assert workspace.find_start(tmp_path, PurePosixPath("packages/b")) == ""


@pytest.mark.parametrize("readme", ["", "readme = '../README.md'"])
def test_a_member_that_stands_alone_is_a_workspace_of_its_own(tmp_path, readme):
    write_files(tmp_path, {".git/HEAD": "", "README.md": "", "packages/a/pyproject.toml": f"[project]\n{readme}\n"})
    assert workspace.find_root(tmp_path / "packages/a") == tmp_path / "packages/a"


def test_without_a_mark_the_start_is_the_root(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/nonexistent")
    write_files(tmp_path, {"a/m.py": ""})
    assert workspace.find_root(tmp_path / "a") == tmp_path / "a"


def test_home_and_top_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write_files(tmp_path, {".git/HEAD": "", "project/m.py": ""})
    with pytest.raises(UsageError, match="too broad"):
        workspace.find_root(tmp_path)
    for wide in (tmp_path, Path("/")):
        with pytest.raises(UsageError, match="too broad"):
            workspace.check_root(wide)
    # Dotfiles under git in the home folder do not make the home folder the project.
    assert workspace.find_root(tmp_path / "project") == tmp_path / "project"


def test_a_root_that_is_no_folder(tmp_path):
    write_files(tmp_path, {"m.py": ""})
    with pytest.raises(UsageError, match="not a folder"):
        workspace.check_root(tmp_path / "m.py")


# -- files ----------------------------------------------------------------------------------------------------------


def test_python_files_are_the_projects_own(tmp_path):
    write_files(
        tmp_path,
        {
            "m.py": "",
            "src/pkg/n.py": "",
            "a b/o#.py": "",
            ".hidden/x.py": "",
            ".venv/lib/x.py": "",
            "venv/x.py": "",
            "myenv/pyvenv.cfg": "",
            "myenv/lib/x.py": "",
            "node_modules/x.py": "",
            "build/x.py": "",
            "dist/x.py": "",
            "pkg.egg-info/x.py": "",
            "__pycache__/x.py": "",
            "notes.txt": "",
        },
    )
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "outside.py").symlink_to("/etc/hostname")
    (tmp_path / "inside.py").symlink_to(tmp_path / "m.py")
    assert workspace.python_files(tmp_path) == ["a b/o#.py", "inside.py", "m.py", "src/pkg/n.py"]
    assert len(workspace.python_files(tmp_path, most=2)) == 2


def test_read_prefers_buffers_and_stays_inside(tmp_path):
    write_files(tmp_path / "w", {"m.py": "disk"})
    write_files(tmp_path, {"secret.py": "x"})
    (tmp_path / "w" / "link.py").symlink_to(tmp_path / "secret.py")
    root = tmp_path / "w"
    assert workspace.read_bytes(root, "m.py", {"m.py": b"buffer"}) == b"buffer"
    assert workspace.read_bytes(root, "m.py", {}) == b"disk"
    assert workspace.read_bytes(root, "link.py") is None
    assert workspace.read_bytes(root, "../secret.py") is None
    assert workspace.read_bytes(root, "none.py") is None
    assert workspace.read_bytes(root, ".") is None
    assert workspace.read_bytes(root, "m.py/x") is None


@pytest.mark.parametrize(
    ("path", "trusted"),
    [
        ("test_m.py", True),
        ("pkg/m_test.py", True),
        ("conftest.py", True),
        ("a/conftest.py", True),
        ("tests/helpers.py", True),
        ("pkg/test/support.py", True),
        ("pyproject.toml", True),
        ("setup.py", True),
        ("setup.cfg", True),
        ("sitecustomize.py", True),
        ("x.pth", True),
        ("m.py", False),
        ("pkg/testing.py", False),
        ("src/pkg/contest.py", False),
    ],
)
def test_is_trusted(path, trusted):
    assert workspace.is_trusted(path) is trusted


def test_trusted_and_fingerprint_follow_the_tests(tmp_path):
    write_files(tmp_path, {"m.py": "1", "test_m.py": "2", "conftest.py": "", "pyproject.toml": "", "check_x.py": "3"})
    assert workspace.trusted_files(tmp_path) == ["conftest.py", "pyproject.toml", "test_m.py"]
    before = workspace.fingerprint(tmp_path)
    write_files(tmp_path, {"m.py": "changed"})
    assert workspace.fingerprint(tmp_path) == before
    assert workspace.fingerprint(tmp_path, {"m.py": b"x"}) == before
    assert workspace.fingerprint(tmp_path, {"test_m.py": b"unsaved"}) != before
    assert workspace.fingerprint(tmp_path, {"test_new.py": b""}) != before
    write_files(tmp_path, {"test_m.py": "changed"})
    assert workspace.fingerprint(tmp_path) != before
    write_files(tmp_path, {"pyproject.toml": "[tool.pytest.ini_options]\npython_files = ['check_*.py']\n"})
    assert workspace.trusted_files(tmp_path) == ["check_x.py", "conftest.py", "pyproject.toml"]


# -- secrets --------------------------------------------------------------------------------------------------------


def test_secrets(tmp_path):
    write_files(
        tmp_path,
        {
            ".env": "API_KEY='s3cret-value'\nexport TOKEN=tok_123456 # comment\nDEBUG=true\nHOST=localhost\n"
            "DATABASE_URL=postgres://u:hunter2@db/x\nSHORT_KEY=abc\n",
            ".env.local": "OTHER=a1b2c3d4e5\n",
        },
    )
    environ = {"OPENAI_API_KEY": "sk-environ", "HOME": "/home/user1", "DB_PASSWORD": "swordfish", "PWD": "/home/user1"}
    found = workspace.find_secrets(tmp_path, environ)
    assert set(found) == {
        "s3cret-value",
        "tok_123456",
        "postgres://u:hunter2@db/x",
        "a1b2c3d4e5",
        "sk-environ",
        "swordfish",
    }
    assert [len(value) for value in found] == sorted((len(value) for value in found), reverse=True)


# -- imports --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "path", "name"),
    [
        ({"m.py": ""}, "m.py", "m"),
        ({"src/pkg/m.py": ""}, "src/pkg/m.py", "pkg.m"),
        ({"src/pkg/__init__.py": ""}, "src/pkg/__init__.py", "pkg"),
        ({"src/__init__.py": "", "src/m.py": ""}, "src/m.py", "src.m"),
        ({"pkg/sub/m.py": ""}, "pkg/sub/m.py", "pkg.sub.m"),
        ({"pytest.ini": "[pytest]\npythonpath = code\n", "code/m.py": ""}, "code/m.py", "m"),
    ],
)
def test_module_name(tmp_path, files, path, name):
    assert workspace.module_name(path, write_files(tmp_path, files)) == name


@pytest.mark.parametrize(
    ("files", "name", "test", "path"),
    [
        ({"test_m.py": "", "m.py": ""}, "m", "test_m.py", "m.py"),
        ({"test_m.py": ""}, "m", "test_m.py", "m.py"),
        ({"tests/test_m.py": ""}, "m", "tests/test_m.py", "m.py"),
        ({"tests/test_m.py": "", "src/pkg/__init__.py": ""}, "pkg.m", "tests/test_m.py", "src/pkg/m.py"),
        ({"tests/test_m.py": "", "src/pkg/n.py": ""}, "pkg.m", "tests/test_m.py", "src/pkg/m.py"),
        ({"tests/test_m.py": "", "src/other.py": ""}, "m", "tests/test_m.py", "src/m.py"),
        ({"tests/test_m.py": "import n\n", "n.py": "", "src/x.py": ""}, "m", "tests/test_m.py", "m.py"),
        ({"tests/test_m.py": "", "pytest.ini": "[pytest]\npythonpath = code\n"}, "m", "tests/test_m.py", "code/m.py"),
        ({"app/test_m.py": "", "app/n.py": ""}, "m", "app/test_m.py", "app/m.py"),
        ({"app/test_m.py": "", "app/m.py": "", "m.py": ""}, "m", "app/test_m.py", "app/m.py"),
        ({"test_m.py": ""}, "pkg.m", "test_m.py", "pkg/m.py"),
        ({"test_m.py": "", "pkg/__init__.py": ""}, "pkg", "test_m.py", "pkg/__init__.py"),
        (
            {"packages/api/tests/test_m.py": "", "packages/api/src/api/__init__.py": ""},
            "api.m",
            "packages/api/tests/test_m.py",
            "packages/api/src/api/m.py",
        ),
    ],
)
def test_resolve_module(tmp_path, files, name, test, path):
    assert workspace.resolve_module(name, write_files(tmp_path, files), test) == path


def test_importers(tmp_path):
    write_files(
        tmp_path,
        {
            "src/pkg/__init__.py": "from pkg.text import slugify\n",
            "src/pkg/text.py": "",
            "src/pkg/other.py": "",
            "tests/test_from.py": "from pkg.text import slugify\n",
            "tests/test_import.py": "import pkg.text as t\n",
            "tests/test_package.py": "from pkg import text\n",
            "tests/test_reexport.py": "from pkg import slugify\n",
            "tests/test_inside.py": "def test_a():\n    from pkg.text import slugify\n",
            "tests/test_broken.py": "from pkg.text import slugify\ndef test_a(:\n",
            "tests/test_other.py": "import other  # text\n",
            "tests/test_word.py": "'text'\n",
            "tests/helper.py": "import pkg.text\n",
        },
    )
    names = ["broken", "from", "import", "inside", "package", "reexport"]
    assert workspace.importing_tests(tmp_path, "src/pkg/text.py") == [f"tests/test_{name}.py" for name in names]


def test_importers_beside_the_module(tmp_path):
    write_files(tmp_path, {"a/m.py": "", "a/test_m.py": "import m\n", "b/m.py": "", "b/test_m.py": "import m\n"})
    assert workspace.importing_tests(tmp_path, "a/m.py") == ["a/test_m.py"]
