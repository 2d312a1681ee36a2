"""The pytest of an image."""

from __future__ import annotations

import tarfile

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox.container import image, pytest_wheels


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


def test_without_pip_the_pytest_beside_greenloop_goes_into_the_image(tmp_path):
    def no_pip(_arguments: list[str], _seconds: float) -> str:
        raise CannotVerifyError("No module named pip")

    layer = tmp_path / "layer.tar"
    pytest_wheels.write_layer(layer, (3, 12), no_pip)
    with tarfile.open(layer) as tar:
        names = set(tar.getnames())
        assert tar.getmember("tmp").mode == 0o1777
    assert {
        f"{pytest_wheels.PACKAGES}/{name}" for name in ("pytest/__init__.py", "py.py", "pluggy/__init__.py")
    } <= names
    assert any("dist-info" in name for name in names)
    with pytest.raises(CannotVerifyError, match="No module named pip"):
        pytest_wheels.write_layer(layer, (3, 10), no_pip)
