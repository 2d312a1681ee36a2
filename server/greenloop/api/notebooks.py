"""Notebooks as texts: their cells, the module and tests that they make, and changes written back. Light: no parser."""

from __future__ import annotations

from greenloop.notebook.cell_labels import label_json, label_text
from greenloop.notebook.cell_source import LineKind, rows_of
from greenloop.notebook.layout import GAP_ROWS, Cell, Notebook, module_names, split_cells
from greenloop.notebook.module import compose, last_cell_run
from greenloop.notebook.write_back import write_back
