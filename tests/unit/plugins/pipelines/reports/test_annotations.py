"""Where an annotation belongs, and which ones come first."""

from __future__ import annotations

import pytest

from greenloop.plugins.pipelines.reports.annotations import Annotation, Level, by_severity, find_test

TEST = "class TestK:\n    def test_a(self):\n        pass\n\n\n@decorated\nasync def test_b():\n    pass\n"


@pytest.mark.parametrize(
    ("case", "line"),
    [
        ("t.py::TestK::test_a", 2),
        ("t.py::TestK::test_a[a::b]", 2),
        ("t.py::test_b[1]", 7),
        ("t.py::test_c", 0),
        ("t.py", 0),
        ("other.py::test_b", 0),
    ],
)
def test_a_test_is_found_by_its_id(tmp_path, case, line):
    (tmp_path / "t.py").write_text(TEST)
    assert find_test(tmp_path, case) == (case.partition("::")[0], line)


def test_the_order_is_kept_among_equals():
    levels = (Level.NOTE, Level.ERROR, Level.WARNING, Level.ERROR)
    annotations = [Annotation(rule="r", level=level, message=str(n)) for n, level in enumerate(levels)]
    assert [each.message for each in by_severity(annotations)] == ["1", "3", "2", "0"]
