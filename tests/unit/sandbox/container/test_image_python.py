"""What the Python of an image says of itself."""

from __future__ import annotations

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop_sandbox.container import image_python
from image_facts import FACTS, answer


def test_platforms_are_the_newest_first_down_to_the_oldest():
    found = FACTS.platforms()
    assert (FACTS.version, FACTS.markers["python_full_version"]) == ("3.11", "3.11.2")
    assert found[0] == "manylinux_2_36_x86_64"
    assert [
        found.index(name) for name in ("manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64")
    ] == sorted(found.index(name) for name in ("manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"))
    assert found[-1] == "linux_x86_64"
    arm = image_python.parse(answer("aarch64"))
    assert "manylinux2014_aarch64" in arm.platforms()
    assert "manylinux1_aarch64" not in arm.platforms()
    assert image_python.parse(answer(libc=("", ""))).platforms() == ["linux_x86_64"]


@pytest.mark.parametrize("said", ["", "Traceback", "{}", '["3.11.2", "x86_64", "6", "1", 5]', "[1]"])
def test_a_python_that_does_not_say_what_it_is_is_one_sentence(said):
    with pytest.raises(CannotVerifyError, match="cannot be identified"):
        image_python.parse(said)
