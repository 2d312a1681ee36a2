"""The engine for a caller that follows the events itself and may put a stand-in in its place: the language server."""

from __future__ import annotations

from greenloop.engine.after_run import reverify
from greenloop.engine.refine import RefineRequest, refine, warm
from greenloop.engine.testing.run_tests import prepare, run_tests
from greenloop.project.environment.faults import Fault
