"""What the exit code of `greenloop verify` says, in real sandboxes: 0 only where every test asked for passes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from git_program import commit_all
from greenloop.cli.main import main
from project_files import write_files

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

FILES = {
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "m.py": "def double(x):\n    return x + 1\n\n\ndef one():\n    return 1\n",
    "test_m.py": (
        "import pytest\n\nfrom m import double, one\n\n\n"
        "@pytest.mark.parametrize('x', [5, 6])\ndef test_double(x):\n    assert double(x) == [10, 12][x - 5]\n\n\n"
        "def test_one():\n    assert one() == 1\n"
    ),
    ".gitignore": "__pycache__\n",
}
FIVE, SIX, ONE = "test_m.py::test_double[5]", "test_m.py::test_double[6]", "test_m.py::test_one"
HARMLESS = FILES["m.py"] + "\n\nDONE = True\n"
RIGHT = FILES["m.py"].replace("x + 1", "x * 2")


@pytest.fixture
def work(tmp_path, monkeypatch) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    write_files(root, FILES)
    commit_all(root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("GREENLOOP_SANDBOX_KIND", "bubblewrap")
    return root


@pytest.fixture
def verify(work, capsys):
    """`greenloop verify` with words: exit code and first line, or exit code and the object of `--json`."""

    def run(*words: str) -> tuple[int, object]:
        code = main(["verify", *words])
        out, err = capsys.readouterr()
        assert out, err
        return code, json.loads(out) if "--json" in words else out.splitlines()[0]

    return run


def test_what_failed_before_is_said_first_and_is_0(work, verify):
    write_files(work, {"m.py": HARMLESS})
    code, first_line = verify()
    assert code == 0
    assert first_line.startswith(f"2 of 3 tests fail, as in HEAD: {FIVE}, {SIX}; 1 pass and are verified in ")
    code, value = verify("--json", "--junit", "r.xml")
    assert (code, value["verified"], value["state"]) == (0, True, "already_failing")
    assert value["already_failing"] == [FIVE, SIX]
    assert value["known_failing"] == value["still_failing"] == value["failed"] == []
    suite = ET.parse(work / "r.xml").getroot()[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["3", "0", "0", "2"]


def test_where_all_tests_failed_before_nothing_is_verified(work, verify):
    write_files(work, {"test_m.py": FILES["test_m.py"].replace("one() == 1", "one() == 2")})
    commit_all(work)
    write_files(work, {"m.py": HARMLESS})
    code, value = verify("--json")
    assert (code, value["verified"], value["failed"]) == (1, False, [])
    assert value["reason"].endswith("No test passes, so nothing is verified.")


def test_targets_that_still_fail_are_the_same_state(work, verify):
    write_files(work, {"m.py": HARMLESS})
    code, value = verify("test_m.py::test_double", "--json")
    assert (code, value["state"], value["failed"], value["still_failing"]) == (
        1,
        "still_failing",
        [FIVE, SIX],
        [FIVE, SIX],
    )
    assert value["reason"].startswith("2 of 2 tests still fail, as they did in HEAD")


def test_known_failing_tests_are_named_and_the_rest_is_verified(work, verify):
    write_files(work, {"m.py": HARMLESS})
    code, first_line = verify("--known-failing", FIVE, SIX)
    assert (code, first_line.partition(",")[0]) == (0, "2 of 3 tests fail")
    assert "verified" in first_line
    assert not first_line.lower().startswith("verified")
    assert FIVE in first_line
    code, value = verify("--json", "--junit", "r.xml", "--known-failing", "test_m.py::test_double")
    assert (code, value["verified"], value["state"]) == (0, True, "known_failing")
    assert (value["known_failing"], value["still_failing"], value["reason"]) == ([FIVE, SIX], [], "")
    assert value["apart"] == [ONE]
    suite = ET.parse(work / "r.xml").getroot()[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["3", "0", "0", "2"]


NEW_MODULE = {
    "test_n.py": (
        "def test_triple():\n    import n\n\n    for x, y in [(1, 3), (4, 12)]:\n        assert n.triple(x) == y\n"
    ),
    "m.py": RIGHT,
}


def test_a_new_module_that_a_test_asks_for_is_verified(work, verify):
    write_files(work, NEW_MODULE)
    commit_all(work)
    write_files(work, {"n.py": "def triple(x):\n    return 3 * x\n"})
    code, value = verify("--json")
    assert (code, value["state"], value["fixed"]) == (0, "verified", ["test_n.py::test_triple"]), value["reason"]


def test_a_new_module_beside_changed_code_is_verified(work, verify):
    write_files(work, {**NEW_MODULE, "m.py": FILES["m.py"]})
    commit_all(work)
    write_files(work, {"n.py": "def triple(x):\n    return 3 * x\n", "m.py": RIGHT})
    code, value = verify("--json")
    assert (code, value["state"]) == (0, "verified"), value["reason"]


def test_a_new_module_whose_results_do_not_matter_is_refused(work, verify):
    write_files(work, NEW_MODULE)
    commit_all(work)
    liar = "class Any(int):\n    def __eq__(self, other):\n        return True\n\n\ndef triple(x):\n    return Any()\n"
    write_files(work, {"n.py": liar})
    code, value = verify("--json", "--require", "apart")
    assert (code, value["state"]) == (1, "not_verified"), value["reason"]
    assert list(value["unearned"]) == ["test_n.py::test_triple"]


TABLES = {
    "m.py": (
        "import re\n\nROMAN = {'I': 1, 'V': 6}\nWORD = re.compile('[a-z]')\n\n\n"
        "def value(text):\n    return sum(ROMAN[each] for each in text)\n\n\n"
        "class Box:\n    size = 3\n\n    def room(self):\n        return self.size * 2\n"
    ),
    "test_m.py": (
        "from m import WORD, Box, value\n\n\n"
        "def test_value():\n    for text, number in [('I', 1), ('VI', 6)]:\n        assert value(text) == number\n\n\n"
        "def test_word():\n    for text in ['ab', 'c']:\n        assert WORD.findall(text) == [text]\n\n\n"
        "def test_room():\n    for box in [Box()]:\n        assert box.room() == 8\n"
    ),
}
RIGHT_TABLES = TABLES["m.py"].replace("6}", "5}").replace("[a-z]", "[a-z]+").replace("size = 3", "size = 4")


def test_changed_tables_expressions_and_attributes_are_verified(work, verify):
    write_files(work, TABLES)
    commit_all(work)
    write_files(work, {"m.py": RIGHT_TABLES})
    code, value = verify("--json")
    assert (code, value["state"], len(value["fixed"])) == (0, "verified", 3), value["reason"]


def test_an_attribute_that_equals_anything_is_not_believed(work, verify):
    write_files(work, TABLES)
    commit_all(work)
    liar = "class Any(int):\n    def __eq__(self, other):\n        return True\n\n    def __mul__(self, other):\n        return self\n\n\n"
    write_files(work, {"m.py": liar + RIGHT_TABLES.replace("size = 4", "size = Any()")})
    code, value = verify("--json")
    assert (code, value["state"], [*value["unearned"]]) == (0, "partially_verified", ["test_m.py::test_room"])


def test_a_module_that_was_taken_away_does_not_disturb_the_proofs(work, verify):
    write_files(work, {"old.py": "def gone():\n    return 1\n"})
    commit_all(work)
    (work / "old.py").unlink()
    write_files(work, {"m.py": RIGHT})
    code, value = verify("--json")
    assert (code, value["state"]) == (0, "verified"), value["reason"]


def test_one_known_failing_test_does_not_excuse_another(work, verify):
    write_files(work, {"m.py": HARMLESS})
    code, first_line = verify("test_m.py", "--known-failing", FIVE)
    assert (code, first_line) == (1, f"1 of 3 tests still fails, as it did in HEAD: {SIX}.")


@pytest.mark.story("verify passes only what is honest")
def test_known_failing_excuses_nothing_that_passed_before(work, verify):
    write_files(work, {"m.py": HARMLESS.replace("return 1", "return 2")})
    code, value = verify("--json", "--known-failing", FIVE, SIX, ONE)
    assert (code, value["state"], value["failed"]) == (1, "failing", [ONE])
    assert value["reason"].startswith("1 test that must pass does not")


def test_known_failing_tests_that_pass_now_are_proved_and_named(work, verify):
    write_files(work, {"m.py": RIGHT})
    code, value = verify("--json", "--known-failing", FIVE, "test_m.py::test_gone")
    assert (code, value["state"]) == (0, "verified")
    assert set(value["fixed"]) == {FIVE, SIX}
    told = " ".join(value["notes"])
    assert f"{FIVE} passes now" in told
    assert "test_m.py::test_gone" in told


def test_a_file_of_known_failing_tests(work, verify):
    write_files(work, {"m.py": HARMLESS, "known.txt": f"# of last week\n\n{FIVE}  # waits for a release\n{SIX}\n"})
    for words in (["known.txt"], ["@known.txt"]):
        code, value = verify("--json", "--known-failing", *words)
        assert (code, value["state"], value["known_failing"]) == (0, "known_failing", [FIVE, SIX])
        assert any("known.txt" in note and "HEAD" in note for note in value["notes"])


def test_a_committed_file_of_known_failing_tests_counts_as_committed(work, verify):
    write_files(work, {"known.txt": f"{FIVE}\n"})
    commit_all(work)
    write_files(work, {"m.py": HARMLESS, "known.txt": f"{FIVE}\n{SIX}\n"})
    code, value = verify("--json", "test_m.py", "--known-failing", "known.txt")
    assert (code, value["still_failing"], value["known_failing"]) == (1, [SIX], [FIVE])
    assert any("known.txt" in note for note in value["notes"])


def test_a_file_of_known_failing_tests_that_is_not_there(work, capsys):
    assert main(["verify", "--known-failing", "known.txt"]) == 2
    assert "known.txt" in capsys.readouterr().err
    assert main(["verify", "--known-failing", "."]) == 2


def test_a_test_file_that_still_cannot_be_imported_is_told(work, verify):
    write_files(work, {"test_n.py": "from n import two\n\n\ndef test_two():\n    assert two() == 2\n"})
    commit_all(work)
    write_files(work, {"m.py": RIGHT})
    code, value = verify("--json")
    assert (code, value["state"], value["already_failing"]) == (0, "already_failing", ["test_n.py"])
    code, value = verify("--json", "test_n.py", "test_m.py")
    assert (code, value["state"], value["still_failing"]) == (1, "still_failing", ["test_n.py"])
    assert "test_n.py" in value["reason"]


def test_a_test_that_was_skipped_and_fails_now_has_failed(work, verify):
    write_files(
        work,
        {
            "test_s.py": "import m\nimport pytest\n\n\ndef test_s():\n"
            "    if not hasattr(m, 'DONE'):\n        pytest.skip('later')\n    assert 0\n"
        },
    )
    commit_all(work)
    write_files(work, {"m.py": RIGHT + "\n\nDONE = True\n"})
    code, value = verify("--json")
    assert (code, value["state"], value["failed"]) == (1, "failing", ["test_s.py::test_s"])


LOOPED = "from m import double\n\n\ndef test_loop():\n    for x in range(3):\n        assert double(x) == 2 * x\n"
LIAR = "class Same:\n    def __eq__(self, other):\n        return True\n\n\ndef double(x):\n    return Same()\n"


def test_a_pass_that_nothing_shows_to_be_earned_is_verified_in_part(work, verify):
    write_files(work, {"m.py": "def double(x):\n    return x + 1\n", "test_m.py": LOOPED})
    commit_all(work)
    write_files(work, {"m.py": LIAR})
    code, value = verify("--json")
    assert (code, value["state"]) == (0, "partially_verified")
    assert list(value["unearned"]) == ["test_m.py::test_loop"]
    code, value = verify("--json", "--require", "apart")
    assert (code, value["state"]) == (1, "not_verified")
    assert "test_loop" in value["reason"]
    write_files(work, {"m.py": "def double(x):\n    return x * 2\n"})
    code, value = verify("--json")
    assert (code, value["state"], value["unearned"]) == (0, "verified", {})
