"""The stored tests of a docstring."""

from __future__ import annotations

from greenloop.core.generated_tests import Check, build_test_file
from greenloop.core.records.spec import Case, Provenance, Region, Spec

REGION = Region(path="m.py", qualname="double", start=1, end=2)


def make_spec() -> Spec:
    bodies = ("assert double(2) == 4", "assert double(0) == 1")
    designed = [Check(body=body, line=1, provenance=Provenance.DESIGNED) for body in bodies]
    doctest = Case(id="m.py::double::doctest-1", path="m.py", line=2, provenance=Provenance.DOCTEST)
    doubts = ("The docstring does not say what double(None) is.",)
    return Spec(cases=(doctest,), selectors=("doctest:m.py::double",), doubts=doubts) + build_test_file(
        REGION, "m", "designed", designed
    )
