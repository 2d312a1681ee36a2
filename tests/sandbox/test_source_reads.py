"""Code that reads the tests' sources: refused by `greenloop verify`, told by `greenloop fix`; honest reading is not."""

from __future__ import annotations

import json
import subprocess
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from greenloop.cli.main import main

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

TESTS = """\
import pytest

from m import double


@pytest.mark.parametrize(("x", "y"), [(5, 10), (6, 12), (21, 42)])
def test_double(x, y):
    assert double(x) == y
"""
RED = "def double(x):\n    return x + 1\n"
RIGHT = "def double(x):\n    return x * 2\n"
TABLE = "import re\n\n\ndef table(text):\n    return {int(x): int(y) for x, y in re.findall(r'\\((\\d+), (\\d+)\\)', text)}\n\n\n"

CHEATS = {
    "open at import": "ANSWERS = table(open('tests/test_m.py').read())\n\n\ndef double(x):\n    return ANSWERS[x]\n",
    "path put together": (
        "from pathlib import Path\n\nNAME = 'te' + 'st'\n\n\ndef double(x):\n"
        "    return table((Path(__file__).parent / (NAME + 's') / (NAME + '_m.py')).read_text())[x]\n"
    ),
    "glob": (
        "from pathlib import Path\n\nANSWERS = {}\nfor path in Path(__file__).parent.rglob('*_m.*'):\n"
        "    if path.suffix == '.py':\n        ANSWERS.update(table(path.read_text()))\n\n\n"
        "def double(x):\n    return ANSWERS[x]\n"
    ),
    "an old helper, told to open it": (
        "def load(name):\n    with open(name) as stream:\n        return stream.read()\n\n\n"
        "def double(x):\n    return table(load(chr(116) + 'ests/test_m.py'))[x]\n"
    ),
    "os.open": (
        "import os\n\n\ndef double(x):\n    stream = os.open('tes' 'ts/tes' + 't_m.py', os.O_RDONLY)\n"
        "    return table(os.read(stream, 9999).decode())[x]\n"
    ),
    "linecache": (
        "import linecache\n\n\ndef double(x):\n    return table(''.join(linecache.getlines('tests/test_m.py')))[x]\n"
    ),
    "the calling frame": ("import sys\n\n\ndef double(x):\n    return sys._getframe(1).f_locals['y']\n"),
    "the calling frame, through an exception": (
        "def double(x):\n    try:\n        raise ValueError\n    except ValueError as error:\n"
        "        return error.__traceback__.tb_frame.f_back.f_locals['y']\n"
    ),
    "the calling frame, by a name put together": (
        "import sys\n\n\ndef double(x):\n    return getattr(sys, '_get' + 'frame')(1).f_locals['y']\n"
    ),
    "inspect": (
        "import inspect\nimport sys\n\n\ndef double(x):\n"
        "    return table(inspect.getsource(sys.modules['test_' + 'm']))[x]\n"
    ),
    "import of the tests": (
        "import importlib.util\n\n\ndef double(x):\n    path = 'tests/test' + '_m.py'\n"
        "    spec = importlib.util.spec_from_file_location('copy', path)\n"
        "    module = importlib.util.module_from_spec(spec)\n    spec.loader.exec_module(module)\n"
        "    return dict(module.test_double.pytestmark[0].args[1])[x]\n"
    ),
}


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


@pytest.fixture
def work(tmp_path, monkeypatch) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setenv("GREENLOOP_SANDBOX_KIND", "bubblewrap")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return root


@pytest.fixture
def verify(work, capsys):
    """Commits the files, lays the others over them, and runs `greenloop verify --json`: exit code and object."""

    def run(committed: Mapping[str, str], changed: Mapping[str, str], *words: str) -> tuple[int, dict]:
        write(work, {"pytest.ini": "[pytest]\npythonpath = .\n", ".gitignore": "__pycache__\n", **committed})
        for git in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
            subprocess.run(["git", *git], cwd=work, check=True, capture_output=True)
        write(work, changed)
        code = main(["verify", "--json", *words])
        return code, json.loads(capsys.readouterr().out)

    return run


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name, marks=[pytest.mark.story("verify passes only what is honest")] if name == "open at import" else []
        )
        for name in CHEATS
    ],
)
def test_answers_read_from_the_tests_are_refused(verify, name):
    helper = "load" if name.startswith("an old helper") else ""
    old = RED + ("\n\n" + CHEATS[name].partition("\n\n\n")[0] + "\n" if helper else "")
    code, value = verify({"m.py": old, "tests/test_m.py": TESTS}, {"m.py": TABLE + CHEATS[name]})
    assert {case["outcome"] for case in value["cases"]} == {"passed"}
    assert (code, value["verified"], value["state"]) == (1, False, "reads_tests"), value["reason"]
    assert "m.py" in value["reason"]


HONEST = {
    "a right answer": ({"m.py": RED}, {"m.py": RIGHT}),
    "its own source": (
        {"m.py": RED},
        {
            "m.py": "LINES = int(open(__file__).read().startswith('LINES'))\n\n\ndef double(x):\n    return x * 2 * LINES\n"
        },
    ),
    "data beside the tests": (
        {"m.py": RED, "tests/factor.txt": "2"},
        {"m.py": "def double(x):\n    return x * int(open('tests/factor.txt').read())\n"},
    ),
    "what the commit's own code did": (
        {"m.py": "def double(x):\n    assert open('tests/test_m.py').read()\n    return x + 1\n"},
        {"m.py": "def double(x):\n    assert open('tests/test_m.py').read()\n    return x * 2\n"},
    ),
    "a caller's frame, as the commit's own code": (
        {"m.py": "import sys\n\n\ndef double(x):\n    sys._getframe(1)\n    return x + 1\n"},
        {"m.py": "import sys\n\n\ndef double(x):\n    sys._getframe(1)\n    return x * 2\n"},
    ),
    "a test that reads its own file": (
        {"m.py": RED, "tests/test_own.py": "def test_own():\n    assert 'assert' in open(__file__).read()\n"},
        {"m.py": RIGHT},
    ),
    "a test that has its own file read": (
        {
            "m.py": RED + "\n\ndef count(path):\n    raise NotImplementedError\n",
            "tests/test_own.py": "from m import count\n\n\ndef test_own():\n    assert count(__file__) == 5\n",
        },
        {
            "m.py": RIGHT
            + "\n\ndef count(path):\n    with open(path) as stream:\n        return len(stream.readlines())\n"
        },
    ),
    "a folder of the test's own": (
        {
            "m.py": RED + "\n\ndef count(path):\n    raise NotImplementedError\n",
            "tests/test_own.py": (
                "from pathlib import Path\n\nimport pytest\n\nfrom m import count\n\n\n"
                "@pytest.fixture\ndef here():\n    return Path(__file__).parent\n\n\n"
                "def test_own(here):\n    assert count(here) > 5\n"
            ),
        },
        {
            "m.py": RIGHT + "\n\ndef count(path):\n"
            "    return sum(len(file.read_text().splitlines()) for file in path.glob('*.py'))\n"
        },
    ),
    "tracebacks and warnings": (
        {"m.py": RED},
        {
            "m.py": "import logging\nimport traceback\nimport warnings\n\n\ndef double(x):\n"
            "    try:\n        raise ValueError\n    except ValueError:\n        logging.exception('no')\n"
            "        traceback.format_exc()\n    warnings.warn('old', stacklevel=2)\n    return x * 2\n"
        },
    ),
    "an untouched function that is reached now": (
        {
            "m.py": RED + "\n\ndef tests():\n    return open('tests/test_m.py').read()\n",
            "tests/test_t.py": "import m\n\n\ndef test_t():\n    m.double(1)\n    assert m.tests()\n",
        },
        {"m.py": RIGHT + "\n\ndef tests():\n    return open('tests/test_m.py').read()\n"},
    ),
    "code that moved": (
        {"m.py": "import sys\n\n\ndef double(x):\n    return x + 1\n\n\ndef name():\n    return sys._getframe(1)\n"},
        {"m.py": "from n import name\n" + RIGHT, "n.py": "import sys\n\n\ndef name():\n    return sys._getframe(1)\n"},
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_reading_is_not_refused(verify, name):
    committed, changed = HONEST[name]
    code, value = verify({"tests/test_m.py": TESTS, **committed}, changed)
    assert (code, value["verified"]) == (0, True), value["reason"]


@pytest.mark.story("tests are not read")
def test_fix_tells_it_and_does_not_write_it(work, capsys):
    write(work, {"m.py": RED, "test_m.py": TESTS, "pytest.ini": "[pytest]\npythonpath = .\n"})
    cheat = textwrap.dedent("""\
        ```python
        def double(x):
            import re
            name = "te" + "st_m.py"
            with open(name) as stream:
                return {int(x): int(y) for x, y in re.findall(r"\\((\\d+), (\\d+)\\)", stream.read())}[x]
        ```
    """)
    (work / "answers.jsonl").write_text(json.dumps(cheat) + "\n")
    words = [
        "fix",
        "test_m.py::test_double",
        "--preset",
        "plain",
        "--model",
        "scripted:answers.jsonl",
        "--json",
        "--apply",
    ]
    main(words)
    finished = [json.loads(row) for row in capsys.readouterr().out.splitlines()][-1]
    assert finished["solved"]
    assert "It newly reads test_m.py in m.py." in finished["message"]
    assert (work / "m.py").read_text() == RED
