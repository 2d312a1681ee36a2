"""How a container is hardened."""

from __future__ import annotations

from dataclasses import replace

from greenloop_sandbox import Limits
from greenloop_sandbox.container import hardening

SHAPE = hardening.ContainerConfig(image="img", root="/root/a b", limits=Limits(), network=False, variables={})


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
