"""The names of images, and their pytest."""

from __future__ import annotations

import tarfile

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox.container import image
from greenloop_sandbox.container.build_container import write_archive


@pytest.mark.parametrize(
    ("version", "pytest_version"), [((3, 9), "8.4.2"), ((3, 10), "9.2.0"), ((3, 11), "9.2.0"), ((3, 14), "9.2.0")]
)
def test_each_python_has_a_pinned_pytest(version, pytest_version):
    assert image.python_image_name(version).startswith(
        f"greenloop-python:{version[0]}.{version[1]}-pytest{pytest_version}-"
    )
    pins = [line for line in image._pytest_pins(version).splitlines() if not line.startswith("#")]
    assert all("--hash=sha256:" in line and "==" in line for line in pins)


def test_python_before_3_9_is_refused():
    with pytest.raises(CannotVerifyError, match="too old"):
        image._pytest_pins((3, 8))


class NoPip:
    def fetch(self, _folder, _requirements, *_options):
        raise CannotVerifyError("No module named pip")


def test_without_pip_the_pytest_beside_greenloop_goes_into_the_image(tmp_path):
    files = image.pytest_packages(NoPip(), (3, 12), tmp_path)
    assert {"pytest", "_pytest", "py.py", "pluggy"} <= set(files)
    assert any("dist-info" in name for name in files)
    with pytest.raises(CannotVerifyError, match="No module named pip"):
        image.pytest_packages(NoPip(), (3, 10), tmp_path)


def test_an_archive_belongs_to_root_and_can_be_read_by_all(tmp_path):
    (tmp_path / "pip" / "__pycache__").mkdir(parents=True)
    (tmp_path / "pip" / "main.py").write_text("")
    (tmp_path / "pip" / "main.py").chmod(0o600)
    write_archive(tmp_path / "layer.tar", {"a/pip": tmp_path / "pip"})
    with tarfile.open(tmp_path / "layer.tar") as tar:
        assert tar.getnames() == ["tmp", "a/pip", "a/pip/main.py"]
        assert {(member.uid, member.gid) for member in tar} == {(0, 0)}
        assert [member.mode for member in tar] == [0o1777, 0o755, 0o644]
