"""The workspace in a container: tests may write beside themselves, and nothing of it is left for the next run."""

from __future__ import annotations

from pathlib import Path

import pytest
import pytest_asyncio

from containers import one, own_containers, place, tried
from greenloop.project.settings import SandboxSettings
from greenloop_sandbox import TestRun, case_results
from greenloop_sandbox.backends import _container, docker

pytestmark = [
    pytest.mark.needs("docker"),
    pytest.mark.timeout(600),
    pytest.mark.asyncio(loop_scope="module"),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "m.py").write_text("def double(n):\n    return n * 2\n")
    (folder / "pkg" / "deep").mkdir(parents=True)
    (folder / "pkg" / "__init__.py").write_text("")
    (folder / "empty" / "inner").mkdir(parents=True)
    (folder / "tool").write_text("#!/bin/sh\necho ran\n")
    (folder / "tool").chmod(0o755)
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(root):
    session = await docker.create(SandboxSettings()).open(place(root))
    yield session
    await session.close()


LEAVE = {
    "a file": "open('made.py', 'w').close()",
    "a file in a laid folder": "open('pkg/made.py', 'w').close()",
    "a package": "os.makedirs('made/sub'); open('made/sub/__init__.py', 'w').close()",
    "a closed folder": "os.makedirs('made/sub'); open('made/sub/x', 'w').close(); os.chmod('made/sub', 0); os.chmod('made', 0)",
    "links": "os.symlink('/etc/passwd', 'link'); os.symlink('m.py', 'pkg/link.py')",
    "a pipe": "os.mkfifo('pipe')",
    "odd names": "open('a\\nb\\x1b[31m', 'w').close(); open(b'\\xff\\xfe', 'w').close()",
    "a deep tree": "for _ in range(1500): os.mkdir('d'); os.chdir('d')",
    "many files": "for n in range(3000): open(f'pkg/deep/{n}', 'w').close()",
    "a file beside the candidate's own": "open('new/inside.py', 'w').close(); os.makedirs('new/sub/sub')",
    "another in place of what is not there": "os.symlink('/tmp', 'gone.txt')",
}


@pytest.mark.story("nothing of a run reaches the next")
@pytest.mark.parametrize("leave", LEAVE.values(), ids=LEAVE)
async def test_what_a_test_writes_beside_itself_is_gone(shared, root, leave):
    (root / "gone.txt").write_text("left out of the run")
    before = set(root.rglob("*"))
    body = "".join(f"    {line}\n" for line in f"import os\n{leave}".splitlines())
    files = {"test_tried.py": f"def test_it():\n{body}".encode(), "new/m.py": b""}
    box = shared._connection
    execution = await shared.run(TestRun(selectors=("test_tried.py",), files=files, without=("gone.txt",)))
    assert one(execution).passed, case_results(execution)
    assert shared._connection is box or box is None, "the container was thrown away"
    look = (
        "import os\nfound = {os.path.join(f, n) for f, d, x in os.walk(os.getcwd()) for n in d + x}\n"
        f"assert found == {{*{sorted(map(str, before))!r}, {str(root / 'test_tried.py')!r}}}\n"
        "assert open('gone.txt').read() == 'left out of the run' and not os.path.islink('gone.txt')"
    )
    assert (await tried(shared, look)).passed
    assert set(root.rglob("*")) == before


@pytest.mark.parametrize(
    "change",
    [
        "open('m.py', 'a')",
        "os.remove('m.py')",
        "os.rename('m.py', 'n.py')",
        "os.rmdir('empty/inner')",
        "os.rename('pkg', 'gkp')",
        "os.chmod('m.py', 0o777)",
        "os.chmod('.', 0o777)",
        "os.utime('.', (1, 1))",
        "os.link('m.py', 'pkg/hard.py')",
    ],
)
async def test_what_was_laid_cannot_be_changed(shared, change):
    body = f"import os, pytest\nwith pytest.raises(PermissionError):\n  {change}"
    assert (await tried(shared, body)).passed


async def test_programs_and_empty_folders_travel(shared):
    body = (
        "import os, subprocess\nassert subprocess.check_output(['./tool'], text=True) == 'ran\\n'\n"
        "assert os.listdir('empty/inner') == [] and not os.access('m.py', os.X_OK)"
    )
    assert (await tried(shared, body)).passed


async def test_files_left_out_are_not_there_and_come_back_as_they_were(shared):
    files = {"test_tried.py": b"import os\ndef test_it(): assert not os.path.exists('tool')\n"}
    run = TestRun(selectors=("test_tried.py",), files=files, without=("tool",))
    assert one(await shared.run(run)).passed
    assert (await tried(shared, "import os\nassert os.access('tool', os.X_OK)")).passed


async def test_the_workspace_takes_only_so_much(shared):
    fill = "with open('big', 'wb') as f:\n  for _ in range(400): f.write(bytes(1 << 20))"
    assert (await tried(shared, fill)).failure.type == "OSError"
    assert (await tried(shared, "pass")).passed


async def test_a_workspace_that_outgrows_its_container_gets_another_one(shared, root):
    (box,) = own_containers()
    (root / "data.bin").write_bytes(bytes(40 << 20))
    try:
        assert (await tried(shared, "import os\nassert os.path.getsize('data.bin') == 40 << 20")).passed
        assert own_containers() != [box]
    finally:
        (root / "data.bin").unlink()


async def test_a_container_is_not_used_for_ever(shared):
    assert (await tried(shared, "pass")).passed
    (box,) = own_containers()
    shared._runs = _container.MAX_RUNS
    assert (await tried(shared, "pass")).passed
    assert own_containers() != [box]


async def test_what_cannot_be_removed_costs_the_container(shared, monkeypatch):
    assert (await tried(shared, "pass")).passed
    (box,) = own_containers()
    ask = shared._connection.ask
    monkeypatch.setattr(shared._connection, "ask", lambda *said: {**ask(*said), "dirty": True})
    assert (await tried(shared, "pass")).passed
    assert own_containers() == []
    assert (await tried(shared, "pass")).passed
    assert box not in own_containers()
