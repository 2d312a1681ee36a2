"""What a service needs before it is started; tests/sandbox/test_services.py starts real ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from greenloop_sandbox import CannotVerifyError, SandboxSpec, Service, own_environment
from greenloop_sandbox.backends._services import SERVERS, find_program, refuse

REDIS = Service(kind="redis", port=6379)


def test_a_server_that_is_not_installed_is_named_with_its_package(tmp_path):
    server = replace(SERVERS["redis"], folders=(str(tmp_path),))
    with pytest.raises(CannotVerifyError, match="Redis is not installed, and `sandbox.services` names it") as raised:
        find_program(server)
    assert "apt-get install redis-server" in raised.value.remedy


def test_the_newest_of_several_versions_is_taken(tmp_path):
    for version in ("9", "16", "15"):
        folder = tmp_path / version / "bin"
        folder.mkdir(parents=True)
        (folder / "postgres").touch()
    server = replace(SERVERS["postgres"], folders=(f"{tmp_path}/*/bin",))
    assert find_program(server) == tmp_path / "16" / "bin" / "postgres"


def test_a_back_end_without_services_says_so_where_some_are_wanted(tmp_path):
    spec = SandboxSpec(root=tmp_path, environment=own_environment())
    refuse(spec, "containers")
    with pytest.raises(CannotVerifyError, match="`sandbox.services` does not work with containers") as raised:
        refuse(replace(spec, services=(REDIS,)), "containers")
    assert 'sandbox.kind = "bubblewrap"' in raised.value.remedy
