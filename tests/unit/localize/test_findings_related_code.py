"""Functions that belong to a report though they are no suspects."""

from __future__ import annotations

import pytest

from greenloop.localize.findings import find_namesakes, find_nearest, find_used
from greenloop_sandbox import Frame
from greenloop_sandbox.report.inspections import InspectedFailure, Raised, ShownFrame

SERVER = """\
class Files:
    async def get(self, path):
        return await in_thread(self.look_up, path)

    def look_up(self, path):
        return normal(path)

    def other(self):
        pass


class Others:
    def look_up(self):
        pass


def in_thread(function, *arguments):
    return function(*arguments)


def normal(path):
    raise KeyError(path)


def delete_word_right(text):
    return text
"""
FILES = {"server.py": SERVER, "tests/test_server.py": "def test_get():\n    Files().get('x')\n"}


def frame(path, line, function):
    return ShownFrame(place=Frame(path=path, line=line, function=function), code="", values={})


def failed(*links):
    chain = tuple(Raised(type="E", message="", led="", frames=frames) for frames in links)
    return InspectedFailure(id="tests/test_server.py::test_get", when="call", chain=chain)


def names(regions):
    return [region.qualname for region in regions]


def test_the_innermost_functions_of_each_exception_of_a_chain():
    outer = (frame("tests/test_server.py", 2, "test_get"), frame("server.py", 3, "Files.get"))
    inner = (frame("server.py", 6, "Files.look_up"), frame("server.py", 21, "normal"), frame("/lib/x.py", 3, "x"))
    found = find_nearest([failed(inner, outer)], FILES.get, None)
    assert names(found) == ["Files.get", "normal", "Files.look_up"]
    assert find_nearest([failed()], FILES.get, None) == ()


def test_what_a_function_uses_of_its_class_and_file():
    (get,) = find_nearest([failed((frame("server.py", 3, "Files.get"),))], FILES.get, None)
    found = find_used([get], FILES.get)
    assert names(found) == ["in_thread", "Files.look_up"]
    assert set(found.values()) == {"used by `Files.get`"}
    assert all(region.qualname != "Others.look_up" for region in found)


@pytest.mark.parametrize(
    ("case", "found"),
    [
        ("tests/test_server.py::test_delete_word_right[a-b]", ["delete_word_right"]),
        ("tests/test_server.py::TestText::test_look_up", []),  # too short to say much
        ("tests/test_server.py::test_other", []),
    ],
)
def test_functions_that_a_test_is_named_after(case, found):
    assert names(find_namesakes([case], ["server.py", "gone.py"], FILES.get)) == found
