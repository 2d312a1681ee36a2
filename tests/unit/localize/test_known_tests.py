"""What earlier runs have shown of tests, where somebody remembers it."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.localize.known_tests import read_known_tests
from greenloop_sandbox import Environment, SandboxSpec

PLACE = SandboxSpec(
    root=Path("/w"),
    environment=Environment(
        executable=Path("/usr/bin/python3"),
        prefix=Path("/usr"),
        base=Path("/usr"),
        version=(3, 11),
        source="PATH",
        has_pytest=True,
    ),
)


@pytest.mark.usefixtures("install")
def test_without_a_plugin_nothing_is_known():
    assert read_known_tests(PLACE, {}) is None


def test_the_plugin_reads_what_it_has_of_the_workspace():
    known = read_known_tests(PLACE, {})
    assert known is not None
    assert known.choose(["test_m.py"], (), 1.0) == (["test_m.py"], [])
