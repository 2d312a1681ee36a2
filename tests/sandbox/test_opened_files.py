"""Which files a traced case reads, and which module asked for them."""

from __future__ import annotations

import pytest

from greenloop_sandbox import TestRun
from greenloop_sandbox.report.traces import opened_files

pytestmark = pytest.mark.needs("bubblewrap")

FILES = {
    "m.py": "from pathlib import Path\n\nHERE = Path(__file__).parent\nSHARED = (HERE / 'shared.txt').read_text()\n\n\n"
    "def read(name):\n    with open(HERE / name) as stream:\n        return stream.read()\n",
    "shared.txt": "s",
    "a.txt": "a",
    "b.txt": "b",
    "test_m.py": "import pytest\n\nfrom m import read\n\n\ndef test_a(tmp_path):\n    read('a.txt')\n"
    "    (tmp_path / 'x').write_text('')\n    open(0, closefd=False)\n\n\n"
    "def test_b():\n    open('b.txt', 'rb').close()\n    open('m.py').close()\n\n\n"
    "def test_missing():\n    with pytest.raises(FileNotFoundError):\n        read('nothing.txt')\n"
    "    with pytest.raises(TypeError):\n        open([])\n",
}


async def test_each_case_has_its_own(opened, lay, tmp_path):
    session = await opened(lay(tmp_path / "w", FILES))
    execution = await session.run(TestRun(selectors=("test_m.py",), trace=True))
    assert opened_files(execution) == {
        "": {("shared.txt", "m.py")},
        "test_m.py::test_a": {("a.txt", "m.py")},
        "test_m.py::test_b": {("b.txt", "test_m.py")},
        "test_m.py::test_missing": {("nothing.txt", "m.py")},
    }
    assert all(each["outcome"] == "passed" for each in execution.records if each["kind"] == "phase")
