"""Where a worker hung is read from what faulthandler printed, whatever the workspace is called."""

from __future__ import annotations

import faulthandler

import pytest

from greenloop_sandbox import Execution, Frame
from greenloop_sandbox.report.cases import last_stack


@pytest.mark.parametrize("folder", ["w", "w s#ü", "プロジェクト", "a🐍b"])
def test_the_stack_of_a_worker_that_hung(folder, tmp_path):
    root = f"/home/{folder}"
    names: dict = {"dump": faulthandler.dump_traceback}
    code = "def häng(file):\n    dump(file, all_threads=False)\n"
    exec(compile(code, f"{root}/m.py", "exec"), names)  # a text of this file
    with (tmp_path / "output").open("w+b") as file:
        names["häng"](file)
        file.seek(0)
        output = file.read().decode()
    execution = Execution(records=({"kind": "start", "seq": 0, "root": root},), output=output, killed="timeout")
    assert last_stack(execution) == (Frame(path="m.py", line=2, function="häng"),)
