import pytest
from runs import runs


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([], ""),
        ([3], "3"),
        ([1, 2], "1,2"),
        ([1, 2, 3], "1-3"),
        ([1, 3, 4, 5, 9], "1,3-5,9"),
        ([1, 2, 4, 5, 6], "1,2,4-6"),
    ],
)
def test_runs(numbers, text):
    assert runs(numbers) == text
