"""Unit tests: in this process alone, and quick (tests/support/unit_rules.py)."""

from __future__ import annotations

from fixed_machine import on_machine
from installed_packages import install
from unit_rules import parses, problem, pytest_runtest_call, pytest_runtest_setup

__all__ = ["install", "on_machine", "parses", "problem", "pytest_runtest_call", "pytest_runtest_setup"]
