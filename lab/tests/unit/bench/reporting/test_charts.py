"""Charts: a picture and the same numbers as a table."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from greenloop_lab.bench.reporting import charts
from greenloop_lab.bench.reporting.curves import Curve, ErrorMatrix
from greenloop_lab.bench.reporting.figures import Pair

SVG = "{http://www.w3.org/2000/svg}"


def texts(chart) -> list[str]:
    return [each.text for each in ET.fromstring(chart.picture).iter(f"{SVG}text")]


def test_curves_are_steps_and_their_numbers_a_table():
    both = [
        Curve(arm="a", count=4, points=((0.0, 0), (1.0, 1), (2.0, 2), (4.0, 2))),
        Curve(arm="b", count=2, points=((0.0, 0), (2.0, 2))),
    ]
    chart = charts.draw_curves("by-attempt", "Solved", "attempts", "note", both)
    paths = [each.get("d") for each in ET.fromstring(chart.picture).iter(f"{SVG}path")]
    # A quarter of the width for one of four attempts; 0 % is at the bottom, and half of it after the second.
    assert paths[0] == "M56.0 312.0H217.0V238.0H378.0V164.0H700.0V164.0"
    assert paths[2].endswith("H378.0V16.0")
    assert chart.head == ["solved within attempts", "1", "2", "3", "4"]
    assert chart.rows == [["a", "1", "2", "2", "2"], ["b", "0", "2", "2", "2"]]
    assert {"a: 2 of 4 solved", "b: 2 of 2 solved", "100 %", "4"} <= set(texts(chart))


def test_an_arm_without_a_task_run_is_a_flat_line():
    chart = charts.draw_curves("c", "t", "tokens", "", [Curve(arm="a", count=0, points=((0.0, 0), (0.0, 0)))])
    assert "nan" not in chart.picture


def test_a_matrix_shows_each_number():
    matrix = ErrorMatrix(arm="a", columns=("1", "2"), rows={"right": (3, 0), "logic": (1, 2)})
    chart = charts.draw_errors("errors", "", matrix)
    assert texts(chart) == ["attempt", "1", "2", "right", "3", "·", "logic", "1", "2"]
    assert chart.rows == [["right", "3", "0"], ["logic", "1", "2"]]
    shades = [each.get("style") for each in ET.fromstring(chart.picture).iter(f"{SVG}rect")]
    assert shades == ["fill-opacity:0.39", "fill-opacity:0.04", "fill-opacity:0.15", "fill-opacity:0.50"]


def test_wins_and_losses_point_to_their_arms():
    long_name = "default:search=best_of_n,match=" + "x" * 40
    pairs = [Pair(one="a", other=long_name, count=10, only_one=6, only_other=0, both=3)]
    chart = charts.draw_pairs("wins", "Won", "", pairs, lambda arm: 0 if arm == "a" else 1)
    assert chart.rows == [["a", long_name, "10", "3", "6", "0", "1", "0.0312"]]
    bars = [float(each.get("width")) for each in ET.fromstring(chart.picture).iter(f"{SVG}rect")]
    assert bars == [260.0, 0.0]
    shown = texts(chart)
    assert "p = 0.031" in shown
    assert max(map(len, shown)) < 60
