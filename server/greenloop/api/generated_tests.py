"""The tests that are made from docstrings: where the user edits them, and what the user decided about them."""

from __future__ import annotations

from pathlib import Path

from greenloop.core.records.spec import Region, Spec
from greenloop.project import sources
from greenloop.specs import stored_tests
from greenloop.specs.edited_tests import stored_path
from greenloop.specs.stored_tests import StoredTests, load, struck_lines


def store(root: Path, region: Region, text: str, spec: Spec) -> Path:
    """Stores a run's generated tests for a function of this text, unless they are stored; returns their file."""
    stored = stored_tests.load(root, region, text)
    return stored_tests.save(stored, spec, sources.import_name_in_tests(region.path, root)).path
