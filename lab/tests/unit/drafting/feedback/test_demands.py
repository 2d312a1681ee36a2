"""Demands of a docstring."""

from __future__ import annotations

from greenloop_lab.drafting.feedback._demands import list_demands


def test_sections_and_fields_demand_too_and_examples_do_not():
    assert list_demands(
        "Add.\n\n    :returns: the sum\n    :raises ValueError: if x is negative\n\n    >>> add(1)\n    must\n"
    ) == ("returns the sum", "raises ValueError: if x is negative")
    numpy = "Add.\n\n    Returns\n    -------\n    int\n        The sum.\n\n    Raises\n    ------\n    KeyError\n        If gone.\n"
    assert list_demands(numpy) == ("returns The sum", "raises KeyError: If gone")
    assert len(list_demands("It must. " * 50_000)) == 1
    assert len(list_demands(" ".join(f"It must do {n}." for n in range(99)))) == 12
    assert list_demands("") == ()
