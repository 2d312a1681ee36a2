"""Reading: lines with their numbers, definitions, folders; whatever is asked, it is bounded."""

from __future__ import annotations

import pytest

from greenloop.plugins.conversations.looks import read
from greenloop.plugins.conversations.looks._project import LookError
from look_project import look_project

CODE = "import os\n\n\nclass Basket:\n    def add(self):\n        return 1\n\n    def drop(self):\n        return 2\n"
LONG = "".join(f"line {number}\n" for number in range(1, 1001))


@pytest.fixture
def look(tmp_path):
    files = {"m.py": CODE, "long.txt": LONG, "wide.txt": "x" * 5000 + "\n", "old.txt": "a\r\nb\r\n", "none.txt": ""}
    project, _asked = look_project(tmp_path, files)
    (tmp_path / "void").mkdir()

    async def run(**arguments):
        return await read.look(arguments, project)

    run.project = project
    run.root = tmp_path
    return run


@pytest.mark.parametrize(
    ("lines", "head", "first", "last"),
    [
        ("", "1-600 of 1000", "line 1", "line 600"),
        ("10-12", "10-12 of 1000", "line 10", "line 12"),
        ("lines 10 to 12", "10-12 of 1000", "line 10", "line 12"),
        ("998", "998-1000 of 1000", "line 998", "line 1000"),
        ("990-2000", "990-1000 of 1000", "line 990", "line 1000"),
        ("12-10", "12-12 of 1000", "line 12", "line 12"),
        ("0-2", "1-2 of 1000", "line 1", "line 2"),
        ("1-" + "9" * 5000, "1-600 of 1000", "line 1", "line 600"),
    ],
)
async def test_lines(look, lines, head, first, last):
    title, *rows = (await look(path="long.txt", lines=lines)).split("\n")
    assert title == f"long.txt, lines {head}:"
    assert (rows[0], rows[-1]) == (first, last)


async def test_lines_beyond_the_end(look):
    with pytest.raises(LookError, match="The file has 1000 lines"):
        await look(path="long.txt", lines="1001")


async def test_a_definition(look):
    assert (
        await look(path="m.py", symbol="Basket.drop") == "m.py, lines 8-9 of 9:\n    def drop(self):\n        return 2"
    )
    with pytest.raises(LookError, match="`m.py` defines no `Basket.take`"):
        await look(path="m.py", symbol="Basket.take")


async def test_other_line_ends_long_lines_and_empty_files(look):
    assert (await look(path="old.txt")).endswith("of 2:\na\nb")
    assert len(await look(path="wide.txt")) < 500
    assert (await look(path="none.txt")).startswith("none.txt, lines 1-")


async def test_folders(look):
    assert await look(path=".") == "the workspace has:\nlong.txt\nm.py\nnone.txt\nold.txt\nvoid/\nwide.txt"
    assert await look(path="void") == "void has:\nnothing"


async def test_a_folder_of_very_many_files_is_bounded(look):
    for number in range(300):
        (look.root / "void" / f"{number}.txt").touch()
    rows = (await look(path="void")).split("\n")
    assert len(rows) == read.MOST_ENTRIES + 2
    assert rows[-1] == "… 200 more"
