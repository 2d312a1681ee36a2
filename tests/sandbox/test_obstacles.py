"""Each obstacle of a first run ends in the sentence that docs/troubleshooting.md promises."""

import re
from pathlib import Path

import pytest

from obstacles import OBSTACLES, make_table, missing_part, run_obstacle

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(300)]

PAGE = Path(__file__).parents[2] / "docs" / "troubleshooting.md"


def without_versions(text: str) -> str:
    return re.sub(r"\d+(\.\d+)+", "N", text)


@pytest.mark.parametrize("name", OBSTACLES)
def test_the_sentence_is_that_of_the_page(name, tmp_path):
    obstacle = OBSTACLES[name]
    if missing := missing_part(obstacle):
        pytest.skip(missing)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)  # tests of root run as somebody else
    code, sentence = run_obstacle(obstacle, tmp_path)
    row = make_table({name: sentence}).splitlines()[-1]
    assert without_versions(row) in without_versions(PAGE.read_text(encoding="utf-8"))
    assert (code == 0) is obstacle.solved
