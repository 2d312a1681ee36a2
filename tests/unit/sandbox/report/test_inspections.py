"""Inspected failures as records: the first phase that failed counts."""

from greenloop_sandbox import Execution
from greenloop_sandbox.report.inspections import inspected_failures
from greenloop_sandbox.report.schema import well_formed

FRAME = ["m.py", 3, "f", "return g()", [["x", "1"]]]
LINK = {"type": "KeyError", "message": "'a'", "led": "", "frames": [FRAME]}


def record(when, **about):
    return {"kind": "inspection", "id": "t.py::a", "when": when, "chain": [LINK], "values": [], "sections": [], **about}


def test_the_first_phase_counts():
    execution = Execution(records=(record("call", values=[["x", "1"]]), record("teardown")))
    (failure,) = inspected_failures(execution).values()
    assert (failure.when, failure.values) == ("call", (("x", "1"),))
    (frame,) = failure.chain[-1].frames
    assert (frame.place.path, frame.place.line, frame.place.function) == ("m.py", 3, "f")
    assert (frame.code, frame.values) == ("return g()", {"x": "1"})


def test_other_forms_are_forged():
    assert well_formed({**record("call"), "seq": 0})
    assert not well_formed({**record("call", chain=[{**LINK, "frames": [["m.py"]]}]), "seq": 0})
    assert not well_formed({**record("call", values=[["x"]]), "seq": 0})
