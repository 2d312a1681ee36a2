import pytest
from versions import older


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("1.0", "1.1", True),
        ("1.10", "1.9", False),
        ("1.0", "1.0.0", False),
        ("1.0.0", "1.0", False),
        ("1.0-rc.2", "1.0", True),
        ("1.0-rc.2", "1.0-rc.10", True),
        ("1.0-beta", "1.0-rc", True),
        ("1.0", "1.0-rc.1", False),
    ],
)
def test_older(a, b, expected):
    assert older(a, b) is expected
