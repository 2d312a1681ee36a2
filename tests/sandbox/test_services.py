"""Services for the tests of a project: real servers, each in a sandbox of its own."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from greenloop.engine.sandbox_spec import build_sandbox_spec
from greenloop.project import configuration
from greenloop_sandbox import CannotVerifyError, TestRun, case_results
from greenloop_sandbox.backends import _services
from greenloop_sandbox.backends.bubblewrap import Bubblewrap
from service_image import make_image

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]


def is_installed(server: _services.Server) -> bool:
    try:
        return bool(_services.find_program(server))
    except CannotVerifyError:
        return False


needs = {
    kind: pytest.mark.skipif(not is_installed(server), reason=f"{server.package} is not installed")
    for kind, server in _services.SERVERS.items()
}
REDIS = """
import os, socket


def say(*words):
    with socket.create_connection(("127.0.0.1", 6379), timeout=10) as connection:
        connection.sendall(" ".join(words).encode() + b"\\r\\n")
        return connection.recv(4096)


def test_counts():
    assert os.environ["REDIS_URL"] == "redis://127.0.0.1:6379/0"
    assert say("INCR", "runs") == b":1\\r\\n"
"""
POSTGRES = """
import os, socket, struct


def ask(*queries):
    connection = socket.create_connection((os.environ["PGHOST"], 5432), timeout=20)
    start = struct.pack("!I", 196608) + b"user\\0shop\\0database\\0goods\\0\\0"
    connection.sendall(struct.pack("!I", len(start) + 4) + start)
    answers = b""
    for query in ("SELECT 1", *queries):
        while not answers.endswith(b"Z\\0\\0\\0\\5I"):
            answers += connection.recv(65536)
        data, answers = answers, b""
        connection.sendall(b"Q" + struct.pack("!I", len(query) + 5) + query.encode() + b"\\0")
    while not answers.endswith(b"Z\\0\\0\\0\\5I"):
        answers += connection.recv(65536)
    return answers
"""
MYSQL = """
import socket


def test_greets():
    with socket.create_connection(("127.0.0.1", 3306), timeout=20) as connection:
        assert connection.recv(100)[4] == 10
"""


async def run_tests(root: Path, kind: str, text: str, *, runs: int = 1) -> list[dict[str, str]]:
    """The outcomes of each of the runs, with what failed, in one session; all sandboxes are gone afterwards."""
    (root / "test_s.py").write_text(text)
    settings, _warnings = configuration.load(root, command_line={"sandbox.services": [kind]})
    session = await Bubblewrap().open(await build_sandbox_spec(root, settings))
    found = []
    try:
        for _run in range(runs):
            execution = await session.run(TestRun(selectors=("test_s.py",), seconds=60))
            assert not execution.broken, execution.broken
            results = case_results(execution)
            found.append({each.id: each.failure.message if each.failure else each.outcome for each in results})
            found[-1]["output"] = execution.output
    finally:
        await session.close()
    return found


@needs["redis"]
async def test_redis_answers_and_begins_empty_in_each_session(tmp_path):
    for _session in range(2):
        (outcomes,) = await run_tests(tmp_path, "redis", REDIS)
        assert outcomes["test_s.py::test_counts"] == "passed"


@needs["postgres"]
async def test_postgres_has_the_account_and_database_of_the_project(tmp_path):
    (tmp_path / "compose.yaml").write_text("POSTGRES_USER: shop\nPOSTGRES_DB: goods\n")
    text = POSTGRES + "\n\ndef test_database():\n    assert b'goods' in ask('SELECT current_database()')\n"
    (outcomes,) = await run_tests(tmp_path, "postgres", text)
    assert outcomes["test_s.py::test_database"] == "passed"


@needs["mysql"]
async def test_mysql_answers(tmp_path):
    (outcomes,) = await run_tests(tmp_path, "mysql", MYSQL)
    assert outcomes["test_s.py::test_greets"] == "passed"


@needs["redis"]
async def test_a_service_that_dies_is_said_and_started_again(tmp_path):
    text = REDIS + "\n\ndef test_ends():\n    assert say('SHUTDOWN', 'NOSAVE') in (b'', None)\n"
    first, second = await run_tests(tmp_path, "redis", text, runs=2)
    assert "Redis (`sandbox.services`) ended during the tests." in first["output"]
    assert second["test_s.py::test_counts"] == "passed"


@needs["redis"]
async def test_a_port_in_use_is_named(tmp_path):
    """With the network on, tests share the machine's own loopback device."""
    (tmp_path / "test_s.py").write_text("def test_one():\n    pass\n")
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        (tmp_path / "settings.py").write_text(f'URL = "redis://localhost:{port}/0"\n')
        chosen = {"sandbox.services": ["redis"], "sandbox.network": True}
        settings, _warnings = configuration.load(tmp_path, command_line=chosen)
        session = await Bubblewrap().open(await build_sandbox_spec(tmp_path, settings))
        try:
            execution = await session.run(TestRun(selectors=("test_s.py",)))
        finally:
            await session.close()
    said = f"Port {port}, which `sandbox.services` needs, cannot be used (Address already in use): free it."
    assert execution.broken == said


# -- from images -------------------------------------------------------------------------------------------------


def containers(pid: int) -> str:
    """The containers that this process has started, also those that have ended."""
    command = ["docker", "ps", "--all", "--filter", f"name=greenloop-{pid}-", "--format", "{{.Names}} {{.Status}}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.needs("docker")
@pytest.mark.story("services that tests connect to are started, also from images")
async def test_an_image_answers_begins_empty_and_leaves_nothing(tmp_path):
    for _session in range(2):
        (outcomes,) = await run_tests(tmp_path, f"docker:{make_image()}", REDIS)
        assert outcomes["test_s.py::test_counts"] == "passed"
    assert containers(os.getpid()) == ""


@pytest.mark.needs("docker")
async def test_a_compose_file_names_the_image_and_its_port(tmp_path):
    compose = f"services:\n  cache:\n    image: {make_image()}\n    ports: \n      - '7001:6379'\n"
    (tmp_path / "compose.yaml").write_text(compose)
    text = REDIS.replace('== "redis://127.0.0.1:6379/0"', '== "redis://127.0.0.1:7001/0"').replace("6379)", "7001)")
    (outcomes,) = await run_tests(tmp_path, "compose", text)
    assert outcomes["test_s.py::test_counts"] == "passed"


@pytest.mark.needs("docker")
async def test_a_container_that_ends_is_said_and_started_again(tmp_path):
    text = REDIS + "\n\ndef test_ends():\n    assert say('SHUTDOWN') in (b'', None)\n"
    first, second = await run_tests(tmp_path, f"docker:{make_image()}", text, runs=2)
    assert f"{make_image()} (`sandbox.services`) ended during the tests." in first["output"]
    assert second["test_s.py::test_counts"] == "passed"


@pytest.mark.needs("docker")
async def test_an_image_that_is_not_here_is_named_and_not_pulled(tmp_path):
    with pytest.raises(CannotVerifyError, match="The image nobody/redis:0 of `sandbox.services` cannot be") as error:
        await run_tests(tmp_path, "docker:nobody/redis:0", REDIS)
    assert error.value.remedy == "Get it with `docker pull nobody/redis:0`; greenloop never pulls images."


@pytest.mark.needs("docker")
async def test_a_container_sees_nothing_of_the_machine(tmp_path):
    text = REDIS + (
        "\n\ndef test_looks():\n"
        "    assert say('EXEC', 'sorted(name for _, name in __import__(\"socket\").if_nameindex())') == b\"['lo']\\r\\n\"\n"
        f"    for path in ({str(Path.home() / '.profile')!r}, {str(tmp_path)!r}, '/proc/1/root{tmp_path}', '/var/run/docker.sock'):\n"
        "        assert say('EXEC', f'__import__(\"os\").path.exists({path!r})') == b'False\\r\\n'\n"
    )
    (outcomes,) = await run_tests(tmp_path, f"docker:{make_image()}", text)
    assert outcomes["test_s.py::test_looks"] == "passed"


@pytest.mark.needs("docker")
async def test_no_container_is_left_where_greenloop_is_killed():
    process, _pid = await start_elsewhere(f"kind='redis', port=6379, inside=6379, image={make_image()!r}")
    assert containers(process.pid).count("Up") == 2
    process.send_signal(signal.SIGKILL)
    await process.wait()
    async with asyncio.timeout(30):
        while containers(process.pid):
            await asyncio.sleep(0.2)


# -- attacks -----------------------------------------------------------------------------------------------------


@needs["postgres"]
async def test_through_a_database_that_runs_programs_nothing_of_the_machine_is_reached(tmp_path, monkeypatch):
    """The tests are the database's superuser, who may run programs where the server runs."""
    monkeypatch.setenv("SECRET_OF_THE_HOST", "s3cret")
    (tmp_path / "compose.yaml").write_text("POSTGRES_USER: shop\nPOSTGRES_DB: goods\n")
    looks = (
        f"cat {tmp_path}/compose.yaml", f"cat {Path.home()}/.profile", "cat /etc/shadow", "cat /etc/hostname",
        "env | grep SECRET", "ls /proc/1/root/home",
    )  # fmt: skip
    text = POSTGRES + "\n\ndef test_looks():\n    ask('CREATE TABLE found (line text)')\n"
    for look in looks:
        text += f"    ask(\"COPY found FROM PROGRAM '{look}'\")\n"
    text += "    assert b'0' in ask('SELECT count(*) FROM found').split(b'D', 1)[1][:12]\n"
    text += "    route = ask(\"COPY found FROM PROGRAM 'cat /proc/net/dev'\") and ask('SELECT line FROM found')\n"
    text += "    assert b'lo:' in route and b'eth' not in route\n"
    (outcomes,) = await run_tests(tmp_path, "postgres", text)
    assert outcomes["test_s.py::test_looks"] == "passed"


@needs["redis"]
async def test_no_other_port_of_the_machine_is_reached(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        ports = f"(*range(1, 10000), {other.getsockname()[1]})"
        text = REDIS + (
            "\n\ndef test_others():\n    found = []\n"
            f"    for port in {ports}:\n        with socket.socket() as each:\n"
            "            if each.connect_ex(('127.0.0.1', port)) == 0:\n                found.append(port)\n"
            "    assert found == [6379]\n"
        )
        (outcomes,) = await run_tests(tmp_path, "redis", text)
    assert outcomes["test_s.py::test_others"] == "passed"


async def start_elsewhere(service: str) -> tuple[asyncio.subprocess.Process, int]:
    """Starts a service in a process of its own; returns that, and the pid of the service's process."""
    script = (
        "import asyncio, sys\n"
        "from greenloop_sandbox.backends import _services\n"
        "async def main():\n"
        f"    services = _services.Services(program=sys.argv[1], services=[_services.Service({service})])\n"
        "    await services.start()\n    print(services._running[0].process.pid, flush=True)\n"
        "    await asyncio.sleep(60)\nasyncio.run(main())\n"
    )
    program = (await Bubblewrap()._choose()).path
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, program, stdout=asyncio.subprocess.PIPE, env={**os.environ}
    )
    assert process.stdout is not None
    return process, int(await process.stdout.readline())


@needs["redis"]
async def test_nothing_is_left_where_greenloop_is_killed():
    process, pid = await start_elsewhere("kind='redis', port=6379")
    inside = _services._supervisor.descendants(pid)
    assert inside
    process.send_signal(signal.SIGKILL)
    await process.wait()
    async with asyncio.timeout(20):
        while any(_services._supervisor.is_alive(each) for each in (pid, *inside)):
            await asyncio.sleep(0.05)
