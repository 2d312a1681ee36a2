"""The report as a page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from greenloop.core.errors import UsageError
from greenloop_lab.bench.reporting import page
from greenloop_lab.bench.results import BROKEN

broken = frozenset(BROKEN)
EMPTY = {"meta", "line", "rect", "path"}


class Reader(HTMLParser):
    """Every element is closed; collects the tables and what would be loaded from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.names: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.addresses += [value for key, value in attrs if key in {"src", "href"}]
        if tag not in EMPTY:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.names.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in {"td", "th"}:
            self.rows[-1][-1] += data


def test_the_page_has_the_figures_and_a_table_for_each_picture_and_loads_nothing(six):
    reader = Reader()
    text = page.format_page(six, broken)
    reader.feed(text)
    assert reader.open == []
    assert reader.addresses == []
    assert "script" not in reader.names
    assert not re.search(r"url\(|@import", text)
    assert reader.names.count("svg") == reader.names.count("figure") == reader.names.count("details") == 6
    assert ["solved", "2 (50 %)", "1 (50 %)"] in reader.rows
    assert ["a", "1", "2", "2"] in reader.rows
    assert ["a", "b", "2", "1", "1", "0", "0", "1.0000"] in reader.rows
    assert "prefers-color-scheme:dark" in text


def test_ids_of_a_page_are_unique_and_words_of_results_are_no_markup(make):
    done = [make(arm, "1", ("", True), model="<b>m</b>") for arm in ("a<i>", "b&c")]
    text = page.format_page(done, broken)
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert "<i>" not in text
    assert "<b>" not in text
    assert "b&amp;c" in text


def test_each_chart_is_a_file(six, tmp_path):
    files = page.write_pictures(tmp_path / "new" / "folder", six, broken)
    assert [file.name for file in files] == [
        "by-attempt.svg", "by-tokens.svg", "by-seconds.svg", "wins.svg", "errors-1.svg", "errors-2.svg",
    ]  # fmt: skip
    for file in files:
        ET.fromstring(file.read_text())


def test_what_cannot_be_shown_or_written_is_one_sentence(six, make, tmp_path):
    with pytest.raises(UsageError, match="No task-run is finished yet"):
        page.format_page([make("a", "1", reason="model")], broken)
    with pytest.raises(UsageError, match="cannot be written"):
        page.write_page(tmp_path / "no" / "page.html", six, broken)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        page.write_pictures(tmp_path / "file", six, broken)
