"""The names of the plugin's parts, which attack programs look for."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", ["_make_sender", "CollectionRecorder", "RunRecorder", "SessionReporter"])
def test_attacks_look_for_names_that_the_plugin_has(name):
    attacks = "".join(path.read_text(encoding="utf-8") for path in (TESTS / "sandbox" / "attacks").glob("fakes_*.py"))
    plugin = (TESTS.parent / "sandbox" / "greenloop_sandbox" / "inside" / "plugin.py").read_text(encoding="utf-8")
    assert name in attacks
    assert name in plugin
