"""The registered change maker: found by its entry point, and its changes come in order."""

from __future__ import annotations

from pathlib import Path

from greenloop.core import entry_points
from greenloop.core.compose import compose
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.drafting.candidates.changes.mutate import Stage, mutants
from greenloop.plugins.repairs import makers

SOURCE = "def f(items):\n    total = 0\n    for item in items:\n        total += item\n    return {}\n"


def problem(text: str, **region) -> Problem:
    place = Region(path="m.py", **{"qualname": "f", "start": 1, "end": 5, **region})
    return Problem(root=Path("/w"), spec=Spec(), regions=(place,), originals={"m.py": text}, files={"m.py": text})


def test_greenloop_registers_it():
    assert makers in entry_points.load_all(entry_points.CHANGE_MAKERS)


def test_a_name_that_nobody_knows_is_corrected_first(failing):
    attempt = failing(("name 'totl' is not defined. Did you mean: 'total'?", None, None), kind="NameError")
    first = next(mutants(problem(SOURCE.format("totl")), attempt, Stage.SLIPS))
    assert compose(problem(SOURCE.format("totl")), first) == {"m.py": SOURCE.format("total")}


def test_changes_of_files_come_before_those_of_a_text(failing):
    text = "class C:\n    x = []\n\n    def f(self, y=[]):\n        return y\n"
    shared = problem(text, qualname="C.x", start=2, end=2, assigns=True)
    (found,) = makers.change_files(shared, shared.regions[0], failing())
    assert "self.x = []" in compose(shared, found)["m.py"]
    assert next(mutants(shared, failing(), Stage.SLIPS)) == found
