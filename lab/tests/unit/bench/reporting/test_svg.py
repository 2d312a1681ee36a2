"""Pictures as text."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from greenloop_lab.bench.reporting import svg


@pytest.mark.parametrize(
    ("highest", "count", "marks"),
    [
        (1, 8, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (24, 8, [0, 5, 10, 15, 20]),
        (0.03, 3, [0, 0.01, 0.02, 0.03]),
        (16_500, 8, [0, 5000, 10000, 15000]),
        (0, 8, [0]),
    ],
)
def test_marks_of_an_axis_are_round(highest, count, marks):
    assert list(svg.ticks(highest, count)) == pytest.approx(marks)


def test_words_are_escaped_and_a_picture_says_what_it_is():
    markup = svg.picture("p", 'a < "b"', "it & more", 10, 20, svg.text("<script>", 1.25, 2.0, "soft"))
    root = ET.fromstring(markup)
    space = "{http://www.w3.org/2000/svg}"
    assert root.get("aria-labelledby") == "p-title p-text"
    assert (root.find(f"{space}title").text, root.find(f"{space}desc").text) == ('a < "b"', "it & more")
    shown = root.find(f"{space}text")
    assert (shown.text, shown.get("y"), shown.get("class")) == ("<script>", "2", "soft")


def test_a_file_of_its_own_has_both_sets_of_colours():
    text = svg.standalone(svg.picture("p", "t", "d", 10, 10))
    ET.fromstring(text)
    assert svg.LIGHT[0] in text
    assert "@media (prefers-color-scheme:dark)" in text


def test_lines_of_neighbouring_arms_differ_in_colour_and_in_dashes():
    styles = [tuple(svg.stroke(n).values()) for n in range(16)]
    assert len(set(styles)) == 16
    assert all(styles[n][1] != styles[n + 1][1] for n in range(7))
