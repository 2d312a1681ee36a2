"""Annotations of GitHub: one command in a line, and nothing that a test says ends it or begins another."""

from __future__ import annotations

import pytest

from greenloop.plugins.pipelines.reports.annotations import Annotation, Level
from greenloop.plugins.pipelines.reports.github import command_lines


def lines(**values) -> list[str]:
    return [*command_lines([Annotation(**{"rule": "test-failed", "level": Level.ERROR, "message": "m", **values})])]


@pytest.mark.parametrize(
    ("level", "command"), [(Level.ERROR, "error"), (Level.WARNING, "warning"), (Level.NOTE, "notice")]
)
def test_each_level_has_its_command(level, command):
    assert lines(level=level, path="a.py", line=3) == [
        f"::{command} title=greenloop test-failed,file=a.py,line=3,endLine=3::m"
    ]


def test_without_a_line_or_a_path():
    assert lines(path="a.py") == ["::error title=greenloop test-failed,file=a.py::m"]
    assert lines(line=3) == ["::error title=greenloop test-failed::m"]


def test_a_message_cannot_begin_a_command_of_its_own():
    (line,) = lines(message="100%\n::set-output name=x::y\r\n::stop-commands::z")
    assert line == "::error title=greenloop test-failed::100%25%0A::set-output name=x::y%0A::stop-commands::z"


def test_a_path_cannot_add_a_property():
    (line,) = lines(path="a,line=1::x%\n.py", line=2)
    assert line == "::error title=greenloop test-failed,file=a%2Cline=1%3A%3Ax%25%0A.py,line=2,endLine=2::m"


def test_the_prefix_and_the_order():
    found = command_lines(
        [
            Annotation(rule="suspicious-line", level=Level.WARNING, message="w", path="b.py", line=1),
            Annotation(rule="tampered", level=Level.ERROR, message="e", path="a.py", line=1, end_line=4),
        ],
        "sub/",
    )
    assert [*found] == [
        "::error title=greenloop tampered,file=sub/a.py,line=1,endLine=4::e",
        "::warning title=greenloop suspicious-line,file=sub/b.py,line=1,endLine=1::w",
    ]
