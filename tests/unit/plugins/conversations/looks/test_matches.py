"""Searching: lines with their places, source files first, and never more than there is room for."""

from __future__ import annotations

import pytest

from greenloop.plugins.conversations.looks import _line_search, _matches, references, search
from greenloop.plugins.conversations.looks._project import LookError
from look_project import look_project

FILES = {
    "a.txt": "rates = 1\n",
    "shop/core.py": "from m import rates\r\n\r\nprint(rates, 'x.y')\r\n",
    "shop/other.py": "rates_of = 2\n",
    "picture.png": b"\x89PNG\xff\x00rates",
    ".env": "rates\n",
}


@pytest.fixture
def project(tmp_path):
    return look_project(tmp_path, FILES, changed={"shop/new.py": "rates()\n"})[0]


async def test_a_text_in_all_files(project):
    assert await search.look({"text": "rates"}, project) == (
        "shop/core.py:1: from m import rates\nshop/core.py:3: print(rates, 'x.y')\n"
        "shop/new.py:1: rates()\nshop/other.py:1: rates_of = 2\na.txt:1: rates = 1"
    )


async def test_a_text_is_no_pattern_and_files_may_be_chosen(project):
    assert await search.look({"text": "x.y"}, project) == "shop/core.py:3: print(rates, 'x.y')"
    assert await search.look({"text": "rates", "files": "*.txt"}, project) == "a.txt:1: rates = 1"
    assert await search.look({"text": "rates", "files": None}, project) == await search.look({"text": "rates"}, project)
    assert await search.look({"text": "nothing"}, project) == "`nothing` is in no file."


async def test_a_text_of_several_lines_is_refused(project):
    with pytest.raises(LookError, match="a part of one line"):
        await search.look({"text": "a\nb"}, project)


async def test_uses_of_a_name_are_words_in_python_files(project):
    found = await references.look({"symbol": "Shop.rates()"}, project)
    assert [row.partition(": ")[0] for row in found.split("\n")] == [
        "shop/core.py:1",
        "shop/core.py:3",
        "shop/new.py:1",
    ]


@pytest.mark.parametrize("symbol", ["Basket.", ".", "a b", "x-y", "()"])
async def test_what_is_no_name_is_refused(project, symbol):
    with pytest.raises(LookError, match="is not a name"):
        await references.look({"symbol": symbol}, project)


async def test_many_lines_are_counted_and_long_ones_cut(tmp_path):
    project, _asked = look_project(tmp_path, {"m.py": f"{'x' * 1000}\n" * 500})
    found = (await search.look({"text": "x"}, project)).split("\n")
    assert len(found) == _line_search.MOST + 1
    assert found[-1] == f"… {500 - _line_search.MOST} more lines"
    assert max(map(len, found)) < 200


def test_the_search_ends_where_there_is_no_more_room(tmp_path):
    files = {f"m{number}.py": "rates\n" for number in range(9)}
    project, _asked = look_project(tmp_path, files)
    assert len(list(_matches._texts(project, files, room=20))) == 3


def test_files_are_not_kept(project):
    list(_matches._texts(project, FILES))
    assert project.snapshot._seen == {}
