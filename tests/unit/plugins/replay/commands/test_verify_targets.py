"""Past runs as targets of `greenloop verify`; exported ones are in commands/test_export.py."""

from __future__ import annotations

import pytest

from greenloop.cli.main import main
from greenloop.core.errors import UsageError
from greenloop.plugins.replay.commands import verify_targets


def test_a_number_is_a_run_unless_it_is_a_file(tmp_path):
    assert verify_targets.run_number(["12"], tmp_path) == 12
    assert verify_targets.run_number(["run:12"], tmp_path) == 12
    assert verify_targets.run_number(["tests"], tmp_path) is None
    assert verify_targets.run_number(["test_m.py:12"], tmp_path) is None
    assert verify_targets.run_number([], tmp_path) is None
    (tmp_path / "12").mkdir()
    assert verify_targets.run_number(["12"], tmp_path) is None
    assert verify_targets.run_number(["run:12"], tmp_path) == 12
    with pytest.raises(UsageError, match="combined with other targets"):
        verify_targets.run_number(["tests", "run:12"], tmp_path)


def test_a_run_that_is_not_there_is_2(project, capsys):
    assert main(["verify", "run:99"]) == 2
    assert "no run 99" in capsys.readouterr().err


def test_a_run_without_a_basis_says_so(fake, capsys):
    main(["fix", "test_m.py::test_double"])
    assert main(["verify", "1"]) == 3
    assert "older greenloop" in capsys.readouterr().err


def test_a_run_goes_without_a_base(project):
    assert main(["verify", "1", "--base", "HEAD"]) == 2
