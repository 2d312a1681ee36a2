"""Self-tests of an image."""

from __future__ import annotations

import json

from greenloop_sandbox import Execution
from greenloop_sandbox.backends._container_check import find_problem


def test_a_self_test_that_ran_nothing_is_no_success():
    assert "stopped early" in find_problem(Execution(status=0))
    failing = {
        "kind": "phase",
        "id": "t.py::test_has_no_network",
        "when": "setup",
        "outcome": "failed",
        "message": "eth0",
    }
    begun, ended = {"kind": "begin", "id": failing["id"]}, {"kind": "finished", "status": 1}
    execution = Execution(status=1, records=(begun, json.loads(json.dumps(failing)), ended))
    assert find_problem(execution) == "test_has_no_network: eth0"
