"""Why unwritten code cannot be filled, in a sentence with a remedy."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from greenloop.core.errors import CannotVerifyError
from greenloop.core.records.spec import Region
from greenloop.localize.unwritten import refuse_at_import, refuse_left_open, refuse_unreached
from greenloop_sandbox import Failure, Frame

CODE = """from abc import ABC, abstractmethod
from typing import Protocol


class Shape(ABC):
    @abstractmethod
    def area(self):
        raise NotImplementedError


class Square(Shape):
    def area(self):
        raise NotImplementedError


class Sized(Protocol):
    def size(self): ...


class Both(ABC):
    @abstractmethod
    def first(self): ...

    def second(self): ...


class Written:
    def size(self):
        return 1
"""


@pytest.mark.parametrize(
    ("name", "sentence", "remedy"),
    [
        ("Shape", "Each unwritten method of Shape is abstract or part of a protocol", "m.py::Square"),
        ("Shape.area", "Shape.area is abstract or part of a protocol", "m.py::Square"),
        ("Sized", "Each unwritten method of Sized is", "m.py::NAME"),
        ("Sized.size", "Sized.size is", "m.py::NAME"),
        ("Square", "", ""),
        ("Both", "", ""),  # one of its methods is to be written
        ("Written", "", ""),
    ],
)
def test_what_is_left_open_by_intent_is_no_target(name, sentence, remedy):
    region = Region(path="m.py", qualname=name, start=1, end=1)
    with pytest.raises(CannotVerifyError, match=sentence) if sentence else nullcontext() as caught:
        refuse_left_open(region, CODE)
    assert not caught or caught.value.remedy == f"Name a class that implements it: {remedy}."


@pytest.mark.parametrize(("name", "whole"), [("Square", "Square"), ("", "m.py")])
def test_what_no_test_reaches_is_named(name, whole):
    members = [Region(path="m.py", qualname="Square.area", start=11, end=12)]
    with pytest.raises(CannotVerifyError, match=f"No test reaches a function of {whole} that") as caught:
        refuse_unreached(Region(path="m.py", qualname=name, start=10, end=12), members)
    assert caught.value.remedy.endswith("m.py::Square.area.")


@pytest.mark.parametrize(("line", "is_refused"), [(13, True), (28, False), (1, False)])
def test_unwritten_code_that_an_import_runs_is_named(line, is_refused):
    frames = (Frame(path="test_m.py", line=1, function="<module>"), Frame(path="m.py", line=line, function="f"))
    failure = Failure(type="NotImplementedError", message="", frames=frames)
    with pytest.raises(CannotVerifyError, match=r"runs Square.area, .* \(m.py:12\)") if is_refused else nullcontext():
        refuse_at_import([failure], "test_m.py", {"m.py": CODE, "test_m.py": "import m\n"}.get, None)
