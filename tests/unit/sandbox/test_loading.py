"""The package's page: names that are loaded when they are asked for, back ends by name."""

from __future__ import annotations

import sys

import pytest

import greenloop_sandbox
from greenloop_sandbox import CannotVerifyError, load_sandbox, own_environment


def test_every_name_of_the_page_exists():
    assert {name for name in greenloop_sandbox.__all__ if getattr(greenloop_sandbox, name) is None} == set()
    assert len(set(greenloop_sandbox.__all__)) == len(greenloop_sandbox.__all__)
    assert greenloop_sandbox._HOMES.keys() <= set(greenloop_sandbox.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        greenloop_sandbox.no_such_name  # noqa: B018


@pytest.mark.parametrize("kind", ["bubblewrap", "docker", "none"])
def test_a_back_end_has_the_name_that_it_is_loaded_by(kind):
    assert load_sandbox(kind).name == kind


async def test_no_isolation_needs_consent():
    assert not (await load_sandbox("none").probe()).ok
    assert (await load_sandbox("none", unsafe=True).probe()).ok


def test_an_unknown_back_end_is_refused():
    with pytest.raises(CannotVerifyError) as caught:
        load_sandbox("_mounts")
    assert caught.value.remedy == "Choose one of: bubblewrap, docker, none."


def test_the_own_environment_is_this_python():
    assert str(own_environment().executable) == sys.executable
