"""What the Docker back end decides without an engine: which files travel, how it hardens, whom it blames, what it sweeps."""

from __future__ import annotations

import errno
import io
import json
import os
import socket
import struct
import tarfile
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.sandbox import Execution, Limits
from greenloop.project.settings import Settings
from greenloop.sandboxes import payload
from greenloop.sandboxes.backends import docker
from greenloop.sandboxes.container import base, engine, hardening, image, pytest_wheels, upload
from greenloop.sandboxes.container.connection import ContainerConnection, ContainerError
from greenloop.sandboxes.container.engine import BOOT_LABEL, LABEL, OWNER_LABEL, Engine
from greenloop.sandboxes.container.selftest import find_problem

MASKED = (".env*", "*.pem", ".git")
SHAPE = hardening.ContainerConfig(image="img", root="/root/a b", limits=Limits(), network=False, variables={})

# -- files that travel ------------------------------------------------------------------------------------------


def laid(root: Path, *paths: str) -> Path:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
    return root


@pytest.mark.parametrize(
    ("path", "travels"),
    [
        ("m.py", True),
        ("pkg/sub/data.json", True),
        (".coveragerc", True),
        ("build/lib.py", True),
        (".env", False),
        ("pkg/.env.local", False),
        ("certs/key.pem", False),
        (".git/config", False),
        ("pkg/__pycache__/m.pyc", False),
        ("pkg/m.pyc", False),
        (".venv/lib/x.py", False),
        ("node_modules/x/index.js", False),
        (".mypy_cache/x.json", False),
        ("odd\\name.py", False),
    ],
)
def test_which_files_travel(tmp_path, path, travels):
    assert set(upload.scan(laid(tmp_path, path), MASKED).files) == ({path} if travels else set())


def test_a_virtual_environment_by_any_name_stays(tmp_path):
    laid(tmp_path, "env311/pyvenv.cfg", "env311/lib/x.py", "m.py")
    assert set(upload.scan(tmp_path, ()).files) == {"m.py"}


def test_links_travel_only_when_they_stay_inside_and_lead_to_nothing_hidden(tmp_path):
    root = laid(tmp_path / "w", "m.py", "pkg/a.py", ".env")
    laid(tmp_path, "outside.py", "folder/b.py")
    for link, target in {
        "file.py": root / "m.py",
        "linked": root / "pkg",
        "out.py": tmp_path / "outside.py",
        "out": tmp_path / "folder",
        "secret.txt": root / ".env",
        "loop": root,
        "broken.py": root / "nowhere",
    }.items():
        (root / link).symlink_to(target)
    assert set(upload.scan(root, MASKED).files) == {"m.py", "file.py", "pkg/a.py", "linked/a.py"}


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert upload.scan(tmp_path, ()).files == {}


@pytest.mark.parametrize(
    ("bytes_", "files", "said"), [(8192, 1000, "data/big alone"), (10**6, 4, "many alone has 5 files")]
)
def test_too_much_names_the_biggest_folder(tmp_path, monkeypatch, bytes_, files, said):
    monkeypatch.setattr(upload, "MAX_BYTES", bytes_)
    monkeypatch.setattr(upload, "MAX_FILES", files)
    laid(tmp_path, *(f"many/{number}" for number in range(5)))
    laid(tmp_path, "data/big/x").joinpath("data/big/x").write_bytes(bytes(200_000))
    with pytest.raises(CannotVerifyError, match=said) as caught:
        upload.scan(tmp_path, ())
    assert "bubblewrap" in caught.value.remedy


def test_contents_come_in_batches_without_what_vanished(tmp_path, monkeypatch):
    monkeypatch.setattr(upload, "BATCH_BYTES", 6)
    laid(tmp_path, "a.py", "b.py", "c.py")
    batches = list(upload.read_batches(tmp_path, ["a.py", "gone.py", "b.py", "c.py"]))
    assert batches == [{"a.py": b"a.py", "b.py": b"b.py"}, {"c.py": b"c.py"}]


def test_empty_folders_and_executable_files_travel(tmp_path):
    laid(tmp_path, "bin/tool", "m.py")
    (tmp_path / "bin/tool").chmod(0o755)
    (tmp_path / "var/empty").mkdir(parents=True)
    (tmp_path / ".git/refs").mkdir(parents=True)
    found = upload.scan(tmp_path, MASKED)
    assert found.folders == {"bin", "var", "var/empty"}
    assert {path for path, stamp in found.files.items() if stamp.executable} == {"bin/tool"}


def test_a_stamp_tells_that_a_file_changed(tmp_path):
    before = upload.scan(laid(tmp_path, "a.py"), ())
    assert upload.scan(tmp_path, ()) == before
    os.utime(tmp_path / "a.py", ns=(1, 1))
    assert upload.scan(tmp_path, ()) != before


# -- the container ----------------------------------------------------------------------------------------------


def test_the_container_is_hardened():
    flags = hardening.create_options(SHAPE, "Docker")
    assert flags["network_mode"] == "none"
    assert flags["read_only"] is True
    assert flags["cap_drop"] == ["ALL"]
    assert flags["security_opt"] == ["no-new-privileges:true"]
    assert flags["memswap_limit"] == flags["mem_limit"] < 2 * Limits().memory
    assert flags["pids_limit"] > Limits().processes
    assert flags["log_config"]["Type"] == "none"
    assert {"/tmp", "/root", "/root/a b", hardening.PAYLOAD_FOLDER} == set(flags["tmpfs"])
    assert not {"volumes", "environment", "privileged", "devices", "pid_mode"} & set(flags)
    assert hardening.create_options(replace(SHAPE, network=True), "Docker")["network_mode"] == "bridge"
    assert "nr_inodes" not in str(hardening.create_options(SHAPE, "podman")["tmpfs"])


def test_the_workspace_is_open_and_sticky_and_what_holds_it_is_not_writable():
    assert hardening.folder_modes("/root/a b") == {"/root/a b": 0o1777, "/root": 0o755}
    assert hardening.folder_modes("/home/me/p") == {"/home/me/p": 0o1777}


def test_memory_follows_what_travels_and_the_runtime_is_passed_on():
    small, large = (
        hardening.create_options(replace(SHAPE, upload_bytes=size), "Docker")["mem_limit"] for size in (0, 100 << 20)
    )
    assert large - small == 200 << 20
    assert hardening.create_options(SHAPE, "Docker")["runtime"] is None
    assert hardening.create_options(replace(SHAPE, runtime="runsc"), "Docker")["runtime"] == "runsc"


class Container:
    """What a box asks its container."""

    def __init__(self, state: dict | None) -> None:
        self.state, self.attrs, self.killed = state, {}, []

    def reload(self) -> None:
        if self.state is None:
            error = OSError("404 Client Error")
            error.response = SimpleNamespace(status_code=404)  # type: ignore[attr-defined]
            raise error
        self.attrs = {"State": self.state}

    def kill(self, signal: str = "") -> None:
        self.killed.append(signal)

    def remove(self, **_: object) -> None:
        pass


ENGINE = Engine(client=None, errors=(OSError,), name="Docker", version="1")


def boxed(state: dict | None = None) -> tuple[ContainerConnection, socket.socket]:
    here, there = socket.socketpair()
    return ContainerConnection(
        engine=ENGINE, config=SHAPE, container=Container(state), attached=here, socket_=here
    ), there


def frame(stream: int, data: bytes) -> bytes:
    return struct.pack(">BxxxI", stream, len(data)) + data


def packed(message: dict) -> bytes:
    return payload.protocol().pack(message)


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_stdout_is_taken_out_of_the_frames_and_stderr_kept(size):
    box, there = boxed()
    answer = packed({"kind": "done", "text": "x" * 50})
    whole = frame(1, answer[:7]) + frame(2, b"warning\n") + frame(1, answer[7:])
    for start in range(0, len(whole), size):
        there.sendall(whole[start : start + size])
    assert box.ask({"kind": "run"}, 5)["text"] == "x" * 50
    assert box.stderr() == "warning\n"
    box.close()
    there.close()


def test_stderr_is_bounded():
    box, there = boxed()
    there.sendall(
        b"".join(frame(2, b"a" * 5000) for _ in range(4)) + frame(2, b"end") + frame(1, packed({"kind": "done"}))
    )
    box.ask({"kind": "run"}, 5)
    assert len(box.stderr()) == 8192
    assert box.stderr().endswith("end")
    box.close()
    there.close()


@pytest.mark.parametrize(
    ("state", "sent", "said"),
    [
        (None, b"", "is gone"),
        (
            {"Running": False, "ExitCode": 3},
            frame(2, b"Traceback\nKeyError: 'x'\n"),
            "status 3. Last output: KeyError: 'x'",
        ),
        ({"Running": False, "ExitCode": 137}, b"", "killed from outside"),
        ({"Running": False, "OOMKilled": True}, b"", "ran out of memory"),
        ({"Running": True}, b"", "connection to the sandbox's container was lost"),
        ({"Running": True}, frame(1, b"\xff\xff\xff\xff"), "invalid message"),
        ({"Running": True}, frame(1, packed({"kind": "ended", "status": -9})), "supervisor ended with status -9"),
    ],
)
def test_the_end_of_the_conversation_is_explained(state, sent, said):
    box, there = boxed(state)
    there.sendall(sent)
    there.shutdown(socket.SHUT_WR)
    with pytest.raises(ContainerError, match=said.replace(".", r"\.")):
        box.ask({"kind": "run"}, 5)
    box.close()
    box.close()
    there.close()


def test_silence_is_given_up_in_time():
    box, there = boxed()
    began = time.monotonic()
    with pytest.raises(ContainerError, match="did not answer in time"):
        box.ask({"kind": "run"}, 0.1)
    assert time.monotonic() - began < 2
    there.close()


# -- boot, as an ordinary process -------------------------------------------------------------------------------


# -- leftovers --------------------------------------------------------------------------------------------------


def test_only_what_dead_owners_of_this_boot_left_is_swept():
    removed = []

    def container(name: str, **labels: str) -> SimpleNamespace:
        return SimpleNamespace(labels={LABEL: "1", **labels}, remove=lambda **_: removed.append(name))

    mine = engine.container_labels()
    there = [
        container("mine", **mine),
        container("dead", **{**mine, OWNER_LABEL: "4194303/1.0"}),
        container("pid used again", **{**mine, OWNER_LABEL: f"{os.getpid()}/1.0"}),
        container("elsewhere", **{OWNER_LABEL: "4194303/1.0", BOOT_LABEL: "another"}),
        container("by hand"),
    ]
    client = SimpleNamespace(containers=SimpleNamespace(list=lambda **_: there))
    assert engine.remove_orphans(replace(ENGINE, client=client)) == 2
    assert removed == ["dead", "pid used again"]


# -- the image --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "pytest_version"), [((3, 9), "8.4.2"), ((3, 10), "9.2.0"), ((3, 11), "9.2.0"), ((3, 14), "9.2.0")]
)
def test_each_python_has_a_pinned_pytest(version, pytest_version):
    assert pytest_wheels.pytest_version(version) == pytest_version
    assert image.image_name(version).startswith(f"greenloop-python:{version[0]}.{version[1]}-pytest{pytest_version}-")
    pins = [line for line in pytest_wheels.pins_file(version).read_text().splitlines() if not line.startswith("#")]
    assert all("--hash=sha256:" in line and "==" in line for line in pins)


def test_python_before_3_9_is_refused():
    with pytest.raises(CannotVerifyError, match="too old"):
        pytest_wheels.pins_file((3, 8))


def test_without_pip_the_pytest_beside_greenloop_goes_into_the_image():
    def no_pip(_arguments: list[str], _seconds: float) -> str:
        raise CannotVerifyError("No module named pip")

    with tarfile.open(fileobj=io.BytesIO(pytest_wheels.build_layer((3, 12), no_pip))) as tar:
        names = set(tar.getnames())
        assert tar.getmember("tmp").mode == 0o1777
    assert {
        f"{pytest_wheels.PACKAGES}/{name}" for name in ("pytest/__init__.py", "py.py", "pluggy/__init__.py")
    } <= names
    assert any("dist-info" in name for name in names)
    with pytest.raises(CannotVerifyError, match="No module named pip"):
        pytest_wheels.build_layer((3, 10), no_pip)


def test_what_keeps_a_base_image_from_being_made(monkeypatch):
    monkeypatch.setattr(base, "tool_path", lambda name: None if name == "debootstrap" else f"/usr/bin/{name}")
    assert "apt-get install debootstrap" in base.build_obstacle((3, 11))
    assert "no recipe for Python 3.12" in base.build_obstacle((3, 12))
    monkeypatch.setattr(base, "tool_path", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(base.os, "geteuid", lambda: 1000)
    assert "root" in base.build_obstacle((3, 11))


def test_no_registry_and_no_tools_names_both_and_the_remedy(monkeypatch):
    def absent(_name: str) -> None:
        error = OSError("404")
        error.response = SimpleNamespace(status_code=404)  # type: ignore[attr-defined]
        raise error

    pull = lambda *_, **__: iter([{"error": "no such host"}])  # noqa: E731
    client = SimpleNamespace(images=SimpleNamespace(get=absent), api=SimpleNamespace(pull=pull))
    monkeypatch.setattr(base, "build_obstacle", lambda _version: "building one here needs root")
    with pytest.raises(CannotVerifyError, match=r"no such host.*needs root") as caught:
        base.ensure(replace(ENGINE, client=client), (3, 11), lambda _: None, bool)
    assert "docker pull python:3.11-slim" in caught.value.remedy


# -- whom to blame ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "installed", "detail", "remedy"),
    [
        (errno.EACCES, True, "No permission", "group docker"),
        (errno.ECONNREFUSED, True, "not running", "Start the engine"),
        (errno.ENOENT, True, "not running", "Start the engine"),
        (errno.ENOENT, False, "Neither Docker nor podman is installed", "docker.io`"),
    ],
)
async def test_each_reason_without_an_engine_has_its_remedy(monkeypatch, error, installed, detail, remedy):
    def connect(_self: object, _path: str) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.delenv("DOCKER_HOST", raising=False)
    monkeypatch.setattr(docker.socket, "socket", type("Refusing", (socket.socket,), {"connect": connect}))
    monkeypatch.setattr(docker.shutil, "which", lambda name: f"/usr/bin/{name}" if installed else None)
    probe = await docker.create(Settings()).probe()
    assert not probe.ok
    assert detail in probe.detail
    assert remedy in probe.remedy


async def test_an_unreachable_docker_host_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'none.sock'}")
    probe = await docker.create(Settings()).probe()
    assert (probe.ok, "none.sock" in probe.detail) == (False, True)
    assert probe.remedy


def test_a_self_test_that_ran_nothing_is_no_success():
    assert "stopped early" in find_problem(Execution(status=0))
    failing = {
        "kind": "phase",
        "id": "t.py::test_has_no_network",
        "when": "setup",
        "outcome": "failed",
        "message": "eth0",
    }
    begun, ended = {"kind": "begin", "id": failing["id"]}, {"kind": "finished", "status": 1}
    execution = Execution(status=1, records=(begun, json.loads(json.dumps(failing)), ended))
    assert find_problem(execution) == "test_has_no_network: eth0"
