"""The Docker back end against a real engine: what it proves, what it keeps in, what it leaves behind."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from containers import BUSY, one, own_containers, place, tried, until
from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.verdict import Status
from greenloop.core.verdict import judge
from greenloop.project import sandbox_selection
from greenloop.project.settings import SandboxSettings, Settings
from greenloop_sandbox import Apart, Limits, SandboxPool, TestRun, case_results
from greenloop_sandbox.backends import _container, _container_check, _seccomp, docker
from greenloop_sandbox.container import base, engine, hardening, upload
from greenloop_sandbox.container.engine import BOOT_LABEL, LABEL, OWNER_LABEL

pytestmark = [pytest.mark.needs("docker"), pytest.mark.timeout(600)]  # the first opening ever makes the image

TRIES = 5  # of what a busy machine may be too slow for


@pytest.fixture(scope="session", autouse=True)
def _logged():
    """Making the image takes minutes: who watches shall see what goes on."""
    logging.getLogger("greenloop_sandbox").setLevel(logging.INFO)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a space and a hash in its path."""
    folder = tmp_path / "my project#1"
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "m.py").write_text("def double(n):\n    return n * 2\n")
    return folder


@pytest.fixture
async def opened(root: Path):
    """`opened(**place)`: a session that is closed after the test."""
    async with AsyncExitStack() as stack:

        async def open_session(**more) -> _container.ContainerSession:
            session = await docker.create(SandboxSettings()).open(place(root, **more))
            stack.push_async_callback(session.close)
            return session

        yield open_session


# -- honest runs ------------------------------------------------------------------------------------------------


@pytest.mark.story("changed code runs apart from what judges it")
async def test_changed_code_runs_in_a_process_that_changes_nothing(opened, root):
    (root / "m.py").write_text("def double(n):\n    return n\n")
    changed = (
        "import os\n\n\ndef double(n):\n    refused = 0\n"
        "    for reach in (lambda: open('test_m.py'), lambda: open('m.py', 'w'), lambda: os.kill(os.getppid(), 9), lambda: os.mkdir('/tmp/x'),\n"
        "                  lambda: os.listdir('/proc/%d/fd' % os.getppid()), lambda: os.rename('m.py', 'n.py')):\n"
        "        try:\n            reach()\n        except PermissionError:\n            refused += 1\n"
        "    return n * 2, refused\n"
    )
    (root / "test_m.py").write_text("from m import double\n\n\ndef test_a():\n    assert double(2) == (4, 6)\n")
    apart = Apart(files={"m.py": changed}, tests=("test_m.py",))
    execution = await (await opened()).run(TestRun(selectors=("test_m.py",), apart=apart))
    assert judge(["test_m.py::test_a"], {}, execution).status is Status.PASSED, case_results(execution)
    (record,) = [record for record in execution.records if record["kind"] == "apart"]
    assert (record["unfit"], record["rests_on"]) == ("", [])


async def test_an_image_of_the_users_without_pytest_gets_ours(root):
    version = sys.version_info[:2]
    name = base.ensure(docker.connect(600), version, logging.info, bool)
    session = await docker.create(SandboxSettings(image=name)).open(place(root))
    try:
        assert (await tried(session, "import m; assert m.double(1) == 2")).passed
    finally:
        await session.close()


# -- the wall ---------------------------------------------------------------------------------------------------


@pytest.mark.story("candidates run within limits")
async def test_a_fork_bomb_stays_inside(opened):
    session = await opened(limits=Limits(processes=32))
    bomb = b"import os\n\ndef test_bomb():\n    while True:\n        try:\n            os.fork()\n        except OSError:\n            pass\n"
    execution = await session.run(TestRun(selectors=("test_b.py",), files={"test_b.py": bomb}, seconds=3))
    assert not execution.broken
    assert execution.killed in {"processes", "timeout"}
    assert (await tried(session, "pass")).passed


async def test_the_disk_is_bounded(opened):
    fill = "import os, tempfile\nwith tempfile.TemporaryFile() as f:\n  for _ in range(200): f.write(bytes(1 << 20))"
    assert (await tried(await opened(), fill)).failure.type == "OSError"


@pytest.mark.story("candidates reach nothing outside")
async def test_there_is_no_network(opened):
    session = await opened()
    connect = "import socket\nsocket.create_connection(('192.0.2.1', 80), timeout=2)"
    assert (await tried(session, connect)).failure.type in {"OSError", "ConnectionRefusedError"}
    assert (await tried(session, "import socket\nassert [n for _, n in socket.if_nameindex()] == ['lo']")).passed
    assert (await tried(session, "import socket\nsocket.getaddrinfo('example.org', 80)")).failure.type == "gaierror"


@pytest.mark.story("candidates reach nothing outside")
async def test_host_files_and_secrets_cannot_be_seen(opened, root, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "hush-hush")
    (root.parent / "outside.txt").write_text("private")
    (root / ".env").write_text("KEY=hush-hush")
    (root / "link.txt").symlink_to(root.parent / "outside.txt")
    (root / "inner.txt").symlink_to(root / "m.py")
    (root / "visible.txt").write_text("seen")
    session = await opened(variables={"SHOWN": "yes"})
    seen = (
        f"import os\nassert open({str(root / 'visible.txt')!r}).read() == 'seen'\nassert os.environ['SHOWN'] == 'yes'"
    )
    assert (await tried(session, seen + "\nassert open('inner.txt').read().startswith('def double')")).passed
    for path in (root.parent / "outside.txt", root / ".env", root / "link.txt", Path(__file__)):
        assert (await tried(session, f"open({str(path)!r})")).failure.type in {"FileNotFoundError", "PermissionError"}
    assert (await tried(session, "import os\nassert 'hush-hush' not in str(dict(os.environ))")).passed
    supervisor = "import os\nfor pid in ('1', str(os.getppid())):\n  try: open(f'/proc/{pid}/environ').read(); raise AssertionError\n  except PermissionError: pass"
    assert (await tried(session, supervisor)).passed


@pytest.mark.story("the workspace is not written")
async def test_the_workspace_is_never_written(opened, root):
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in root.rglob("*")}
    session = await opened()
    assert (await tried(session, "open('m.py', 'w')")).failure.type in {"PermissionError", "OSError"}
    assert (await tried(session, "import os\nos.remove('m.py')")).failure.type in {"PermissionError", "OSError"}
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in root.rglob("*")} == before


@pytest.mark.story("nothing of a run reaches the next")
async def test_nothing_of_a_run_reaches_the_next(opened):
    session = await opened()
    stay = (
        "import os, time\nfor p in ('/tmp/left.py', '/dev/shm/left'): open(p, 'w').close()\nos.makedirs('/tmp/closed/in', 0o700)\n"
        "if os.fork() == 0:\n  os.setsid()\n  os.closerange(0, 3)\n  time.sleep(60)"
    )
    files = {"test_s.py": ("def test_s():\n" + "".join(f"    {line}\n" for line in stay.splitlines())).encode()}
    execution = await session.run(TestRun(selectors=("test_s.py",), files=files))
    assert execution.leftover == 1
    look = "import os\nassert os.listdir('/dev/shm') == [] and not {'left.py', 'closed'} & set(os.listdir('/tmp'))\nassert len([p for p in os.listdir('/proc') if p.isdigit()]) == 2"
    assert (await tried(session, look)).passed


@pytest.mark.parametrize(
    ("weak", "complaint"),
    [
        ({"security_opt": []}, "test_runs_without_rights"),
        ({"network_mode": "bridge"}, "test_has_no_network"),
        ({"tmpfs": {"/.greenloop/run": "mode=755"}}, "/tmp"),
    ],
)
async def test_the_self_test_notices_a_wall_with_a_hole(opened, monkeypatch, weak, complaint):
    session = await opened()
    # The worker would give up by itself what the engine does not take away.
    monkeypatch.setattr(_seccomp, "program", lambda _machine="": None)
    whole = hardening.create_options
    monkeypatch.setattr(
        "greenloop_sandbox.container.connection.create_options",
        lambda wanted, engine: {**whole(wanted, engine), **weak, **_root_of(wanted, weak)},
    )
    problem = await asyncio.to_thread(_container_check.try_sandbox, session.engine, session.image, Limits())
    assert complaint in problem


def _root_of(wanted: hardening.ContainerConfig, weak: dict) -> dict:
    return {"tmpfs": {**weak["tmpfs"], wanted.root: "mode=755"}} if "tmpfs" in weak else {}


# -- ends -------------------------------------------------------------------------------------------------------


async def test_cancelling_while_it_opens_leaves_nothing(root):
    for _try in range(TRIES):
        opening = asyncio.create_task(docker.create(SandboxSettings()).open(place(root)))
        await until(lambda: bool(own_containers()))
        began = time.monotonic()
        opening.cancel()
        try:
            session = await opening
        except asyncio.CancelledError:
            break
        # On a busy machine the container is seen when all is open.
        await session.close()
    else:
        pytest.fail("it was always open before it could be cancelled")
    assert time.monotonic() - began < 1
    await until(lambda: not own_containers())


@pytest.mark.story("cancelling leaves nothing behind")
async def test_close_leaves_nothing(opened):
    session = await opened()
    assert len(own_containers()) == 1
    await session.close()
    assert own_containers() == []


async def test_a_container_removed_from_outside_is_a_broken_sandbox(opened):
    session = await opened()
    (box,) = own_containers()
    running = asyncio.create_task(
        session.run(TestRun(selectors=("t_test.py",), files={"t_test.py": BUSY.encode()}, seconds=60))
    )
    await until(lambda: len(docker.connect(10).client.containers.get(box).top()["Processes"]) >= 2)
    await asyncio.to_thread(docker.connect(10).client.containers.get(box).remove, force=True)
    execution = await running
    assert "from outside" in execution.broken
    assert execution.records == ()
    assert (await tried(session, "pass")).passed


async def test_a_supervisor_that_hangs_is_given_up(opened, monkeypatch):
    session = await opened()
    assert (await tried(session, "pass")).passed  # it is there, and then it is silent
    (box,) = own_containers()
    monkeypatch.setattr(_container, "GRACE_SECONDS", 0.5)
    container = docker.connect(10).client.containers.get(box)
    await asyncio.to_thread(container.pause)
    execution = await session.run(TestRun(selectors=("test_m.py",), seconds=0.5))
    assert "did not answer in time" in execution.broken
    await until(lambda: box not in own_containers())


async def test_a_supervisor_that_dies_is_a_broken_sandbox(opened):
    session = await opened()
    running = asyncio.create_task(
        session.run(TestRun(selectors=("t_test.py",), files={"t_test.py": BUSY.encode()}, seconds=60))
    )
    (box,) = own_containers()
    container = docker.connect(10).client.containers.get(box)
    await until(lambda: len(container.top()["Processes"]) >= 2)
    await asyncio.to_thread(container.kill)
    assert "from outside" in (await running).broken
    assert (await tried(session, "pass")).passed


class Proxy:
    """Stands between the SDK and the engine, so that the engine can go away for one of them alone."""

    def __init__(self, real: str) -> None:
        self.real, self.writers = real, []

    async def serve(self, path: str) -> None:
        self.server = await asyncio.start_unix_server(self.connected, path)

    async def connected(self, reader, writer) -> None:
        there_reader, there_writer = await asyncio.open_unix_connection(self.real)
        self.writers += [writer, there_writer]
        await asyncio.gather(self.pump(reader, there_writer), self.pump(there_reader, writer), return_exceptions=True)

    async def pump(self, reader, writer) -> None:
        try:
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()

    def cut(self) -> None:
        self.server.close()
        for writer in self.writers:
            writer.transport.abort()


async def test_an_engine_that_goes_away_is_a_broken_sandbox(root, tmp_path, monkeypatch):
    proxy = Proxy(docker._find_socket())
    await proxy.serve(str(tmp_path / "engine.sock"))
    with monkeypatch.context() as patch:
        patch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'engine.sock'}")
        session = await docker.create(SandboxSettings()).open(place(root))
    container = docker.connect(10).client.containers.get(session._connection.container.id)
    running = asyncio.create_task(
        session.run(TestRun(selectors=("t_test.py",), files={"t_test.py": BUSY.encode()}, seconds=60))
    )
    await until(lambda: len(container.top()["Processes"]) >= 2)
    proxy.cut()
    assert "engine no longer answers" in (await running).broken
    assert "could not be started" in (await session.run(TestRun(selectors=("t_test.py",)))).broken
    await session.close()
    await until(lambda: own_containers() == [])  # the end of its stdin ended it


async def test_a_killed_process_leaves_no_container(root, tmp_path):
    script = tmp_path / "owner.py"
    script.write_text(
        "import asyncio, sys\nfrom pathlib import Path\nfrom greenloop_sandbox.records import Environment, SandboxSpec, TestRun\n"
        "from greenloop_sandbox.backends import docker\nfrom greenloop.project.settings import SandboxSettings\n"
        "async def main():\n"
        "    here = Environment(executable=Path(sys.executable), prefix=Path(sys.prefix), base=Path(sys.base_prefix),\n"
        "        version=sys.version_info[:2], source='test', has_pytest=True)\n"
        "    session = await docker.create(SandboxSettings()).open(SandboxSpec(root=Path(sys.argv[1]), environment=here))\n"
        "    print(session._connection.container.id, flush=True)\n"
        f"    await session.run(TestRun(selectors=('t_test.py',), files={{'t_test.py': {BUSY.encode()!r}}}, seconds=60))\n"
        "asyncio.run(main())\n"
    )
    asking = [sys.executable, str(script), str(root)]
    with subprocess.Popen(asking, stdout=subprocess.PIPE, text=True) as owner:
        box = (await asyncio.to_thread(owner.stdout.readline)).strip()
        containers = docker.connect(10).client.containers
        await until(lambda: len(containers.get(box).top()["Processes"]) >= 2)
        owner.send_signal(signal.SIGKILL)
        await until(lambda: not containers.list(all=True, filters={"id": box}, ignore_removed=True))


async def test_what_dead_owners_left_is_swept(opened):
    session = await opened()
    create = session.engine.client.containers.create
    dead = create(
        session.image, ["true"], labels={LABEL: "1", OWNER_LABEL: "4194303/1.0", BOOT_LABEL: engine.boot_id()}
    )
    elsewhere = create(
        session.image, ["true"], labels={LABEL: "1", OWNER_LABEL: "4194303/1.0", BOOT_LABEL: "another machine"}
    )
    try:
        assert engine.remove_orphans(session.engine) == 1
        left = {container.id for container in session.engine.client.containers.list(all=True)}
        assert dead.id not in left
        assert {elsewhere.id, session._connection.container.id} <= left
    finally:
        elsewhere.remove(force=True)


# -- what the user is told --------------------------------------------------------------------------------------


async def test_the_probe_names_engine_and_image(opened):
    await opened()
    probe = await docker.create(SandboxSettings()).probe()
    assert probe.ok
    assert "greenloop-python:" in probe.detail


async def test_an_image_that_cannot_be_had_is_refused(root):
    settings = SandboxSettings(image="localhost:9/no/such:image")
    with pytest.raises(CannotVerifyError, match="no/such:image"):
        await docker.create(settings).open(place(root))


async def test_a_workspace_that_is_too_large_is_refused(opened, root):
    (root / "data").mkdir()
    (root / "data" / "big.bin").touch()
    os.truncate(root / "data" / "big.bin", upload.MAX_BYTES + 1)
    with pytest.raises(CannotVerifyError, match="data alone"):
        await opened()
    assert own_containers() == []


async def test_the_sdk_is_imported_late():
    code = "import sys, greenloop_sandbox.backends.docker as d; d.DockerSandbox(); sys.exit('docker' in sys.modules)"
    asked = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code], env=dict(os.environ), check=False)
    assert asked.returncode == 0


async def test_whoever_opens_it_is_told_what_goes_on(tmp_path):
    (tmp_path / "test_x.py").write_text("def test_x(): pass\n")
    settings, pool = Settings(sandbox=SandboxSettings(kind="docker")), SandboxPool()
    said: list[str] = []
    sandbox, session = await sandbox_selection.open_first(place(tmp_path), settings, said.append, pool)
    try:
        assert said == ["looking for a sandbox (docker)", "opening the sandbox (docker)"]
        sandbox.report_status("making an image")
        assert said[-1] == "making an image"
        assert one(await session.run(TestRun(selectors=("test_x.py",)))).passed
    finally:
        await pool.release(session)
        await pool.close()
