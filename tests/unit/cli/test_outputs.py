"""Files that a command line writes, and forms that need nothing of a result."""

from __future__ import annotations

import pytest

from fake_engine import CASE, solved
from greenloop.cli.outputs import Fix, Output, check_writable, write_file
from greenloop.core.errors import UsageError, WorkspaceError


def test_a_form_may_leave_everything_out(project):
    output = Output()
    output.add(solved(project), project, applied=False)
    output.write_fixes([Fix(target=CASE, outcome=solved(project))], project, json=False)
    assert (output.holds_results, output.buffers) == (False, {})


def test_files_are_checked_before_anything_runs_and_links_are_not_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    for path in (tmp_path, tmp_path / "link", tmp_path / "no/such/file"):
        with pytest.raises(UsageError):
            check_writable(path, "--out FILE")
    with pytest.raises(WorkspaceError):
        write_file(tmp_path / "link", b"text")
    write_file(check_writable(tmp_path / "file", "--out FILE"), b"text")
    assert (tmp_path / "file").read_bytes() == b"text"
