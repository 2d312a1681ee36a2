"""What a traceback says of functions."""

from __future__ import annotations

from greenloop.localize import signals
from suspects import by_name, evidence


def test_who_raised_is_most_suspicious_then_who_called_it():
    found = by_name(signals.traceback(evidence(("test_m.py", 7), ("m.py", 3), ("m.py", 10))))
    assert found == {"split": 1.0, "parse_duration": 0.5}
