"""Which related tests a change can affect, from records as a traced run sends them."""

from __future__ import annotations

import pytest

from greenloop.core.reach import Reach, changes_only_bodies, order_by_reach
from greenloop.core.records.spec import Region
from greenloop_sandbox import Execution

REGION = Region(path="pkg/m.py", qualname="f", start=10, end=20)
TARGET = "tests/test_m.py::test_target"


def hit(line=10, depth=1, path="pkg/m.py", name="f", caller=None):
    return {"path": path, "line": line, "name": name, "depth": depth, "caller": caller}


def trace(case, *hits, **more):
    return {"kind": "trace", "id": case, "functions": list(hits), **more}


def reach_of(*records):
    reach = Reach()
    reach.add(Execution(records=(trace(TARGET, hit()), *records)))
    return reach


def split(*records, cases=None, region=REGION):
    cases = cases or [record["id"] for record in records if record["kind"] == "trace"]
    return order_by_reach(cases, reach_of(*records), [region], [TARGET])


def test_the_nearest_come_first_and_what_reaches_nothing_is_not_affected():
    ordered, unaffected = split(
        trace("tests/test_z.py::none"),
        trace("tests/test_z.py::far", hit(depth=5)),
        trace("tests/test_z.py::near", hit(depth=1)),
        trace("tests/test_m.py::alike", hit(depth=1)),
        trace("pkg/test_beside.py::beside", hit(depth=1)),
    )
    assert [case.rpartition(":")[2] for case in ordered] == ["alike", "beside", "near", "far", "none"]
    assert unaffected == ("tests/test_z.py::none",)


@pytest.mark.parametrize(
    "record",
    [
        trace("t.py::a", blind=True),
        trace("t.py::a", also=[["pkg/m.py", 12]]),
        trace("t.py::a", hit(line=40, name="caller"), calls_of=[["pkg/m.py", 10, "pkg/m.py", 40]]),
    ],
    ids=["a process", "in its teardown", "a direct caller"],
)
def test_what_a_trace_only_hints_at_is_affected(record):
    assert split(record)[1] == ()


def test_a_case_that_was_never_traced_is_affected():
    assert split(trace("t.py::a"), cases=["t.py::a", "t.py::unknown"])[1] == ("t.py::a",)


def test_a_module_that_is_imported_late_is_not_taken_for_the_function_on_its_first_line():
    region = Region(path="pkg/n.py", qualname="g", start=1, end=3)
    reach = Reach()
    late = trace("t.py::a", hit(line=1, path="pkg/n.py", name="<module>"))
    reach.add(Execution(records=(trace(TARGET, hit(line=1, path="pkg/n.py", name="g")), late)))
    assert order_by_reach(["t.py::a"], reach, [region], [TARGET])[1] == ("t.py::a",)


def shared(scope, **more):
    return {"kind": "shared", "id": scope, **more}


def test_what_is_done_once_for_a_file_affects_its_cases_alone():
    cases = [trace("t.py::a"), trace("u.py::b")]
    assert split(*cases, shared("t.py", also=[["pkg/m.py", 10]]))[1] == ("u.py::b",)
    assert split(*cases, shared("t.py", blind=True))[1] == ("u.py::b",)


@pytest.mark.parametrize(
    "record",
    [
        shared("", also=[["pkg/m.py", 10]]),
        shared("", cached=[["pkg/m.py", 10]]),
        shared(
            "",
            cached=[["a.py", 5]],
            calls_of=[["pkg/m.py", 10, "b.py", 1], ["b.py", 1, "a.py", 5], ["a.py", 5, "b.py", 1]],
        ),
        shared("", blind=True),
    ],
    ids=["at import", "the function is cached", "a caller of a caller is cached", "a process for all"],
)
def test_what_is_shared_by_all_leaves_none_out(record):
    assert split(trace("t.py::a"), record)[1] == ()


def test_traces_are_not_relied_on_where_they_do_not_show_the_target_in_the_function():
    elsewhere = Region(path="pkg/m.py", qualname="g", start=30, end=31)
    created = Region(path="pkg/m.py", qualname="f", start=10, end=20, created=True)
    assert split(trace("t.py::a"), region=elsewhere)[1] == ()
    assert split(trace("t.py::a"), region=created)[1] == ()


BEFORE = "import os\n\n\nclass C:\n    def f(self, x=1):\n        '''Doc.'''\n        return x\n\n\ndef other():\n    return 1\n"
METHOD = Region(path="m.py", qualname="C.f", start=5, end=7)


@pytest.mark.parametrize(
    ("old", "new", "only"),
    [
        ("return x\n", "while x:\n            x -= 1\n        return x\n", True),
        ("return x\n", "y = [x for x in (1, 2)]\n        return y\n", True),
        ("x=1", "x=2", False),
        ("Doc.", "Other.", False),
        ("    def f", "    @property\n    def f", False),
        ("def f", "async def f", False),
        ("return x\n", "yield x\n", False),
        ("return x\n", "global os\n        os = x\n", False),
        ("import os", "import os, sys", False),
        ("return 1", "return 2", False),
        ("def other", "def helper():\n    pass\n\n\ndef other", False),
        ("return x\n", "return (\n", False),
    ],
)
def test_only_bodies(old, new, only):
    after = BEFORE.replace(old, new, 1)
    assert after != BEFORE
    assert changes_only_bodies({"m.py": BEFORE}, {"m.py": after}, [METHOD]) is only


def test_reading_a_text_does_not_change_the_trees_that_others_share():
    from greenloop.core.python.ast_source import dump_tree, parse_module

    before = dump_tree(parse_module(BEFORE))  # type: ignore[arg-type]
    assert changes_only_bodies({"m.py": BEFORE}, {"m.py": BEFORE.replace("return x", "return -x")}, [METHOD])
    assert dump_tree(parse_module(BEFORE)) == before  # type: ignore[arg-type]
