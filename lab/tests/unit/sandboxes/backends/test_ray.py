"""The back end on a cluster is asked for by name, and says what the cluster has or lacks."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.project.settings import SandboxSettings, Settings
from greenloop_lab.sandboxes.backends import ray
from greenloop_lab.sandboxes.cluster import connection

SETTINGS = Settings(sandbox=SandboxSettings(kind="ray", cluster="head:6379"))


def node(processors, *, alive=True):
    return {"Alive": alive, "Resources": {"CPU": processors} if processors else {}}


def connected(monkeypatch, *nodes):
    addresses = []

    def connect(address):
        addresses.append(address)
        return SimpleNamespace(nodes=lambda: list(nodes))

    monkeypatch.setattr(connection, "connect", connect)
    return addresses


async def test_nothing_is_connected_unless_it_is_asked_for(monkeypatch):
    addresses = connected(monkeypatch, node(4.0))
    assert not (await ray.create(SandboxSettings()).probe()).ok
    assert addresses == []


async def test_living_nodes_with_processors_count(monkeypatch):
    addresses = connected(monkeypatch, node(0), node(4.0), node(2.0), node(8.0, alive=False))
    probe = await ray.create(SETTINGS.sandbox).probe()
    assert (probe.ok, probe.detail) == (True, "processors: 6, nodes: 2")
    assert addresses == ["head:6379"]


async def test_a_cluster_without_processors_is_refused_with_what_to_do(monkeypatch):
    connected(monkeypatch, node(0))
    probe = await ray.create(SETTINGS.sandbox).probe()
    assert (probe.ok, probe.detail) == (False, "no node of the cluster has a processor")
    assert "ray start" in probe.remedy


@pytest.mark.parametrize("remedy", ["Start one.", ""])
async def test_what_is_wrong_with_the_cluster_is_the_probes_detail(monkeypatch, remedy):
    def connect(_address):
        raise CannotVerifyError("No cluster.", remedy=remedy)

    monkeypatch.setattr(connection, "connect", connect)
    probe = await ray.create(SETTINGS.sandbox).probe()
    assert (probe.ok, probe.detail, probe.remedy) == (False, "No cluster.", remedy)
