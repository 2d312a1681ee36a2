"""A prompt names targets in the ways that people and editors write them; one that asks for nothing is recognised."""

from __future__ import annotations

import acp
import pytest

from greenloop.plugins.agents.acp.prompt import Wish, read_prompt, target_of


def read(text: str, *links: str) -> Wish | None:
    return read_prompt([acp.text_block(text), *(acp.resource_link_block("m", uri) for uri in links)])


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("fix tests/test_m.py::test_x", "tests/test_m.py::test_x"),
        ("/fix tests/test_m.py::TestA::test_x", "tests/test_m.py::TestA::test_x"),
        ("please make `tests/test_m.py::test_x[a b-1]` pass", "tests/test_m.py::test_x[a b-1]"),
        ("m.py::C.f", "m.py::C.f"),
        ("What is wrong in src/m.py:12?", "src/m.py:12"),
        ("fix test_x in @tests/test_m.py", "tests/test_m.py::test_x"),
        ("write `double` in m.py", "m.py::double"),
        ("write double() in m.py.", "m.py::double"),
        ("fix [@m.py](file:///p/my%20m.py#L3:9) please", "/p/my m.py:3"),
        ("fix tests/test_m.py", "tests/test_m.py"),
    ],
)
def test_a_target_is_found_in_the_text(text, target):
    assert read(text) == Wish(targets=(target,))


def test_several_targets_are_taken_in_order_and_once():
    wish = read("fix a.py::f, b.py::g and a.py::f")
    assert wish is not None
    assert wish.targets == ("a.py::f", "b.py::g")


@pytest.mark.parametrize("fragment", ["#L7", "#L7:9", "#L7-9", "#7"])
def test_a_mentioned_file_with_a_line_is_a_target(fragment):
    assert read("fix this ", f"file:///p/m.py{fragment}") == Wish(targets=("/p/m.py:7",))


def test_a_mentioned_file_completes_a_name_and_adds_nothing_to_a_target():
    assert read("fix test_x in ", "file:///p/test_m.py") == Wish(targets=("/p/test_m.py::test_x",))
    assert read("fix m.py::f ", "file:///p/other.py") == Wish(targets=("m.py::f",))


def test_the_open_file_that_an_editor_attaches_is_no_second_target():
    assert read("fix test_m.py", "file:///p/notebook.py") == Wish(targets=("test_m.py",))
    assert read("fix it", "file:///p/notebook.py") == Wish(targets=("/p/notebook.py",))
    assert read("fix test_m.py and ", "file:///p/m.py") == Wish(targets=("test_m.py", "/p/m.py"))


def test_an_embedded_file_is_a_mention():
    embedded = acp.resource_block(acp.embedded_text_resource("file:///p/m.py#L2", "text"))
    assert read_prompt([acp.text_block("fix "), embedded]) == Wish(targets=("/p/m.py:2",))


@pytest.mark.parametrize(
    ("text", "comment"),
    [
        ("fix m.py::f: negative numbers too", "negative numbers too"),
        ("fix `m.py::f`: faster, please", "faster, please"),
        ("fix m.py::f\nkeep it simple\nand short", "keep it simple\nand short"),
        ("fix m.py::f, please", ""),
    ],
)
def test_what_follows_a_colon_or_the_line_is_a_comment(text, comment):
    assert read(text) == Wish(targets=("m.py::f",), comment=comment)


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("improve m.py::f", "time"),
        ("/improve m.py::f", "time"),
        ("make m.py::f faster", "time"),
        ("improve m.py::f, it needs too much memory", "memory"),
        ("simplify m.py::f", "limits"),
        ("fix m.py::improve", None),
    ],
)
def test_a_goal_is_said_in_words(text, goal):
    wish = read(text)
    assert wish is not None
    assert wish.goal is goal


@pytest.mark.parametrize(
    "text", ["fix the failing tests", "/fix", "make all tests green", "Repair everything that is red"]
)
def test_all_failing_tests_can_be_asked_for(text):
    assert read(text) == Wish()


@pytest.mark.parametrize("text", ["", "hello", "what do the tests test?", "fix it", "see happy.python", "/improve"])
def test_a_prompt_that_asks_for_nothing_is_recognised(text):
    assert read(text) is None


@pytest.mark.parametrize("uri", ["https://x.org/m.py", "file:///p/readme.md", "", "file://[", "file:///p/%00.py"])
def test_other_resources_are_no_targets(uri):
    assert target_of(uri) == ""
