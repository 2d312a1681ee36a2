import pytest
from duration import minutes


@pytest.mark.parametrize(
    ("text", "number"), [("45m", 45), ("2h", 120), ("1h30m", 90), ("1d2h", 1560), ("", 0), ("-1h5m", -65)]
)
def test_minutes(text, number):
    assert minutes(text) == number
