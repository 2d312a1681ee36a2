"""The Docker back end with an engine that is reached by TCP and TLS: a second one on this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from containers import one, place
from greenloop.core.errors import CannotVerifyError
from greenloop.project.settings import SandboxSettings
from greenloop_sandbox import TestRun
from greenloop_sandbox.backends import docker

pytestmark = [
    pytest.mark.needs("docker"),
    pytest.mark.timeout(1200),  # the second engine has no image yet
    pytest.mark.skipif(
        not (hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("dockerd") and shutil.which("openssl")),
        reason="a second engine needs root, dockerd and openssl",
    ),
]


def make_certificates(folder: Path) -> None:
    """An authority of our own, and what it signs for the engine and for us."""

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    new_key = ("-newkey", "rsa:2048", "-nodes")
    openssl("req", "-x509", *new_key, "-days", "1", "-subj", "/CN=authority", "-keyout", "ca-key.pem", "-out", "ca.pem")
    for name, key, certificate in (("server", "server-key.pem", "server.pem"), ("client", "key.pem", "cert.pem")):
        openssl("req", *new_key, "-subj", f"/CN={name}", "-keyout", key, "-out", f"{name}.csr")
        (folder / "extensions").write_text(f"subjectAltName=IP:127.0.0.1\nextendedKeyUsage={name}Auth\n")
        signed = ("-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-days", "1", "-extfile", "extensions")
        openssl("x509", "-req", "-in", f"{name}.csr", *signed, "-out", certificate)


@pytest.fixture(scope="module")
def engine(tmp_path_factory) -> tuple[str, Path]:
    """The address of a second engine, and the folder with the certificates for it."""
    folder = tmp_path_factory.mktemp("engine")
    make_certificates(folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [f"--{name}={folder / path}" for name, path in (("data-root", "data"), ("exec-root", "exec"))]
    options += [f"--pidfile={folder / 'pid'}", "--bridge=none", "--iptables=false", "--ip6tables=false"]
    options += [f"--host=tcp://127.0.0.1:{port}", f"--host=unix://{folder / 'socket'}", "--tlsverify"]
    options += [f"--tlscacert={folder / 'ca.pem'}", f"--tlscert={folder / 'server.pem'}"]
    options += [f"--tlskey={folder / 'server-key.pem'}"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(["dockerd", *options], stdout=log, stderr=log, start_new_session=True)
    try:
        end = time.monotonic() + 60
        while not (folder / "socket").exists():
            assert process.poll() is None, (folder / "log").read_text()[-2000:]
            assert time.monotonic() < end, "the second engine did not start"
            time.sleep(0.1)
        # An image of the first engine need not be made once more.
        image = "greenloop-base:3.11"
        saved = subprocess.run(["docker", "save", image], capture_output=True, check=False)
        if saved.returncode == 0:
            second = {name: value for name, value in os.environ.items() if not name.startswith("DOCKER_")}
            load = ["docker", "-H", f"unix://{folder / 'socket'}", "load"]
            subprocess.run(load, input=saved.stdout, env=second, check=True, capture_output=True)
        yield f"tcp://127.0.0.1:{port}", folder
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture
def root(tmp_path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


async def test_an_engine_behind_tls_runs_tests(engine, root, monkeypatch):
    host, folder = engine
    for name, value in (("HOST", host), ("TLS_VERIFY", "1"), ("CERT_PATH", str(folder))):
        monkeypatch.setenv(f"DOCKER_{name}", value)
    # As on machines with an authority of their own: it must not replace that of the engine.
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(folder / "server.pem"))
    back_end = docker.create(SandboxSettings())
    probe = await back_end.probe()
    assert probe.ok, probe
    session = await back_end.open(place(root))
    try:
        for body, outcome in (("assert True", "passed"), ("assert False", "failed")):
            files = {"test_it.py": f"def test_it():\n    {body}\n".encode()}
            assert one(await session.run(TestRun(selectors=("test_it.py",), files=files))).outcome == outcome
    finally:
        await session.close()


async def test_without_certificates_the_remedy_names_them(engine, root, monkeypatch):
    host, _folder = engine
    monkeypatch.setenv("DOCKER_HOST", host)
    for name in ("DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(CannotVerifyError, match="does not answer") as problem:
        await docker.create(SandboxSettings()).open(place(root))
    assert "DOCKER_CERT_PATH" in problem.value.remedy
