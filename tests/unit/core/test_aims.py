"""Aims for code that passes, as plugins register them."""

from __future__ import annotations

import pytest

from greenloop.core import aims
from greenloop.core.errors import SettingsError


def test_an_aim_has_words_and_a_requirement():
    aim = aims.find_aim("time")
    assert (aim.requirement, aim.words) == ("improve", "faster")
    assert aims.find_aim("") is aims.find_aim(None) is None


@pytest.mark.usefixtures("install")
def test_without_its_plugin_there_is_none():
    assert aims.choose_aims("def f(): pass  # TODO: faster", {}) == {}
    with pytest.raises(SettingsError, match="`time` is not installed"):
        aims.find_aim("time")
