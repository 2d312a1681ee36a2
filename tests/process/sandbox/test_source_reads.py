"""The audit hook that notices reads of tests: in a process of its own, because it cannot be taken back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HOOK = Path(__file__).parents[3] / "sandbox" / "source_reads.py"
MAIN = f"""\
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("source_reads", {str(HOOK)!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
sys.path.insert(0, sys.argv[1])
_plugin, list_records = module.watch(sys.argv[1])
import test_m
for name in dir(test_m):
    if name.startswith("test_"):
        getattr(test_m, name)()
print(json.dumps(list(list_records())))
"""


def seen(root: Path, code: str, test: str) -> list[dict]:
    """What is recorded while `test_m.py` calls `m.py`."""
    (root / "m.py").write_text(code)
    (root / "test_m.py").write_text(test)
    words = [sys.executable, "-B", "-c", MAIN, str(root.resolve())]
    return json.loads(subprocess.run(words, cwd=root, capture_output=True, check=True).stdout)


CALL = "import m\n\n\ndef test_a():\n    m.f()\n"


@pytest.mark.parametrize(
    ("code", "how", "path"),
    [
        ("def f():\n    open('test_m.py').close()\n", "open", "test_m.py"),
        ("import os\n\n\ndef f():\n    os.close(os.open(b'test_m.py', os.O_RDONLY))\n", "open", "test_m.py"),
        ("import shutil\n\n\ndef f():\n    shutil.copy('test_m.py', 'copy.txt')\n", "open", "test_m.py"),
        ("import os\n\n\ndef f():\n    os.link('test_m.py', 'link.txt')\n", "open", "test_m.py"),
        ("import os\nos.symlink('.', 'here')\n\n\ndef f():\n    open('here/test_m.py').close()\n", "open", "test_m.py"),
        ("import linecache\n\n\ndef f():\n    linecache.getline('test_m.py', 1)\n", "open", "test_m.py"),
        ("import subprocess\n\n\ndef f():\n    subprocess.run(['true', 'test_m.py'])\n", "program", "test_m.py"),
        ("import sys\n\n\ndef f():\n    sys._getframe(1)\n", "frame", ""),
        ("import sys\n\n\ndef f():\n    getattr(sys, '_get' + 'frame')()\n", "frame", ""),
        ("import sys\n\n\ndef f():\n    list(map(sys._getframe, [0]))\n", "frame", ""),
        ("import inspect\n\n\ndef f():\n    inspect.stack(0)\n", "frame", ""),
    ],
)
def test_what_code_reads_is_recorded(tmp_path, code, how, path):
    first, *reads = seen(tmp_path, code, CALL)
    assert (first["kind"], first["programs"]) == ("sources", how == "program")
    assert {"m.py", "test_m.py"} <= {*first["files"]}
    assert (how, path) in [(read["how"], read["path"]) for read in reads]
    assert all(read["frames"][0][0] == "m.py" for read in reads)


@pytest.mark.parametrize(
    ("code", "test"),
    [
        (
            "def f():\n    try:\n        1 / 0\n    except ArithmeticError as e:\n        e.__traceback__.tb_frame\n",
            CALL,
        ),
        (
            (
                "import os\nimport subprocess\n\n\ndef f():\n"
                "    subprocess.run(['true'], env={**os.environ, 'PYTEST_CURRENT_TEST': 'test_m.py::test_a (call)'})\n"
            ),
            CALL,
        ),
        ("def f():\n    open(__file__).close()\n", CALL),
        ("def f():\n    open('data.txt', 'w').close()\n", CALL),
        ("import traceback\n\n\ndef f():\n    traceback.format_stack()\n    traceback.print_exc()\n", CALL),
        ("import warnings\n\n\ndef f():\n    warnings.warn('old', stacklevel=2)\n", CALL),
        ("import collections\n\n\ndef f():\n    collections.namedtuple('A', 'a')\n", CALL),
        ("def f():\n    pass\n", CALL + "    open(__file__).close()\n"),
        ("def f(path):\n    open(path).close()\n", CALL.replace("f()", "f(__file__)")),
        (
            "def f(path):\n    open(path).close()\n",
            "import m\n\nHERE = [__file__]\n\n\ndef test_a():\n    m.f(HERE[0])\n",
        ),
        (
            "def f(path):\n    [open(each).close() for each in path.glob('*.py')]\n",
            "import m\nfrom pathlib import Path\n\n\ndef test_a():\n    m.f(Path(__file__).parent)\n",
        ),
        (
            "import inspect\n\n\ndef f(what):\n    inspect.getsource(what)\n",
            "import m\n\n\ndef sample():\n    pass\n\n\ndef test_a():\n    m.f(sample)\n",
        ),
    ],
    ids=[
        "error",
        "environment",
        "itself",
        "data",
        "traceback",
        "warning",
        "namedtuple",
        "test",
        "handed",
        "global",
        "folder",
        "function",
    ],
)
def test_honest_reading_is_not_recorded(tmp_path, code, test):
    assert seen(tmp_path, code, test)[1:] == []


def test_a_forked_process_and_a_failing_path_change_nothing(tmp_path):
    code = (
        "import os\n\n\ndef f():\n    if os.fork() == 0:\n        open('test_m.py')\n        os._exit(0)\n    os.wait()\n"
        "    for path in ('\\0.py', 'no/such.py', '', 99):\n        try:\n            open(path)\n"
        "        except (OSError, ValueError):\n            pass\n"
    )
    first, *reads = seen(tmp_path, code, CALL)
    assert (first["programs"], reads) == (True, [])


def test_programs_that_no_code_of_the_workspace_starts_do_not_count(tmp_path):
    run = "import subprocess\n\n\ndef f():\n    subprocess.run(['true'])\n"
    assert seen(tmp_path, run, CALL)[0]["programs"] is True
    main = MAIN.replace("import test_m\n", "import test_m, subprocess\nsubprocess.run(['true'])\n")
    (tmp_path / "m.py").write_text("def f():\n    pass\n")
    words = [sys.executable, "-B", "-c", main, str(tmp_path.resolve())]
    assert (
        json.loads(subprocess.run(words, cwd=tmp_path, capture_output=True, check=True).stdout)[0]["programs"] is False
    )
