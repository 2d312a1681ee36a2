"""Limits of control groups, read from trees of files as the two versions lay them out.

The layouts are those of a systemd machine, of Docker and of Kubernetes; version 2 is seen here as such files only.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.plugins.embedded import hardware
from greenloop.project.environment import cgroups
from greenloop.project.environment.cgroups import CgroupLimits
from project_files import write_files

MIB = 1 << 20
NO_LIMIT = "9223372036854771712\n"
STAT = "anon 104857600\nfile 209715200\nactive_file 52428800\ninactive_file 104857600\nslab 1048576\n"
EVENTS = "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n"
OWN = "proc/self/cgroup"
V1 = "12:pids:/docker/4f0c\n11:memory:/docker/4f0c\n10:cpu,cpuacct:/docker/4f0c\n1:name=systemd:/docker/4f0c\n0::/\n"

TREES = {
    # version 2, a container: its namespace makes the group the root
    "v2 in a container": (
        {
            OWN: "0::/\n",
            "sys/fs/cgroup/memory.max": f"{512 * MIB}\n",
            "sys/fs/cgroup/memory.current": f"{300 * MIB}\n",
            "sys/fs/cgroup/memory.stat": STAT,
            "sys/fs/cgroup/memory.events": EVENTS,
            "sys/fs/cgroup/pids.max": "100\n",
        },
        CgroupLimits(memory=512 * MIB, free_memory=312 * MIB, processes=100),
    ),
    # version 2, a systemd machine: the user's slice is tighter than the session's own scope
    "v2 with a limit above": (
        {
            OWN: "0::/user.slice/user-1000.slice/session-3.scope\n",
            "sys/fs/cgroup/user.slice/memory.max": "max\n",
            "sys/fs/cgroup/user.slice/user-1000.slice/memory.max": f"{2048 * MIB}\n",
            "sys/fs/cgroup/user.slice/user-1000.slice/memory.current": f"{48 * MIB}\n",
            "sys/fs/cgroup/user.slice/user-1000.slice/pids.max": "10813\n",
            "sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope/memory.max": f"{4096 * MIB}\n",
            "sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope/memory.current": f"{40 * MIB}\n",
            "sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope/pids.max": "max\n",
        },
        CgroupLimits(memory=2048 * MIB, free_memory=2000 * MIB, processes=10813),
    ),
    "v2 without a limit": (
        {
            OWN: "0::/init.scope\n",
            "sys/fs/cgroup/init.scope/memory.max": "max\n",
            "sys/fs/cgroup/init.scope/memory.current": "4096\n",
            "sys/fs/cgroup/init.scope/pids.max": "max\n",
        },
        CgroupLimits(),
    ),
    # version 1, Docker: the path is the host's, and the mount shows the container's own group as its root
    "v1 in a container": (
        {
            OWN: V1,
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{256 * MIB}\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{200 * MIB}\n",
            "sys/fs/cgroup/memory/memory.stat": f"inactive_file 4096\ntotal_inactive_file {20 * MIB}\n",
            "sys/fs/cgroup/pids/pids.max": "64\n",
        },
        CgroupLimits(memory=256 * MIB, free_memory=76 * MIB, processes=64),
    ),
    "v1 on the host": (
        {
            OWN: V1,
            "sys/fs/cgroup/memory/memory.limit_in_bytes": NO_LIMIT,
            "sys/fs/cgroup/memory/docker/memory.limit_in_bytes": NO_LIMIT,
            "sys/fs/cgroup/memory/docker/4f0c/memory.limit_in_bytes": f"{64 * MIB}\n",
            "sys/fs/cgroup/memory/docker/4f0c/memory.usage_in_bytes": f"{80 * MIB}\n",
            "sys/fs/cgroup/pids/docker/4f0c/pids.max": "max\n",
        },
        CgroupLimits(memory=64 * MIB, free_memory=0),
    ),
    # both: version 1 has the controllers, version 2 is mounted beside it without any
    "hybrid": (
        {
            OWN: "4:memory:/jobs/7\n0::/jobs/7\n",
            "sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes": f"{128 * MIB}\n",
            "sys/fs/cgroup/memory/jobs/7/memory.usage_in_bytes": "0\n",
            "sys/fs/cgroup/unified/jobs/7/cgroup.procs": "1\n",
        },
        CgroupLimits(memory=128 * MIB, free_memory=128 * MIB),
    ),
    "no control groups": ({}, CgroupLimits()),
    "rubbish": (
        {OWN: "nonsense\n::\n0::/../../etc\n", "sys/fs/cgroup/memory.max": "many\n", "sys/fs/cgroup/pids.max": ""},
        CgroupLimits(),
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_the_tightest_limit_on_the_way_holds(tmp_path, name):
    files, expected = TREES[name]
    write_files(tmp_path, files)
    assert cgroups.read_limits(tmp_path) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "150000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "50000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "300000 100000\n"}, 3),
        ({"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "max 100000\n"}, 8),
        (
            {
                "proc/self/cgroup": "3:cpu,cpuacct:/a\n",
                "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "200000\n",
                "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n",
            },
            2,
        ),
        (
            {
                "proc/self/cgroup": "3:cpu,cpuacct:/a\n",
                "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n",
            },
            8,
        ),
        ({}, 8),
    ],
)
def test_a_share_of_the_processors_counts_as_so_many(tmp_path, files, expected):
    write_files(tmp_path, files)
    assert cgroups.processor_count(tmp_path, processors=8) == expected


def test_this_machine_can_be_read():
    found = cgroups.read_limits()
    assert found.memory is None or found.memory > 0
    assert Path("/proc/self/cgroup").exists() or found == CgroupLimits()


def test_the_embedded_model_sees_what_the_container_has_left():
    assert hardware.free_memory(CgroupLimits(memory=512 * MIB, free_memory=100 * MIB)) == 100 * MIB
