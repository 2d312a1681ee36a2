"""Configuration of a container, and every option that hardens it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from greenloop_sandbox.locks.project import ProjectMetadata
from greenloop_sandbox.records import Limits

# As in inside/image/boot.py.
PAYLOAD_FOLDER, PACKAGES_FOLDER = "/.greenloop/run", "/.greenloop/packages"
CAPABILITIES = ("KILL", "SETGID", "SETUID")  # the supervisor's; a worker has none
TMP_BYTES = 64 << 20
OVERHEAD_BYTES = 96 << 20  # memory of the supervisor and its files, in addition to the tests' limit

# All given explicitly: podman's own defaults may exceed what it is allowed to set.
ULIMITS = [
    {"Name": "nofile", "Soft": 1024, "Hard": 1024},
    {"Name": "nproc", "Soft": 4096, "Hard": 4096},
    {"Name": "core", "Soft": 0, "Hard": 0},
]


@dataclass(frozen=True, kw_only=True)
class ContainerConfig:
    """Configuration of a container: image, the workspace's path inside, limits, network, extra variables.

    `upload_bytes` is the memory that the workspace's files take; an empty `runtime` is the engine's own; `project` is
    the workspace's own metadata.
    """

    image: str
    root: str
    limits: Limits
    network: bool
    variables: Mapping[str, str]
    upload_bytes: int = 0
    runtime: str = ""
    project: ProjectMetadata = field(default_factory=ProjectMetadata)

    @property
    def workspace_bytes(self) -> int:
        """Size limit of the workspace in bytes: twice its present size, because it grows, plus what tests may write."""
        return 2 * self.upload_bytes + self.limits.disk


def create_options(config: ContainerConfig, engine: str) -> dict[str, Any]:
    """Every option that hardens the container, as `containers.create` of the engine (Docker, podman) takes it."""
    memory = config.limits.memory + TMP_BYTES + config.workspace_bytes + OVERHEAD_BYTES
    return {
        "runtime": config.runtime or None,
        "network_mode": "bridge" if config.network else "none",
        "read_only": True,
        "user": "0:0",
        "cap_drop": ["ALL"],
        "cap_add": list(CAPABILITIES),
        "security_opt": ["no-new-privileges:true"],
        # More than a worker may have, or a fork bomb would block the supervisor.
        "pids_limit": config.limits.processes + 64,
        "mem_limit": memory,
        "memswap_limit": memory,
        "nano_cpus": 1_000_000_000,
        "ipc_mode": "private",
        "shm_size": 16 << 20,
        "tmpfs": {
            folder: _engine_options(options, engine)
            for folder, options in _mounts(config.root, config.workspace_bytes).items()
        },
        "ulimits": ULIMITS,
        "log_config": {"Type": "none", "Config": {}},
        "healthcheck": {"Test": ["NONE"]},
        "hostname": "sandbox",
        "working_dir": "/",
        "stop_signal": "SIGKILL",  # process 1 ignores all others
    }


def folder_modes(root: str) -> dict[str, int]:
    """The modes that boot gives to folders, because a tmpfs takes over the mode of the image's folder.

    Tests may create files in the workspace, but neither change nor remove those that were uploaded (sticky).
    """
    return {folder: 0o1777 if folder == root else 0o755 for folder in _mounts(root, 0) if folder in {"/root", root}}


def _engine_options(options: str, engine: str) -> str:
    """Drops what podman lacks: a limit on the number of files. They take memory, which is limited."""
    if engine != "podman":
        return options
    return ",".join(option for option in options.split(",") if not option.startswith("nr_inodes="))


def _mounts(root: str, size: int) -> dict[str, str]:
    mounts = {
        "/tmp": f"rw,exec,nosuid,nodev,size={TMP_BYTES},nr_inodes=50000,mode=1777",  # noqa: S108 - inside the sandbox
        PAYLOAD_FOLDER: f"rw,nosuid,nodev,noexec,size={32 << 20},mode=755",
        root: f"rw,exec,nosuid,nodev,size={size},nr_inodes=150000,mode=1777",
    }
    if root.startswith("/root/"):
        mounts["/root"] = f"rw,nosuid,nodev,size={1 << 20},mode=755"  # its mode is set later, see `folder_modes`
    return mounts
