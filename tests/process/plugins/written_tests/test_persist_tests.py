"""Tests that greenloop writes into a project's own test files: in their style, where its tests are, and passing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Provenance, Region, Spec
from greenloop.plugins.written_tests.persist_tests import Addition, build_addition
from project_files import write_files

RLE = "def rle(s):\n    out = []\n    for c in s:\n        if out and out[-1][0] == c:\n            out[-1] = (c, out[-1][1] + 1)\n        else:\n            out.append((c, 1))\n    return out\n"
LINES = (
    "assert rle('') == []",
    "assert rle('aab') == [('a', 2), ('b', 1)]",
    "with pytest.raises(TypeError):\n    rle(5)",
)


class Project:
    """Files on the disk and a function in one of them with tests in sheets."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __call__(self, files: dict[str, str], path: str = "codec.py", module: str = "codec", text: str = RLE) -> None:
        write_files(self.root, {path: text, **files})
        self.region, self.module, self.text = Region(path=path, qualname="rle", start=1, end=8), module, text

    def of(self, path: str) -> str | None:
        file = self.root / path
        return file.read_bytes().decode() if file.is_file() else None

    def checks(self, *lines: str, kind: Provenance = Provenance.DESIGNED) -> Spec:
        made = [
            Check(
                body=line,
                line=1,
                provenance=kind,
                shown=line.replace(":\n    ", ": "),
                imports=("import pytest",) if "pytest" in line else (),
            )
            for line in lines
        ]
        return build_test_file(self.region, self.module, kind.value, made)

    def add(self, spec: Spec | None = None) -> Addition:
        files = {self.region.path: self.text}
        problem = Problem(
            root=self.root, spec=spec or self.checks(*LINES), regions=(self.region,), originals=files, files=files
        )
        return build_addition(problem, self.of)

    def runs(self, addition: Addition) -> str:
        """What plain pytest says of the whole project with the file written."""
        (self.root / addition.path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / addition.path).write_bytes(addition.after.encode())
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--disable-plugin-autoload"]
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
        return done.stdout.strip().splitlines()[-1].rpartition(" in ")[0]


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


OLD = 'from codec import rle\n\n\ndef test_one():\n    assert rle("a") == [("a", 1)]\n'


def test_into_the_file_that_tests_the_module(project):
    project({"test_codec.py": OLD, "test_other.py": "def test_it():\n    pass\n"})
    made = project.add()
    assert made.path == "test_codec.py"
    assert made.before == OLD
    assert made.after == OLD.replace("rle\n", "rle\nimport pytest\n", 1) + (
        "\n\n# Generated from the docstring by greenloop, supported by votes.\n"
        "def test_rle_1():\n    assert rle('') == []\n\n\n"
        "def test_rle_aab():\n    assert rle('aab') == [('a', 2), ('b', 1)]\n\n\n"
        "def test_rle_5_raises_typeerror():\n    with pytest.raises(TypeError):\n        rle(5)\n"
    )
    assert made.ids[f"{next(iter(made.ids)).partition('::')[0]}::test_designed_1"] == "test_codec.py::test_rle_1"
    assert project.runs(made) == "5 passed"


def test_the_projects_formatter_lays_out_the_new_tests_and_nothing_else(project):
    old = "from codec import rle\n\n\ndef test_one( ):\n  assert rle('a')==[('a',1)]\n"
    project({"test_codec.py": old, "pyproject.toml": "[tool.ruff]\nline-length = 40\n"})
    made = project.add(project.checks(*LINES[:2]))
    assert made.after == old + (
        "\n\n# Generated from the docstring by greenloop, supported by votes.\n"
        'def test_rle_1():\n    assert rle("") == []\n\n\n'
        'def test_rle_aab():\n    assert rle("aab") == [\n        ("a", 2),\n        ("b", 1),\n    ]\n'
    )
    assert project.runs(made) == "3 passed"


def test_a_new_file_among_the_projects_tests(project):
    project(
        {"tests/test_other.py": "def test_it():\n    assert 'x'\n", "conftest.py": ""}, "src/pkg/codec.py", "pkg.codec"
    )
    (project.root / "pytest.ini").write_text("[pytest]\npythonpath = src\n")
    made = project.add()
    assert (made.path, made.before) == ("tests/test_codec.py", None)
    assert made.after.startswith("import pytest\nfrom pkg.codec import rle\n\n\n# Generated")
    assert "assert rle('') == []" in made.after
    assert project.runs(made) == "4 passed"


def test_beside_the_module_where_there_are_no_tests(project):
    project({})
    made = project.add(project.checks(*LINES[:2]))
    assert made.path == "test_codec.py"
    assert made.after.startswith("from codec import rle\n\n\n# Generated from the docstring by greenloop")
    assert project.runs(made) == "2 passed"


def test_beside_unittest_classes_a_file_of_its_own(project):
    old = "import unittest\n\nimport codec\n\n\nclass TestCodec(unittest.TestCase):\n    def test_a(self):\n        pass\n"
    project({"test_codec.py": old})
    made = project.add(project.checks(*LINES[:1]))
    assert (made.path, made.before) == ("test_codec_rle.py", None)
    assert project.runs(made) == "2 passed"


@pytest.mark.parametrize(
    ("head", "called"),
    [
        ("import pkg.codec as c\n", "from pkg.codec import rle\n"),
        ("import pkg.codec\n", "from pkg.codec import rle\n"),
        ("from pkg import codec\n", "from pkg.codec import rle\n"),
        ("from pkg.codec import rle as encode\n", "from pkg.codec import rle\n"),
        ("from pkg.codec import OTHER\n", "assert rle('') == []"),
        ("from pkg.codec import OTHER\n\nrle = 'taken'\n", "    from pkg.codec import rle\n    assert rle('') == []"),
    ],
)
def test_the_function_is_imported_once_and_never_hides_another(project, head, called):
    project(
        {"pkg/__init__.py": "", "test_pkg.py": f"{head}\n\ndef test_a():\n    assert 'a'\n"},
        "pkg/codec.py",
        "pkg.codec",
        RLE + "OTHER = 1\n",
    )
    made = project.add(project.checks(*LINES[:2]))
    assert made.path == "test_pkg.py"
    assert called in made.after
    assert project.runs(made) == "3 passed"


def test_relative_imports_stay_relative(project):
    project(
        {"pkg/__init__.py": "", "pkg/test_pkg.py": "from .codec import OTHER\n\n\ndef test_a():\n    assert OTHER\n"},
        "pkg/codec.py",
        "pkg.codec",
        RLE + "OTHER = 1\n",
    )
    made = project.add(project.checks(*LINES[:2]))
    assert "from .codec import OTHER\nfrom .codec import rle\n" in made.after
    assert project.runs(made) == "3 passed"


def test_line_ends_tabs_and_a_missing_last_line_end(project):
    old = "from codec import rle\r\n\r\n\r\ndef test_one():\r\n\tassert rle('a') == [('a', 1)]"
    project({"test_codec.py": old})
    made = project.add(project.checks(*LINES[:1]))
    assert made.after.startswith(old + "\r\n\r\n\r\n#")
    assert made.after.endswith("def test_rle_1():\r\n    assert rle('') == []\r\n")
    assert project.runs(made) == "2 passed"


def test_what_the_files_encoding_cannot_hold_is_left_out_and_named(project):
    project({"test_codec.py": "# -*- coding: latin-1 -*-\nfrom codec import rle\n\n\ndef test_a():\n    pass\n"})
    made = project.add(project.checks("assert rle('€') == [('€', 1)]", LINES[0]))
    assert len(made.ids) == 1
    assert made.left_out == (
        "`assert rle('€') == [('€', 1)]` was not written: it cannot be expressed in test_codec.py.",
    )


def test_where_each_test_comes_from_is_said_once(project):
    project({})
    spec = project.checks(*LINES[:2]) + project.checks("assert rle('z') == [('z', 1)]", kind=Provenance.CONFIRMED)
    made = project.add(spec)
    remarks = [line for line in made.after.splitlines() if line.startswith("#")]
    assert remarks == [
        "# Confirmed by you.",
        "# Generated from the docstring by greenloop, supported by votes.",
    ]


def test_properties_are_not_written(project):
    project({})
    stated = Check(body="assert rle('a')", line=1, provenance=Provenance.PROPERTY)
    made = project.add(build_test_file(project.region, project.module, "property", [stated]) + project.checks(LINES[0]))
    assert made.sentence == "1 test was written into test_codec.py."


def test_names_are_readable_and_never_taken(project):
    project({"test_codec.py": OLD + "\n\ndef test_rle_1():\n    pass\n"})
    lines = [
        "assert rle('') == []",
        "assert rle([1, -2]) == [(1, 1), (-2, 1)]",
        "assert rle('?!') == [('?', 1), ('!', 1)]",
        f"assert rle({'ab' * 40!r})",
    ]
    made = project.add(project.checks(*lines))
    assert [each.rpartition("::")[2] for each in made.ids.values()] == [
        "test_rle_2",
        "test_rle_1_2",
        "test_rle_3",
        "test_rle_4",
    ]
    assert project.runs(made) == "6 passed"


def test_what_the_file_says_already_is_not_written_again(project):
    project({"test_codec.py": "from codec import rle\n\n\ndef test_empty():\n    assert rle('') == []\n"})
    made = project.add(project.checks(*LINES[:2]))
    assert [each.rpartition("::")[2] for each in made.ids.values()] == ["test_rle_aab"]


def test_a_file_that_cannot_be_parsed_is_left_alone(project):
    project({"test_codec.py": "from codec import rle\n\n\ndef test_one(:\n"})
    made = project.add()
    assert made.path == "test_codec_rle.py"


def test_the_projects_own_pattern_names_a_new_file(project):
    project({"checks/check_other.py": "def test_it():\n    pass\n"})
    (project.root / "pytest.ini").write_text("[pytest]\npython_files = check_*.py\n")
    made = project.add(project.checks(LINES[0]))
    assert made.path == "checks/check_codec.py"
