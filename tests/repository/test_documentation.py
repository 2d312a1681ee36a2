"""The pages name what exists: a path in backticks is a file or folder of the repository."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "vscode-client/src/README.md")),
    *(ROOT / name for name in ("server/greenloop/GLOSSARY.md", "sandbox/greenloop_sandbox/apart.md")),
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("lab/docs/*.md")),
    *sorted(ROOT.glob("server/greenloop/**/README.md")),
]
# A path with a folder and a suffix, or a folder with its last slash; `::test` may follow.
PATH = re.compile(r"`((?:[\w.-]+/)+(?:[\w.-]+\.(?:py|toml|txt|ts|mjs|md|json)|))(?:::[^`]*)?`")
# What a path may count from.
BASES = (ROOT, ROOT / "sandbox", ROOT / "server/greenloop", ROOT / "lab/greenloop_lab")
# Files of a user's project or configuration, and names that only look like a path.
FOREIGN = {
    "drafting/prompts/feedback/PART.txt",
    ".vscode-test/",
    ".vscode-test/failed/",
    "bench/scoring.py",
    "openai/",
    "pkg/m.py",
    "prompts/default/refine.txt",
    "prompts/feedback/explain.txt",
    "src/m.py",
    "tests/test_x.py",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_named_path_exists(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    named = {match[1] for match in PATH.finditer(text)} - FOREIGN
    assert [path for path in sorted(named) if not any((base / path).exists() for base in BASES)] == []


def test_every_page_is_in_the_index():
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", index))
    assert {page.name for page in ROOT.glob("docs/*.md")} - {"index.md"} == linked


def test_every_anchor_of_the_readme_exists():
    """The site checks its own pages; the README is not one of them."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for page, anchor in re.findall(r"\]\(([\w/.-]+\.md)#([\w-]+)\)", readme):
        headings = re.findall(r"^#+ (.*)$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}, page
