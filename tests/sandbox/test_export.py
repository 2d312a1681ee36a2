"""A run that one user exports and another verifies: separate homes, separate environments, nothing shared but a file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from project_files import write_files

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

FILES = {
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "m.py": "def double(x):\n    return x + 1\n\n\ndef one():\n    return 1\n",
    "tests/test_m.py": (
        "from m import double, one\n\n\n"
        "def test_double():\n    assert double(5) == 10\n\n\n"
        "def test_one():\n    assert one() == 1\n\n\n"
        "def test_broken():\n    assert one() == 2\n"
    ),
}
RIGHT = FILES["m.py"].replace("x + 1", "x * 2")
LIAR = FILES["m.py"].replace(
    "def double(x):\n    return x + 1",
    "class Liar:\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n\n\n"
    "def double(x):\n    return Liar()",
)
DOUBLE, ONE, BROKEN = (f"tests/test_m.py::test_{name}" for name in ("double", "one", "broken"))


@dataclass(frozen=True)
class User:
    """A user with a home, an environment and a copy of the project."""

    home: Path
    python: Path

    @property
    def work(self) -> Path:
        return self.home / "project"

    def run(self, *words: str, **variables: str) -> tuple[int, str, str]:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "USER": self.home.name,
            **{f"XDG_{name}_HOME": str(self.home / name.lower()) for name in ("STATE", "CONFIG", "CACHE", "DATA")},
            "GREENLOOP_INTERPRETER": str(self.python),
            "GREENLOOP_SANDBOX_KIND": "bubblewrap",
            **variables,
        }
        done = subprocess.run(
            [sys.executable, "-m", "greenloop", *words],
            cwd=self.work,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    def write(self, files: Mapping[str, str]) -> None:
        write_files(self.work, files)


def make_user(home: Path) -> User:
    home.mkdir(parents=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "env"], check=True)
    user = User(home=home, python=home / "env" / "bin" / "python")
    user.write(FILES)
    return user


@pytest.fixture(scope="module")
def homes(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(scope="module")
def original(homes) -> Path:
    """A run of the user `adelaide_q`, exported."""
    author = make_user(homes / "adelaide_q")
    site = next((author.home / "env" / "lib").glob("python*/site-packages"))
    (site / "attrs-22.1.0.dist-info").mkdir()
    answers = author.home / "answers.jsonl"
    answers.write_text(json.dumps("```python\ndef double(x):\n    return x * 2\n```") + "\n")
    code, out, err = author.run("fix", DOUBLE, "--model", f"scripted:{answers}", "--preset", "plain", "--json")
    assert code == 0, out + err
    file = homes / "run.json"
    code, out, err = author.run("export", "last", "--out", str(file))
    assert code == 0, out + err
    return file


@pytest.fixture
def exported(original, tmp_path) -> Path:
    return Path(shutil.copy(original, tmp_path))


@pytest.fixture(scope="module")
def second_user(homes) -> User:
    return make_user(homes / "berthold_z")


@pytest.fixture
def colleague(second_user) -> User:
    """Another user, with a fresh copy of the project."""
    shutil.rmtree(second_user.work)
    second_user.write(FILES)
    return second_user


def change(file: Path, edit: Callable[[dict], None]) -> None:
    value = json.loads(file.read_text())
    edit(value)
    file.write_text(json.dumps(value))


def test_a_colleague_verifies_and_applies_what_was_exported(exported, colleague):
    code, out, err = colleague.run("verify", str(exported), "--json")
    assert code == 0, out + err
    value = json.loads(out)
    assert (value["verified"], value["state"], value["sandbox"]) == (True, "already_failing", "bubblewrap")
    assert value["fixed"] == [DOUBLE]
    assert DOUBLE in value["apart"]
    assert value["already_failing"] == [BROKEN]  # it fails without the change, too
    assert value["changes"] == ["The packages differ from the lock: attrs 22.1.0 is missing."]
    assert (colleague.work / "m.py").read_text() == FILES["m.py"]

    code, out, err = colleague.run("verify", str(exported), "--apply")
    assert code == 0, out + err
    assert "+    return x * 2" in out
    assert out.splitlines()[-1] == "Written: m.py"
    assert (colleague.work / "m.py").read_text() == RIGHT

    code, out, err = colleague.run("verify", str(exported), "--json")
    assert (code, json.loads(out)["fixed"]) == (0, [DOUBLE]), err
    assert "m.py has the change already." in json.loads(out)["changes"]


def test_the_file_names_nothing_of_the_machine(exported, homes):
    text = exported.read_text()
    for word in (str(homes), "adelaide_q", sys.executable):
        assert word not in text
    value = json.loads(text)
    assert value["model"] == "scripted:answers.jsonl"
    assert "attrs==22.1.0" in value["environment"]["packages"]


def test_a_change_elsewhere_in_the_file_is_merged(exported, colleague):
    colleague.write({"m.py": FILES["m.py"] + "\n\ndef two():\n    return 2\n", "n.py": "N = 1\n"})
    code, out, err = colleague.run("verify", str(exported), "--apply", "--json")
    assert code == 0, out + err
    value = json.loads(out)
    assert value["written"] == ["m.py"]
    assert any("m.py differs from the code" in sentence for sentence in value["changes"])
    assert (colleague.work / "m.py").read_text() == RIGHT + "\n\ndef two():\n    return 2\n"


def test_a_module_that_only_the_change_has(exported, colleague):
    change(exported, lambda value: value.update(change=[{"path": "m.py", "before": None, "after": RIGHT}]))
    (colleague.work / "m.py").unlink()
    code, out, err = colleague.run("verify", str(exported), "--apply", "--json")
    assert code == 0, out + err
    assert set(json.loads(out)["fixed"]) == {DOUBLE, ONE}
    assert (colleague.work / "m.py").read_text() == RIGHT


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"m.py": FILES["m.py"].replace("x + 1", "x + 2")}, "m.py differs here"),
        ({"tests/test_m.py": FILES["tests/test_m.py"] + "# more\n"}, "tests/test_m.py"),
        ({"conftest.py": ""}, "conftest.py"),
    ],
    ids=["the code at the same place", "a test", "a new conftest"],
)
def test_what_differs_here_is_named(exported, colleague, files, named):
    colleague.write(files)
    code, out, err = colleague.run("verify", str(exported), "--apply", "--json")
    assert (code, json.loads(out)["verified"]) == (3, False)
    assert named in json.loads(out)["reason"]
    assert "check out the commit" in err.lower()
    assert (colleague.work / "m.py").read_text() == {**FILES, **files}["m.py"]


@pytest.mark.parametrize(
    ("after", "state", "named"),
    [
        (FILES["m.py"].replace("x + 1", "x + 3"), "still_failing", DOUBLE),
        (RIGHT.replace("return 1", "return 7"), "failing", ONE),
        (LIAR, "not_verified", DOUBLE),
    ],
    ids=["it does not pass", "it breaks another test", "it fakes a pass"],
)
def test_a_faked_pass_is_refused_and_named(exported, colleague, after, state, named):
    def fake(value: dict) -> None:
        value["change"][0]["after"] = after
        value["related"] = []
        value["outcomes"] = {}

    change(exported, fake)
    code, out, err = colleague.run("verify", str(exported), "--apply", "--json")
    value = json.loads(out)
    assert (code, value["verified"], value["state"]) == (1, False, state), err
    assert named in value["reason"], value["reason"]
    assert "run.json says that its result is verified; here it is not." in value["changes"]
    assert (colleague.work / "m.py").read_text() == FILES["m.py"]


def test_a_change_that_reads_its_tests_is_refused(exported, colleague):
    reading = "def double(x):\n    return int(open('tests/test_m.py').read().partition('== ')[2][:2])\n"
    after = reading + FILES["m.py"].partition("x + 1\n")[2]
    change(exported, lambda value: value["change"][0].update(after=after))
    code, out, err = colleague.run("verify", str(exported), "--json")
    assert (code, json.loads(out)["state"]) == (1, "tampered"), err


@pytest.mark.parametrize("path", ["conftest.py", "tests/test_m.py", "../m.py", ".venv/x.py"])
def test_a_file_that_changes_what_it_may_not_is_refused_before_anything_runs(exported, colleague, path):
    change(exported, lambda value: value["change"].append({"path": path, "before": None, "after": "1 / 0\n"}))
    code, out, err = colleague.run("verify", str(exported), "--apply", "--json")
    assert (code, json.loads(out)["verified"], json.loads(out)["cases"]) == (2, False, [])
    assert path in err
    assert "running" not in err
    assert (colleague.work / "m.py").read_text() == FILES["m.py"]
    assert not (colleague.work / "conftest.py").exists()


def test_a_test_that_passes_anyway_shows_nothing(exported, colleague):
    change(exported, lambda value: value.update(cases=[ONE]))
    code, out, _err = colleague.run("verify", str(exported), "--json")
    assert code == 1
    assert f"{ONE} passes here without the change too" in json.loads(out)["reason"]


def test_a_test_that_does_not_exist_is_named(exported, colleague):
    change(exported, lambda value: value.update(cases=["tests/test_m.py::test_none"]))
    code, _out, err = colleague.run("verify", str(exported))
    assert code == 3
    assert "test_none, which pytest does not find here" in err


def test_code_of_others_is_never_run_without_a_sandbox(exported, colleague, tmp_path):
    (tmp_path / "greenloop").mkdir()
    (tmp_path / "greenloop" / "config.toml").write_text("sandbox.unsafe = true\n")
    code, _out, err = colleague.run("verify", str(exported), "--sandbox", "none", XDG_CONFIG_HOME=str(tmp_path))
    assert code == 3
    assert "only in a sandbox" in err
