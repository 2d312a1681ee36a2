"""A change of what judges it is named and needs permission, in real sandboxes; so do the proofs of old passes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from git_program import commit_all
from greenloop.cli.main import main
from project_files import write_files

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

CODE = "def double(x):\n    return x + 1\n\n\ndef one():\n    return 1\n"
RIGHT = CODE.replace("x + 1", "2 * x")
FILES = {
    "m.py": CODE,
    "helpers.py": "def same(got, wanted):\n    assert got == wanted\n",
    "test_m.py": (
        "from helpers import same\nfrom m import double, one\n\n\n"
        "def test_double():\n    for x in range(3):\n        same(double(x), 2 * x)\n\n\n"
        "def test_one():\n    for x in [1]:\n        assert one() == x\n"
    ),
    ".gitignore": "__pycache__\n",
}
DOUBLE, ONE = "test_m.py::test_double", "test_m.py::test_one"


@pytest.fixture
def verify(tmp_path, monkeypatch, capsys):
    """`greenloop verify` of a change of the project, with words: exit code, and the object of `--json` or the text."""
    root = tmp_path / "project"
    root.mkdir()
    write_files(root, FILES)
    commit_all(root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("GREENLOOP_SANDBOX_KIND", "bubblewrap")

    def run(change: Mapping[str, str], *words: str) -> tuple[int, object]:
        write_files(root, change)
        code = main(["verify", *words])
        out, err = capsys.readouterr()
        assert out, err
        return code, json.loads(out) if "--json" in words else out

    return run


WEAK = {"m.py": RIGHT, "helpers.py": "def same(got, wanted):\n    pass\n"}


def test_a_change_of_a_helper_is_named_and_needs_a_reason(verify):
    code, value = verify(WEAK, "--json")
    assert (code, value["verified"], value["state"]) == (1, False, "edits_tests")
    assert value["reason"].startswith("The change edits helpers.py, which judges it (a helper that only tests import).")
    assert "--allow-test-change helpers.py --because TEXT" in value["reason"]
    (edit,) = value["judging_changes"]
    assert (edit["path"], edit["change"], edit["allowed"], edit["because"]) == ("helpers.py", "edits", False, "")
    strict = {**WEAK, "helpers.py": "def same(got, wanted):\n    assert wanted == got\n"}
    code, value = verify(strict, "--json", "--allow-test-change", "helpers.py", "--because", "the other way round")
    assert (code, value["fixed"]) == (0, [DOUBLE]), value["reason"]
    assert [(each["path"], each["because"]) for each in value["judging_changes"]] == [
        ("helpers.py", "the other way round")
    ]
    code, text = verify(strict, "--allow-test-change", "helpers.py", "--because", "the other way round")
    assert code == 0
    assert "The change edits helpers.py" in text
    assert "Allowed: the other way round" in text


def test_an_allowed_test_judges_as_the_change_has_it(verify):
    wrong = FILES["test_m.py"].replace("2 * x)", "3 * x)")
    code, value = verify({"m.py": RIGHT, "test_m.py": wrong}, "--json", "test_m.py")
    assert (code, value["failed"], value["state"]) == (1, [], "edits_tests")
    words = ("--allow-test-change", "test_*.py", "--because", "three")
    code, value = verify({}, "--json", "test_m.py", *words)
    assert (code, value["still_failing"]) == (1, [DOUBLE])


@pytest.mark.parametrize(
    "words",
    [("--because", "x"), ("--allow-test-change", "x"), ("--allow-test-change", "x", "--because", " ")],
    ids=["no file", "no reason", "an empty reason"],
)
def test_a_permission_is_a_file_with_a_reason(verify, words, capsys):
    assert main(["verify", *words]) == 2
    assert "only with a reason" in capsys.readouterr().err


def test_a_module_in_the_place_of_a_library_is_named_and_not_used(verify):
    code, value = verify({"m.py": RIGHT, "random.py": "raise SystemExit\n"}, "--json")
    assert (code, value["state"], value["failed"]) == (1, "edits_tests", [])
    assert "random.py, which judges it (it takes the place of the standard library's random)" in value["reason"]


def test_a_module_in_the_place_of_a_known_package_that_is_not_installed_is_named_and_not_used(verify):
    code, value = verify({"m.py": RIGHT, "numpy.py": "int64 = int\n"}, "--json")
    assert (code, value["state"], value["failed"]) == (1, "edits_tests", [])
    assert "numpy.py, which judges it (it takes the place of the package numpy)" in value["reason"]


def test_code_that_lets_a_failing_test_be_skipped_is_named(verify):
    skip = "import unittest\n\n\n" + CODE.replace("return x + 1", "raise unittest.SkipTest('not here')")
    code, value = verify({"m.py": skip}, "--json")
    assert (code, value["state"]) == (1, "tampered")
    assert "was skipped, but not with your own code" in value["reason"]


NEW = "from m import double\n\n\ndef test_new():\n    assert double(7) == 14\n\n\ndef test_old():\n    assert 1\n"


def test_new_tests_are_run_and_those_that_fail_without_the_change_are_new_passes(verify):
    code, value = verify({"m.py": RIGHT, "test_new.py": NEW}, "--json")
    assert (code, value["state"], value["judging_changes"]) == (0, "verified", []), value["reason"]
    assert {case["id"]: (case["before"], case["outcome"], case["new_pass"]) for case in value["new_cases"]} == {
        "test_new.py::test_new": ("failed", "passed", True),
        "test_new.py::test_old": ("passed", "passed", False),
    }


def test_a_new_test_that_fails_is_not_verified(verify):
    code, value = verify({"m.py": RIGHT, "test_new.py": NEW.replace("14", "15")}, "--json")
    assert (code, value["state"]) == (1, "failing")
    assert "1 new test(s) do not pass: test_new.py::test_new" in value["reason"]


def test_an_old_pass_is_not_believed_of_a_value_that_may_lie(verify):
    liar = "class Same(int):\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n\n\n"
    code, value = verify({"m.py": liar + RIGHT.replace("return 1", "return Same(2)")}, "--json")
    assert (code, value["state"]) == (0, "partially_verified")
    assert [*value["unearned"]] == [ONE]


def test_an_old_pass_that_the_change_does_not_matter_to_is_no_doubt(verify):
    code, value = verify({"m.py": RIGHT.replace("return 1", "y = 1\n    return y")}, "--json")
    assert (code, value["unearned"]) == (0, {}), value["reason"]


def test_what_is_required_beyond_a_pass_decides_the_exit_code(verify):
    code, value = verify({"m.py": RIGHT}, "--json", "--require", "apart")
    assert (value["require"], code == 0) == ("apart", bool(value["apart"]))
    assert value["apart"] or "--require apart" in value["reason"]


README = "README.md::README.md"


def test_examples_of_a_readme_are_tests_of_the_revision(verify):
    guide = ">>> from m import one\n>>> one()\n2\n\nMore.\n"
    write_files(
        Path.cwd(), {"README.md": guide, "pytest.ini": "[pytest]\naddopts = --doctest-glob='*.md'\n", "test_m.py": ""}
    )
    commit_all(Path.cwd())
    two = {"m.py": CODE.replace("return 1", "return 2")}
    code, value = verify({**two, "README.md": guide.replace("More", "Less")}, "--json")
    assert (code, value["fixed"], value["apart"]) == (0, [README], [README]), value["reason"]
    code, value = verify({**two, "README.md": guide.replace("2", "3")}, "--json")
    assert (code, value["state"]) == (1, "edits_tests")
    assert value["reason"].startswith("The change edits README.md, which judges it (a test file).")


EXAMPLE = 'def two():\n    """Two.\n\n    >>> two()\n    2\n    """\n    return 1\n'


@pytest.mark.parametrize(
    ("change", "unearned"),
    [
        (EXAMPLE.replace("two()\n    2", "two() > 0\n    True"), {"d.py::d.two": "the change replaces its examples"}),
        (EXAMPLE.replace("return 1", "return 2").replace('    """\n', "    >>> two() + 1\n    3\n" + '    """\n'), {}),
    ],
    ids=["another example", "one more example"],
)
def test_an_example_that_the_change_replaces_proves_nothing(verify, change, unearned):
    write_files(Path.cwd(), {"d.py": EXAMPLE, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"})
    commit_all(Path.cwd())
    _code, value = verify({"d.py": change}, "d.py", "--json")
    assert value["fixed"] == ["d.py::d.two"]
    assert value["unearned"] == unearned
    assert value["state"] == ("not_verified" if unearned else "verified")


def test_a_case_whose_parameter_is_gone_fails_without_an_accusation(verify):
    units = "UNITS = ['m', 'km']\n\n\ndef two():\n    return 1\n"
    test = (
        "import pytest\nfrom u import UNITS, two\n\n\n@pytest.mark.parametrize('name', UNITS)\ndef test_unit(name):\n"
    )
    test += "    assert name\n\n\ndef test_two():\n    assert two() == 2\n"
    write_files(Path.cwd(), {"u.py": units, "test_u.py": test})
    commit_all(Path.cwd())
    code, value = verify({"u.py": units.replace("return 1", "return 2").replace(", 'km'", "")}, "--json")
    assert (code, value["state"], value["tampered"]) == (1, "failing", [])
    assert value["reason"] == "test_u.py::test_unit[km] is gone: its parameters come from code that changed."
