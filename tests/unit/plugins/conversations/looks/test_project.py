"""The project as a model may see it: nothing hidden, nothing outside, and never more than is of use."""

from __future__ import annotations

import pytest

from greenloop.plugins.conversations.looks._project import LARGEST, LookError, text_argument
from look_project import look_project

FILES = {"shop/core.py": "a = 1\n", "data.bin": b"\xff\xfe\x00\x80", "latin.py": b"a = '\xe9'\n", ".env": "KEY=1\n"}


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        (".env", "`.env` is hidden."),
        ("shop/.cache/x", "`shop/.cache/x` is hidden."),
        ("secrets.toml", "is hidden"),
        ("../x", "`../x` is outside the workspace."),
        ("shop/../../x", "is outside the workspace"),
        ("/etc/passwd", "`/etc/passwd` is outside the workspace."),
        ("link/passwd", "leads outside the workspace"),
        ("link", "leads outside the workspace"),
        ("none.py", "There is no file `none.py`."),
        ("shop", "`shop` is a folder."),
        ("large.txt", "`large.txt` is too large (50 MB)."),
        ("data.bin", "`data.bin` is not a text file."),
        ("latin.py", "`latin.py` is not a text file."),
        ("a\0b", "cannot be a file here"),
        ("\ud800", "cannot be a file here"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(tmp_path, path, sentence):
    (tmp_path / "outside").mkdir()
    root = tmp_path / "w"
    project, _asked = look_project(root, FILES)
    (root / "link").symlink_to(tmp_path / "outside")
    with (root / "large.txt").open("wb") as file:
        file.truncate(50 << 20)
    with pytest.raises(LookError) as caught:
        project.text(path)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    "path", ["shop/core.py", "./shop/core.py", " shop/core.py", "shop//core.py", "{root}/shop/core.py"]
)
def test_every_way_to_write_a_path_inside(tmp_path, path):
    project, _asked = look_project(tmp_path, FILES)
    assert project.text(path.format(root=tmp_path)) == "a = 1\n"


def test_the_change_counts_then_unsaved_texts_then_the_disk(tmp_path):
    project, _asked = look_project(tmp_path, FILES, changed={"shop/core.py": "a = 2\n"}, buffers={"b.py": b"b = 1\n"})
    assert project.text("shop/core.py") == "a = 2\n"
    assert project.text("b.py") == "b = 1\n"


def test_what_was_shown_stays_and_what_was_only_searched_is_forgotten(tmp_path):
    project, _asked = look_project(tmp_path, {"a.py": "1\n", "b.py": "1\n"})
    project.text("a.py")
    project.text("b.py", keep=False)
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("2\n")
    assert (project.text("a.py"), project.text("b.py")) == ("1\n", "2\n")


async def test_files_of_environments_and_secrets_are_no_files_of_the_project(tmp_path):
    more = {"venv/pyvenv.cfg": "", "venv/x.py": "", "node_modules/y.py": "", "key.pem": "", "new.txt": ""}
    project, _asked = look_project(tmp_path, {**FILES, **more}, changed={"shop/new.py": ""})
    assert await project.files(".py") == ["latin.py", "shop/core.py", "shop/new.py"]
    assert "key.pem" not in await project.files()


def test_a_folder_has_the_names_in_it_and_those_of_the_change(tmp_path):
    changed = {"shop/new.py": "", "shop/parts/one.py": "", "other/two.py": ""}
    project, _asked = look_project(tmp_path, FILES | {"shop/deep/x.py": "", "shop/key.pem": ""}, changed=changed)
    assert project.entries("shop") == ["core.py", "deep/", "new.py", "parts/"]
    assert project.entries("") == ["data.bin", "latin.py", "other/", "shop/"]


@pytest.mark.parametrize(
    ("test", "selector"),
    [
        ("shop/core.py", "shop/core.py"),
        ("./shop/core.py::test_a[x::y]", "shop/core.py::test_a[x::y]"),
        ("shop", "shop"),
        (".", "."),
        ("doctest:shop/core.py::f", "doctest:shop/core.py::f"),
        ("new.py::test_b", "new.py::test_b"),
    ],
)
def test_selectors_are_files_that_exist(tmp_path, test, selector):
    project, _asked = look_project(tmp_path, FILES, changed={"new.py": ""})
    assert project.selector(test) == selector


@pytest.mark.parametrize("test", ["", "  ", "--collect-only", "-c /x", "none.py::test", "../x.py", "/x.py", ".env"])
def test_no_other_selector_reaches_pytest(tmp_path, test):
    project, _asked = look_project(tmp_path, FILES)
    with pytest.raises(LookError):
        project.selector(test)


@pytest.mark.parametrize(("value", "text"), [("a", "a"), (5, "5"), (0.5, "0.5"), (0, "0")])
def test_arguments_are_texts_or_numbers(value, text):
    assert text_argument({"x": value}, "x") == text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [({}, "missing"), ({"x": None}, "missing"), ({"x": " "}, "missing"), ({"x": ["a"]}, "text"), ({"x": True}, "text")],
)
def test_other_arguments_are_refused(arguments, sentence):
    with pytest.raises(LookError, match=sentence):
        text_argument(arguments, "x")


def test_an_optional_argument_may_be_null():
    assert text_argument({"x": None}, "x", needed=False) == ""


def test_the_limit_is_below_the_one_that_makes_a_file_unreadable(tmp_path):
    project, _asked = look_project(tmp_path, {"a.txt": "x" * LARGEST})
    assert len(project.text("a.txt")) == LARGEST
