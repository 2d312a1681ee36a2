import pytest
from justify import justify


@pytest.mark.parametrize(
    ("words", "width", "lines"),
    [
        ([], 5, []),
        (["a"], 3, ["a  "]),
        (["ab", "c"], 5, ["ab c "]),
        (["ab", "cd", "ef"], 7, ["ab   cd", "ef     "]),
        (["a", "b", "c", "ddddddd"], 8, ["a   b  c", "ddddddd "]),
        (["aaaaaa", "b"], 6, ["aaaaaa", "b     "]),
    ],
)
def test_justify(words, width, lines):
    assert justify(words, width) == lines
