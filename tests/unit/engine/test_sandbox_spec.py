"""The place where tests run, with services that a plugin finds."""

from __future__ import annotations

import pytest

from greenloop.core.errors import SettingsError
from greenloop.engine import sandbox_spec


def test_without_a_plugin_that_finds_services_a_wanted_one_is_an_error(install, tmp_path):
    assert sandbox_spec._find_services(tmp_path, []) == ((), {})
    with pytest.raises(SettingsError, match="names postgres, and nothing that finds services is installed"):
        sandbox_spec._find_services(tmp_path, ["postgres"])
