"""What a typed word points at."""

from __future__ import annotations

import pytest

from greenloop.core.errors import UsageError
from greenloop.core.records.spec import TargetKind
from greenloop.project import typed_targets
from targets_texts import CODE, TESTS


def test_names_of_the_project_are_read_for_what_is_typed(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\npython_functions = check_\npython_classes =\n  Test\n  *Spec\n")
    (tmp_path / "test_m.py").write_text("def check_a(): pass\nclass ASpec:\n    def check_b(self): pass\n")
    assert typed_targets.parse_target("test_m.py::check_a", tmp_path).target.kind is TargetKind.TEST
    assert typed_targets.parse_target("test_m.py:3", tmp_path).target.selector == "test_m.py::ASpec::check_b"
    with pytest.raises(UsageError, match="has no test 'test_a'"):
        typed_targets.parse_target("test_m.py::test_a", tmp_path)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("m.py", ("m.py", "", "", None)),
        ("m.py:12", ("m.py", "", "", 12)),
        ("m.py:12:5", ("m.py", "", "", 12)),
        ("m.py:12:", ("m.py", "", "", 12)),
        ("a b/m#1.py::f", ("a b/m#1.py", "f", "", None)),
        ("t.py::A::test_b[x::y-1]", ("t.py", "A.test_b", "[x::y-1]", None)),
        ("t.py::test_b[a:1]", ("t.py", "test_b", "[a:1]", None)),
        (r"C:\p\t.py::test_b", (r"C:\p\t.py", "test_b", "", None)),
        ("C:/p/t.py:7", ("C:/p/t.py", "", "", 7)),
        (r"C:\p\t.py", (r"C:\p\t.py", "", "", None)),
    ],
)
def test_split(text, parts):
    typed = typed_targets.split_target(text)
    assert (typed.path, typed.name, typed.params, typed.line) == parts


@pytest.mark.parametrize(
    ("path", "root", "windows", "expected"),
    [
        ("a/b.py", "/w", False, "a/b.py"),
        ("./a/../b.py", "/w", False, "b.py"),
        ("/w/a/b.py", "/w", False, "a/b.py"),
        ("/w2/a/b.py", "/w", False, None),
        ("../b.py", "/w", False, None),
        ("/w/../etc/x.py", "/w", False, None),
        (r"C:\W\a\b.py", r"c:\w", True, "a/b.py"),
        (r"a\b.py", r"C:\w", True, "a/b.py"),
        (r"D:\w\a.py", r"C:\w", True, None),
        (r"\\server\share\a.py", r"\\server\share", True, "a.py"),
        ("C:a.py", r"C:\w", True, None),
    ],
)
def test_relative(path, root, windows, expected):
    assert typed_targets.relative_path(path, root, windows=windows) == expected


@pytest.fixture
def root(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_m.py").write_text(TESTS)
    (tmp_path / "m.py").write_text(CODE)
    (tmp_path / "one.py").write_text("def only():\n    pass\n")
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "selector"),
    [
        ("tests/test_m.py::test_plain[1]", "tests/test_m.py::test_plain[1]"),
        ("tests/test_m.py::TestThing::test_one", "tests/test_m.py::TestThing::test_one"),
        ("tests/test_m.py:12", "tests/test_m.py::test_plain"),
        (r"tests\test_m.py::test_plain", "tests/test_m.py::test_plain"),
        ("tests/test_m.py", "tests/test_m.py"),
        ("m.py::area", "m.py::area"),
        ("m.py::Box.size", "m.py::Box.size"),
        ("./m.py:7", "m.py::area"),
        ("one.py", "one.py::only"),
    ],
)
def test_parse_target(root, typed, selector):
    assert typed_targets.parse_target(typed, root).target.selector == selector
    assert typed_targets.parse_target(f"{root}/{typed}", root).target.selector == selector


def test_the_examples_of_a_text_file_are_one_test(root):
    (root / "README.md").write_text(">>> 1 + 1\n2\n")
    for typed in ("README.md", "README.md::README.md"):
        found = typed_targets.parse_target(typed, root).target
        assert (found.kind, found.selector) == (TargetKind.TEST, "README.md::README.md")
    (root / "NOTES.txt").write_text("nothing\n")
    for typed, sentence in (("README.md::f", "has no function 'f'"), ("NOTES.txt", "has no examples")):
        with pytest.raises(UsageError, match=sentence):
            typed_targets.parse_target(typed, root)


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("def load_tests(loader, tests, pattern):\n    return tests\n", "test_made.py::load_tests::m.double"),
        ("from pytest_bdd import scenarios\n\nscenarios('m.feature')\n", "test_made.py::test_doubling[1]"),
    ],
)
def test_a_case_that_its_file_makes_is_left_to_pytest(root, line, typed):
    (root / "test_made.py").write_text(line)
    assert typed_targets.parse_target(typed, root).target.selector == typed


def test_parse_target_counts_from_the_current_folder_first(root):
    found = typed_targets.parse_target("test_m.py::test_async", root, base=root / "tests")
    assert found.path == "tests/test_m.py"
    assert typed_targets.parse_target("m.py::area", root, base=root / "tests").path == "m.py"


def test_parse_target_through_a_link(root, tmp_path_factory):
    link = tmp_path_factory.mktemp("links") / "project"
    link.symlink_to(root)
    assert typed_targets.parse_target(f"{link}/m.py::area", root).path == "m.py"
    assert typed_targets.parse_target(f"{root}/m.py::area", link).path == "m.py"


@pytest.mark.parametrize(
    ("typed", "sentence", "remedy"),
    [
        ("tests/test_n.py::test_a", "There is no file 'tests/test_n.py'", "tests/test_m.py"),
        ("tests/test_m.py::test_plane", "no test 'test_plane'", "tests/test_m.py::test_plain"),
        ("tests/test_m.py::helper", "no test 'helper'", "Did you mean"),
        ("m.py::aera", "no function 'aera'", "m.py::area"),
        ("m.py:2", "no function at m.py:2", "m.py::area (line 5)"),
        ("m.py:999", "has 37 lines", ""),
        ("m.py", "not a test file", "m.py::area"),
        ("/etc/hostname::f", "outside the workspace", ""),
        ("../m.py::f", "There is no file", ""),
        ("::f", "does not name a file", "file.py::function"),
    ],
)
def test_what_does_not_exist_is_named_with_the_nearest(root, typed, sentence, remedy):
    with pytest.raises(UsageError) as raised:
        typed_targets.parse_target(typed, root)
    assert sentence in str(raised.value)
    assert remedy in raised.value.remedy
