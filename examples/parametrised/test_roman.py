import pytest

from roman import roman


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "I"), (4, "IV"), (9, "IX"), (14, "XIV"), (40, "XL"), (90, "XC"), (1994, "MCMXCIV")],
)
def test_roman(number, text):
    assert roman(number) == text
