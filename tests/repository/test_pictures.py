"""Pictures and pages of the documentation: each that a page names is there, each that is there is shown."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
MEDIA = [*ROOT.glob("docs/media/*"), *ROOT.glob("lab/docs/media/*")]
PAGES = [
    *(ROOT / name for name in ("README.md", "lab/README.md", "vscode-client/README.md")),
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("lab/docs/*.md")),
]
PICTURE = re.compile(r"!\[[^]]*\]\(([^)\s]+)\)")
LARGEST = 100_000  # bytes of one picture


def pictures(page: Path) -> list[Path]:
    return [(page.parent / target).resolve() for target in PICTURE.findall(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_picture_of_a_page_exists(page):
    assert [picture for picture in pictures(page) if not picture.is_file()] == []


def test_every_picture_of_a_terminal_is_shown_and_small():
    shown = {picture for page in PAGES for picture in pictures(page)}
    made = set(MEDIA)
    assert made
    assert made <= shown, "no page shows them"
    assert [picture.name for picture in made if picture.stat().st_size > LARGEST] == []


def test_the_start_page_is_shown_with_its_plugins():
    text = (ROOT / "docs/media/start.svg").read_text(encoding="utf-8").replace("&#160;", " ")
    assert "greenloop model pull" in text
    assert "greenloop setup " in text


@pytest.mark.parametrize("picture", sorted(MEDIA), ids=lambda picture: picture.name)
def test_a_picture_loads_nothing_from_elsewhere(picture):
    text = picture.read_text(encoding="utf-8")
    links = set(re.findall(r"https?://[^\"')\s<]+", text)) - {"http://www.w3.org/2000/svg", "https://www.textualize.io"}
    assert links == set()


@pytest.mark.parametrize("picture", sorted(MEDIA), ids=lambda picture: picture.name)
def test_a_moving_picture_stands_still_for_who_wants_that(picture):
    text = picture.read_text(encoding="utf-8")
    moves = set(re.findall(r"animation-name:(\w+)", text))
    assert moves == set(re.findall(r"@keyframes (\w+)", text))
    assert not moves or "prefers-reduced-motion: reduce" in text


def test_the_navigation_is_short_and_leads_to_pages_that_exist():
    """The index links to all others: test_documentation.py."""
    lines = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = re.findall(r"[\w-]+\.md", str(yaml.safe_load(lines)["nav"]))
    assert len(pages) <= 15
    assert {*pages} - {"vscode.md"} <= {page.name for page in ROOT.glob("docs/*.md")}
