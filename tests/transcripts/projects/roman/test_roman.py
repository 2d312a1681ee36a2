import pytest
from roman import number


@pytest.mark.parametrize(
    ("text", "value"),
    [("III", 3), ("XIV", 14), ("MCMXC", 1990), ("IIII", None), ("IC", None), ("VX", None), ("", None)],
)
def test_number(text, value):
    if value is None:
        with pytest.raises(ValueError):
            number(text)
    else:
        assert number(text) == value
