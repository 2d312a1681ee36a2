"""The command that installs a package is the one of this distribution, as its os-release says."""

from __future__ import annotations

import platform

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox import os_release
from greenloop_sandbox.backends import _bwrap_binary

RELEASES = {
    "Debian": ('PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nID=debian\n', "apt install"),
    "Ubuntu": ('NAME="Ubuntu"\nVERSION_ID="22.04"\nID=ubuntu\nID_LIKE=debian\n', "apt install"),
    "Mint": ('NAME="Linux Mint"\nVERSION_ID="21.3"\nID=linuxmint\nID_LIKE="ubuntu debian"\n', "apt install"),
    "Fedora": ('NAME="Fedora Linux"\nVERSION_ID=40\nID=fedora\n', "dnf install"),
    "Rocky": ('NAME="Rocky Linux"\nID="rocky"\nID_LIKE="rhel centos fedora"\n', "dnf install"),
    "Arch": ('NAME="Arch Linux"\nID=arch\nBUILD_ID=rolling\n', "pacman -S"),
    "Manjaro": ("NAME='Manjaro Linux'\nID=manjaro\nID_LIKE=arch\n", "pacman -S"),
    "Alpine": ('NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.20.0\n', "apk add"),
    "openSUSE": ('NAME="openSUSE Leap"\nID="opensuse-leap"\nID_LIKE="suse opensuse"\n', "zypper install"),
    "Tumbleweed": ('ID="opensuse-tumbleweed"\n', "zypper install"),
}


@pytest.fixture
def release(tmp_path, monkeypatch):
    def write(text: str) -> None:
        (tmp_path / "os-release").write_text(text)
        monkeypatch.setattr(platform, "_os_release_cache", None)
        monkeypatch.setattr(platform, "_os_release_candidates", (tmp_path / "missing", tmp_path / "os-release"))

    return write


@pytest.mark.parametrize("name", RELEASES)
def test_the_remedy_is_the_distributions_own_command(release, name):
    text, command = RELEASES[name]
    release(text)
    with pytest.raises(CannotVerifyError) as caught:
        _bwrap_binary.choose(())
    assert f"`{command} bubblewrap`" in caught.value.remedy
    assert caught.value.remedy.count("bubblewrap`") == 1
    assert "AppArmor" not in caught.value.remedy


@pytest.mark.parametrize("text", ["", "ID=plan9\n", "no fields at all"])
def test_an_unknown_system_gets_every_command(release, text):
    release(text)
    remedy = os_release.install_command("bubblewrap")
    for command in ("apt install", "dnf install", "pacman -S", "apk add", "zypper install"):
        assert f"`{command} bubblewrap`" in remedy


def test_without_any_release_file(monkeypatch, tmp_path):
    monkeypatch.setattr(platform, "_os_release_cache", None)
    monkeypatch.setattr(platform, "_os_release_candidates", (str(tmp_path / "none"),))
    assert os_release.read_release() == {}
    assert not os_release.restricts_namespaces()


def test_a_package_of_another_name(release):
    release(RELEASES["Debian"][0])
    assert os_release.install_command("docker", apt="docker.io") == "`apt install docker.io`"
    release(RELEASES["Arch"][0])
    assert os_release.install_command("docker", apt="docker.io") == "`pacman -S docker`"


@pytest.mark.parametrize(("version", "restricted"), [("22.04", False), ("24.04", True), ("26.04", True)])
def test_a_newer_ubuntu_needs_the_profile_too(release, version, restricted):
    release(f'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="{version}"\n')
    with pytest.raises(CannotVerifyError) as caught:
        _bwrap_binary.choose(())
    assert ("bwrap-userns-restrict" in caught.value.remedy) is restricted
