"""The command that installs a package is the one of this distribution, as its os-release says."""

from __future__ import annotations

import re

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


def fields(text: str) -> dict[str, str]:
    """The fields of the text of an os-release."""
    return dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))


@pytest.mark.parametrize("name", RELEASES)
def test_the_remedy_is_the_distributions_own_command(name):
    text, command = RELEASES[name]
    remedy = _bwrap_binary._install_remedy(fields(text))
    assert f"`{command} bubblewrap`" in remedy
    assert remedy.count("bubblewrap`") == 1
    assert "AppArmor" not in remedy


def test_where_bubblewrap_is_missing_the_remedy_is_that_of_this_machine():
    with pytest.raises(CannotVerifyError, match="is not installed") as caught:
        _bwrap_binary.choose(())
    assert caught.value.remedy == _bwrap_binary._install_remedy()


@pytest.mark.parametrize("text", ["", "ID=plan9\n", "no fields at all"])
def test_an_unknown_system_gets_every_command(text):
    remedy = os_release.install_command("bubblewrap", fields(text))
    for command in ("apt install", "dnf install", "pacman -S", "apk add", "zypper install"):
        assert f"`{command} bubblewrap`" in remedy


def test_without_any_release_file():
    def read():
        raise OSError("Unable to read files /etc/os-release, /usr/lib/os-release")

    assert os_release.read_release(read) == {}
    assert not os_release.restricts_namespaces({})


def test_a_package_of_another_name():
    for name, command in (("Debian", "`apt install docker.io`"), ("Arch", "`pacman -S docker`")):
        assert os_release.install_command("docker", fields(RELEASES[name][0]), apt="docker.io") == command


@pytest.mark.parametrize(("version", "restricted"), [("22.04", False), ("24.04", True), ("26.04", True)])
def test_a_newer_ubuntu_needs_the_profile_too(version, restricted):
    remedy = _bwrap_binary._install_remedy(fields(f'ID=ubuntu\nID_LIKE=debian\nVERSION_ID="{version}"\n'))
    assert ("bwrap-userns-restrict" in remedy) is restricted
