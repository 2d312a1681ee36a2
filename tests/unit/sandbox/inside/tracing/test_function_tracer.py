"""Which calls of the workspace's functions are noted, by the events of a profiled thread."""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType

import pytest

from inside import load

tracing, display, gaps = load("function_tracer"), load("failure_display"), load("trace_gaps")
TEXT = "def outer(): pass\ndef inner(): pass\ndef other(): pass\n"


def code_of(path: str) -> dict[str, CodeType]:
    module = compile(TEXT, path, "exec")
    return {"<module>": module, **{each.co_name: each for each in module.co_consts if isinstance(each, CodeType)}}


INSIDE, OUTSIDE = code_of("/w/m.py"), code_of("/usr/lib/m.py")


@dataclass(eq=False)
class Frame:
    f_code: CodeType
    f_lineno: int = 1
    f_back: Frame | None = None


class Unread:
    """A frame whose code nobody looks at: every look is told to audit hooks, which makes tracing slow."""


@pytest.fixture
def tracer():
    tracer = tracing._Tracer("/w", lambda _record: None, display, gaps)
    tracer._is_own = True
    return tracer


def reached(tracer) -> dict[str, int]:
    return {each["name"]: each["depth"] for each in tracer._reached.values()}


def test_what_returns_is_recognised_without_its_code(tracer):
    tracer.profile(Unread(), "return", None)
    outer = Frame(INSIDE["outer"])
    tracer.profile(outer, "call", None)
    tracer.profile(Unread(), "return", None)
    tracer.profile(Frame(OUTSIDE["other"]), "call", None)
    tracer.profile(Frame(INSIDE["inner"]), "call", None)
    assert reached(tracer) == {"outer": 0, "inner": 1}


def test_what_has_returned_calls_no_more(tracer):
    outer, inner = Frame(INSIDE["outer"]), Frame(INSIDE["inner"])
    tracer.profile(outer, "call", None)
    tracer.profile(inner, "call", None)
    tracer.profile(outer, "return", None)  # the return of the inner one was not seen
    tracer.profile(inner, "return", None)
    tracer.profile(Frame(INSIDE["other"]), "call", None)
    assert reached(tracer) == {"outer": 0, "inner": 1, "other": 0}


def test_a_generator_that_goes_on_is_entered_again(tracer):
    generator = Frame(INSIDE["outer"])
    for _ in range(2):
        tracer.profile(generator, "call", None)
        tracer.profile(generator, "return", None)
    tracer.profile(generator, "call", None)
    tracer.profile(Frame(INSIDE["inner"]), "call", None)
    assert reached(tracer) == {"outer": 0, "inner": 1}


def test_imports_are_counted_until_they_end(tracer):
    module = Frame(INSIDE["<module>"])
    tracer.profile(module, "call", None)
    assert tracer.imports == 1
    tracer.profile(module, "return", None)
    assert tracer.imports == 0
