"""Runs tests over the user's own code, finds those that fail, and explains them. No candidate is judged."""

from __future__ import annotations

from greenloop.engine.target_adapters import find_others
from greenloop.engine.testing.explain import Explanation, explain
from greenloop.engine.testing.failing_tests import list_failing_tests, list_test_files
from greenloop.engine.testing.run_tests import Regressions, SuiteReport, find_regressions, prepare, run_tests
