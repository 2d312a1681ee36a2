"""Tests written into the project in the same edit: run behind the wall first, then by the project's own pytest."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from docstring_project import ReferenceUser, RoleModel
from greenloop.api.result_files import write_texts
from greenloop.core.records.outcome import Outcome, Verified
from runlength import COUNTS, GROUPS, RIGHT, SETS, SORTED, STUB, code

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]


def make_model() -> RoleModel:
    return RoleModel(tester=SETS, drafter=[code(each) for each in (COUNTS, RIGHT, GROUPS, SORTED, RIGHT)])


def pytest_of(root, outcome: Outcome) -> str:
    """Plain pytest's last line, once the outcome is applied."""
    write_texts(root, outcome.before, outcome.after)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--disable-plugin-autoload"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip().splitlines()[-1].rpartition(" in ")[0]


async def test_a_docstring_becomes_an_implementation_and_its_tests_in_one_edit(docstring):
    outcome = await docstring(STUB, make_model(), user=ReferenceUser(RIGHT), **{"spec.write": True})
    assert outcome.verified is Verified.VERIFIED
    assert list(outcome.after) == ["m.py", "test_m.py"]
    assert outcome.before["test_m.py"] is None
    text = outcome.after["test_m.py"]
    assert text.startswith("from m import rle\n")
    assert text.index("# Confirmed by you.") < text.index("# Generated from the docstring by greenloop")
    tests = text.count("\ndef test_")
    assert outcome.message.endswith(f" {tests} tests were written into test_m.py.")
    # what was not believed is nowhere
    assert "rle('aba') == [('a', 2)" not in text
    assert pytest_of(docstring.root, outcome) == f"{tests} passed"
    again = await docstring(STUB, make_model(), **{"spec.write": True})
    assert again.after.get("test_m.py", text).count("rle('zz') == [('z', 2)]") == 1  # written once


async def test_an_existing_test_file_is_added_to(docstring):
    old = "import m\n\n\ndef test_name():\n    assert m.rle.__name__ == 'rle'\n"
    outcome = await docstring(
        STUB, make_model(), files={"tests/test_rle.py": old}, **{"spec.write": True, "spec.design": "always"}
    )
    assert outcome.solved
    assert outcome.before["tests/test_rle.py"] == old
    assert outcome.after["tests/test_rle.py"].startswith(old.replace("import m\n", "import m\nfrom m import rle\n"))
    assert "    assert rle('aab') == [('a', 2), ('b', 1)]\n" in outcome.after["tests/test_rle.py"]
    (docstring.root / "conftest.py").write_text("")
    assert pytest_of(docstring.root, replace(outcome)).endswith("passed")


async def test_without_the_setting_no_test_is_written(docstring):
    outcome = await docstring(STUB, make_model())
    assert list(outcome.after) == ["m.py"]


async def test_what_does_not_pass_where_it_would_stand_is_not_written_and_named(docstring):
    """A fixture of the project that breaks every test there: the result stays, without tests."""
    conftest = "import pytest\n\n\n@pytest.fixture(autouse=True)\ndef closed(request):\n    if 'greenloop' not in request.node.fspath.basename:\n        raise RuntimeError\n"
    outcome = await docstring(STUB, make_model(), files={"conftest.py": conftest}, **{"spec.write": True})
    assert outcome.solved
    assert list(outcome.after) == ["m.py"]
    assert "Not written into test_m.py because it does not pass there: `assert rle(" in outcome.message
