"""Sessions in containers: images by lock, other engines and runtimes, idleness, company, and what breaks meanwhile."""

from __future__ import annotations

import asyncio
import hashlib
import io
import logging
import tarfile
import time
import zipfile
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from containers import BUSY, own_containers, place, tried, until
from greenloop.core.errors import CannotVerifyError
from greenloop.project.settings import SandboxSettings
from greenloop_sandbox import TestRun, case_results
from greenloop_sandbox.backends import docker
from greenloop_sandbox.container import image, prune

pytestmark = [pytest.mark.needs("docker"), pytest.mark.timeout(900)]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder


@pytest.fixture
def forget():
    """`forget(name)`: the image is removed after the test, when no session has it any more."""
    found: list[str] = []
    yield lambda name: found.append(docker.connect(60).client.images.get(name).id)
    client = docker.connect(60).client
    for identity in dict.fromkeys(found):
        client.images.remove(identity, force=True)


@pytest.fixture
async def opened(root: Path, forget):
    async with AsyncExitStack() as stack:

        async def open_session(at: Path = root, **settings):
            session = await docker.create(SandboxSettings(**settings)).open(place(at))
            stack.push_async_callback(session.close)
            return session

        yield open_session


# -- what the user's own code teaches ---------------------------------------------------------------------------


async def test_a_pytest_session_is_opened_before_the_fork_once_both_ways_agreed(root, opened):
    (root / "m.py").write_text("v = 1\n")
    (root / "test_m.py").write_text("from m import v\ndef test_v(): assert v == 1\n")
    session = await opened()

    async def outcomes(text: str, **more) -> list[str]:
        execution = await session.run(TestRun(selectors=("test_m.py",), files={"m.py": text.encode()}, **more))
        assert not execution.broken, execution.broken
        return [result.outcome for result in case_results(execution)]

    assert await outcomes("v = 1\n", baseline=True) == ["passed"]
    await session._learning
    assert session.warmup.agreed_selectors == {"test_m.py", "test_m.py::test_v"}
    assert session._connection.session
    assert await outcomes("v = 1\n") == ["passed"]
    assert await outcomes("v = 2\n") == ["failed"]
    # Another configuration: another supervisor, which has the session again.
    (root / "pytest.ini").write_text("[pytest]\npython_functions = none_*\n")
    assert await outcomes("v = 1\n") == []
    assert session._connection.session
    # Another hash seed likewise; what is learnt is shared by all sessions of the back end.
    (root / "pytest.ini").write_text("[pytest]\n")
    assert await outcomes("v = 2\n", hash_seed=7) == ["failed"]


# -- one image per lock -----------------------------------------------------------------------------------------


@pytest.fixture
def index(tmp_path, monkeypatch) -> Path:
    """A package index of this test alone, as the user's own configuration would name it."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    return folder


def wheel(folder: Path, name: str, version: str, needs: tuple[str, ...] = ()) -> str:
    """Lays a wheel down with a module, a program and a data file. Returns its hash."""
    info = f"{name}-{version}.dist-info"
    about = "".join(f"Requires-Dist: {one}\n" for one in needs)
    file = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{name}/__init__.py", f"VERSION = {version!r}\ndef main(): print('ran {name}')\n")
        archive.writestr(f"{name}-{version}.data/data/share/{name}.txt", "data")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{about}")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/entry_points.txt", f"[console_scripts]\n{name}-tool = {name}:main\n")
        archive.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(file.read_bytes()).hexdigest()


SETUP = """
import os, socket
from setuptools import setup
open({witness!r}, "w").close() if os.path.isdir({folder!r}) else None
try:
    socket.create_connection(("192.0.2.1", 80), timeout=1)
except OSError:
    pass
else:
    raise SystemExit("there is a network")
setup(name="{name}", version="{version}", py_modules=["{name}"])
"""


def source(folder: Path, name: str, version: str, witness: Path) -> None:
    """Lays a source archive down whose setup.py leaves a witness where it can."""
    files = {
        "setup.py": SETUP.format(witness=str(witness), folder=str(witness.parent), name=name, version=version),
        f"{name}.py": "BUILT = True\n",
        "PKG-INFO": f"Metadata-Version: 1.0\nName: {name}\nVersion: {version}\n",
    }
    with tarfile.open(folder / f"{name}-{version}.tar.gz", "w:gz") as tar:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{name}-{version}/{path}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))


async def test_a_lock_gets_its_image_once_and_tests_find_its_packages(opened, root, index, forget, caplog):
    caplog.set_level(logging.INFO, "greenloop_sandbox")
    wheel(index, "unwanted", "1.0")
    digest = wheel(index, "glsample", "1.5")
    wheel(index, "glsample", "2.0")
    (root / "requirements.txt").write_text(
        f"--index-url https://example.invalid\nglsample==1.5 --hash=sha256:{digest}\n"
    )
    session = await opened()
    forget(session.image)
    assert "the option `--index-url https://example.invalid` was ignored" in caplog.text
    body = (
        "import glsample, subprocess, sys, os, importlib.util\nassert glsample.VERSION == '1.5'\n"
        "assert subprocess.check_output(['glsample-tool'], text=True) == 'ran glsample\\n'\n"
        "assert os.path.exists(os.path.join(sys.prefix, 'local/share/glsample.txt')) or "
        "os.path.exists(os.path.join(sys.prefix, 'share/glsample.txt'))\n"
        "assert importlib.util.find_spec('unwanted') is None"
    )
    assert (await tried(session, body)).passed
    caplog.clear()
    again = await opened()
    assert again.image == session.image
    assert "building an image" not in caplog.text
    (root / "requirements.txt").write_text("glsample\n")
    other = await opened()
    assert other.image != session.image
    assert (await tried(other, "import glsample\nassert glsample.VERSION == '2.0'")).passed
    wheel(index, "glsample", "3.0")
    await other.close()
    docker.connect(60).client.images.remove(other.image)
    resolved_once = await opened()
    forget(resolved_once.image)
    assert (await tried(resolved_once, "import glsample\nassert glsample.VERSION == '2.0'")).passed


async def test_a_package_that_is_a_source_alone_is_named_and_nothing_of_it_runs(opened, root, index, tmp_path):
    witness = tmp_path / "witness"
    source(index, "glsource", "1.0", witness)
    (root / "requirements.txt").write_text("glsource==1.0\n")
    with pytest.raises(CannotVerifyError, match=r"no wheel of glsource that fits") as caught:
        await opened()
    assert "sandbox.image" in caught.value.remedy
    assert not witness.exists()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("nowhere-to-be-found==1.0\n", "Your package index has no wheel of nowhere-to-be-found that fits"),
        (
            f"glsample==1.0 --hash=sha256:{'0' * 64}\n",
            "glsample==1.0: the file on your package index does not match the hash",
        ),
    ],
)
async def test_a_package_that_cannot_be_had_is_named(opened, root, index, lines, said):
    wheel(index, "glsample", "1.0")
    (root / "requirements.txt").write_text(lines)
    with pytest.raises(CannotVerifyError, match=said) as caught:
        await opened()
    assert caught.value.remedy
    assert own_containers() == []


async def test_a_wheel_that_would_leave_its_folder_is_refused(opened, root, index):
    wheel(index, "glsample", "1.0")
    with zipfile.ZipFile(index / "glsample-1.0-py3-none-any.whl", "a") as archive:
        archive.writestr("../../../../../.greenloop/packages/pytest/__init__.py", "")
    (root / "requirements.txt").write_text("glsample==1.0\n")
    with pytest.raises(CannotVerifyError, match="outside the target directory"):
        await opened()
    assert own_containers() == []


async def test_two_that_want_the_same_image_make_it_once(root, index, forget):
    wheel(index, "glsample", "1.0")
    (root / "requirements.txt").write_text("glsample>=0.1\n")
    said: list[str] = []
    back_ends = [replace(docker.create(SandboxSettings()), report_status=said.append) for _ in range(2)]
    sessions = await asyncio.gather(*(back_end.open(place(root)) for back_end in back_ends))
    await asyncio.gather(*(session.close() for session in sessions))
    forget(sessions[0].image)
    assert sessions[0].image == sessions[1].image
    assert len([line for line in said if line.startswith(f"built the image {sessions[0].image}")]) == 1


async def test_only_images_of_greenloop_that_nobody_used_for_long_are_removed(opened, root, index, monkeypatch):
    wheel(index, "glsample", "1.0")
    (root / "requirements.txt").write_text("glsample>=0.2\n")
    (root / "requirements-dev.txt").write_text("glsample>=1\n")
    session = await opened()
    client = session.engine.client
    before = {tag for found in client.images.list() for tag in found.tags}
    known = {name: time.time() for name in before}
    prune._write({**known, session.image: time.time() - 31 * prune.DAY})
    assert prune.prune_daily(session.engine) == []  # in use
    await session.close()
    assert prune.prune_daily(docker.connect(60)) == []  # looked already today
    prune._write({**known, session.image: time.time() - 31 * prune.DAY})
    assert prune.prune_daily(docker.connect(60)) == [session.image]
    after = {tag for found in docker.connect(60).client.images.list() for tag in found.tags}
    assert before - after == {session.image}


async def test_an_installed_project_is_found_without_being_installed(opened, root):
    (root / "src" / "glproject").mkdir(parents=True)
    (root / "src" / "glproject" / "__init__.py").write_text("def main(): pass\n")
    (root / "src" / "glproject" / "plugin.py").write_text("import pytest\n@pytest.fixture\ndef given(): return 5\n")
    (root / "pyproject.toml").write_text(
        "[project]\nname = 'gl-project'\nversion = '1.4'\n[project.scripts]\ntool = 'glproject:main'\n"
        "[project.entry-points.pytest11]\ngiven = 'glproject.plugin'\n"
    )
    session = await opened()
    body = (
        "import glproject, subprocess, sys\nfrom importlib import metadata\n"
        "assert metadata.version('gl-project') == '1.4'\n"
        "(point,) = [p for p in metadata.entry_points(group='console_scripts') if p.name == 'tool']\n"
        "assert point.load() is glproject.main\n"
        "assert subprocess.run([sys.executable, '-c', 'import glproject'], cwd='/').returncode == 0"
    )
    assert (await tried(session, body)).passed
    files = {"test_given.py": b"def test_given(given): assert given == 5\n"}
    assert case_results(await session.run(TestRun(selectors=("test_given.py",), files=files)))[0].passed


# -- runtimes and other engines ---------------------------------------------------------------------------------


async def test_a_runtime_that_the_engine_does_not_know_is_named(opened):
    with pytest.raises(CannotVerifyError, match="runsc-of-nowhere of `sandbox.runtime`"):
        await opened(runtime="runsc-of-nowhere")
    assert own_containers() == []


async def test_the_runtime_is_passed_on(opened):
    session = await opened(runtime="runc")
    assert (await tried(session, "pass")).passed
    assert session.engine.client.containers.get(own_containers()[0]).attrs["HostConfig"]["Runtime"] == "runc"


async def test_an_engine_behind_tcp_needs_no_mounts(root, monkeypatch):
    (root / "m.py").write_text("X = 1\n")
    there = docker._find_socket()

    async def forward(reader, writer):
        other_reader, other_writer = await asyncio.open_unix_connection(there)

        async def pump(source, target):
            while data := await source.read(1 << 16):
                target.write(data)
                await target.drain()
            target.close()

        await asyncio.gather(pump(reader, other_writer), pump(other_reader, writer), return_exceptions=True)

    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    session = await docker.create(SandboxSettings()).open(place(root))
    monkeypatch.delenv("DOCKER_HOST")
    try:
        assert (await tried(session, "import m\nassert m.X == 1")).passed
        about = docker.connect(10).client.api.inspect_container(session._connection.container.id)
        assert about["Mounts"] == []
        assert not about["HostConfig"]["Binds"]
    finally:
        await session.close()
        server.close()


# -- idleness and company ---------------------------------------------------------------------------------------


async def test_an_idle_session_is_paused_until_the_next_run(opened):
    session = await opened()
    (box,) = own_containers()
    container = docker.connect(10).client.containers.get(box)
    await session.pause()
    container.reload()
    assert container.status == "paused"
    assert (await tried(session, "pass")).passed
    assert own_containers() == [box]
    await session.pause()
    await session.close()
    assert own_containers() == []


async def test_a_paused_container_that_went_away_costs_nothing_but_time(opened):
    session = await opened()
    await session.pause()
    await asyncio.to_thread(docker.connect(10).client.containers.get(own_containers()[0]).remove, force=True)
    execution = await session.run(TestRun(selectors=("test_x.py",), files={"test_x.py": b"def test_x(): pass\n"}))
    assert "from outside" in execution.broken
    assert (await tried(session, "pass")).passed


async def test_ten_sessions_at_once(opened, tmp_path):
    roots = [tmp_path / f"project{number}" for number in range(10)]
    for number, folder in enumerate(roots):
        folder.mkdir()
        (folder / "m.py").write_text(f"NUMBER = {number}\n")
    sessions = await asyncio.gather(*(opened(folder) for folder in roots))
    bodies = [f"import m\nassert m.NUMBER == {number}" for number in range(10)]
    tries = [tried(*pair, seconds=60) for pair in zip(sessions, bodies, strict=True)]  # ten on a busy machine take long
    found = await asyncio.gather(*tries)
    assert all(result.passed for result in found)
    running = [
        asyncio.create_task(
            session.run(TestRun(selectors=("b_test.py",), files={"b_test.py": BUSY.encode()}, seconds=60))
        )
        for session in sessions
    ]
    containers = docker.connect(30).client.containers
    await until(lambda: all(len(containers.get(box).top()["Processes"]) >= 2 for box in own_containers()), 60)
    for task in running:
        task.cancel()
    assert all(
        isinstance(one, asyncio.CancelledError) for one in await asyncio.gather(*running, return_exceptions=True)
    )
    await until(lambda: own_containers() == [], 30)


# -- what breaks ------------------------------------------------------------------------------------------------


async def test_an_image_deleted_meanwhile_is_said(opened, root, index, forget):
    wheel(index, "glsample", "1.0")
    (root / "requirements.txt").write_text("glsample>=0.3\n")
    session = await opened()
    client = docker.connect(60).client
    await asyncio.to_thread(client.containers.get(own_containers()[0]).remove, force=True)
    await until(lambda: own_containers() == [])
    await asyncio.to_thread(client.images.remove, session.image, force=True)
    run = TestRun(selectors=("test_x.py",), files={"test_x.py": b"def test_x(): pass\n"})
    broken = [(await session.run(run)) for _ in range(2)]
    assert all(execution.broken and not execution.records for execution in broken)
    assert "does not exist (any more)" in broken[-1].broken
    again = await opened()
    forget(again.image)
    assert (await tried(again, "import glsample")).passed


async def test_a_full_disk_of_the_engine_is_said(root, monkeypatch):
    from docker.errors import APIError

    def full(*_args, **_more):
        raise APIError("mkdir /var/lib/docker: no space left on device")

    monkeypatch.setattr(image, "ensure_image", full)
    with pytest.raises(CannotVerifyError, match="no space left") as caught:
        await docker.create(SandboxSettings()).open(place(root))
    assert "docker system df" in caught.value.remedy


async def test_an_attachment_that_hangs_is_given_up(opened, monkeypatch):
    session = await opened()
    monkeypatch.setattr("greenloop_sandbox.container.connection.START_SECONDS", 0.5)
    monkeypatch.setattr("greenloop_sandbox.container.connection.ContainerConnection.supervise", _silent)
    session.end()
    execution = await session.run(TestRun(selectors=("test_x.py",), files={"test_x.py": b"def test_x(): pass\n"}))
    assert "did not answer in time" in execution.broken
    monkeypatch.undo()
    assert (await tried(session, "pass")).passed


def _silent(connection, hash_seed, *, restart=False):
    connection._receive(time.monotonic() + 0.2)


def test_the_key_tells_base_python_and_packages(tmp_path):
    from greenloop_sandbox import locks

    (tmp_path / "requirements.txt").write_text("a\n")
    first = locks.find_sources(tmp_path)
    (tmp_path / "requirements.txt").write_text("b\n")
    second = locks.find_sources(tmp_path)
    names = {
        image.project_image_name("sha256:1", (3, 11), first),
        image.project_image_name("sha256:2", (3, 11), first),
        image.project_image_name("sha256:1", (3, 12), first),
        image.project_image_name("sha256:1", (3, 11), second),
    }
    assert len(names) == 4
