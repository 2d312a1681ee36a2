"""Targets in notebooks: finding them, the request for a run of one, and its outcome in cells. Loads the parser."""

from __future__ import annotations

from greenloop.notebook.adapter import NotebookTarget, adapt_settings, check_target, free_module_names, load, prepare
from greenloop.notebook.cell_targets import CellTarget, format_target, list_targets, parse_target, target_at
from greenloop.notebook.past_runs import prepare_from_run, recover_outcome, strip_line_numbers, target_title
