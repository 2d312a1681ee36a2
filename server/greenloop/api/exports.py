"""Runs of the history as files for others."""

from __future__ import annotations

from greenloop.engine.history.export import export_run
from greenloop.engine.history.run_file import RunFile, format_run_file
