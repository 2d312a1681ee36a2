"""Lets links between docs/ and the rest of the repository work in the site, too; mkdocs calls it (mkdocs.yml).

On a forge a page links to a file by its path. The site knows docs/ only, so that a few pages of other folders are
added to it and links to them are rewritten. A link to any other file of the repository becomes plain text.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
# Path in the repository -> path in the site.
ADDED = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "lab/README.md": "lab/index.md",
    "vscode-client/README.md": "vscode.md",
    **{f"vscode-client/media/{file.name}": f"media/{file.name}" for file in ROOT.glob("vscode-client/media/*.png")},
    **{f"lab/docs/{file.name}": f"lab/{file.name}" for file in ROOT.glob("lab/docs/*.md")},
    **{f"lab/docs/media/{file.name}": f"lab/media/{file.name}" for file in ROOT.glob("lab/docs/media/*.svg")},
}
REPLACED = {"README.md": "index.md"}
LINK = re.compile(r"(?P<text>!?\[[^]]*\])\((?P<target>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Adds the pages and pictures that lie outside of docs/."""
    for source, target in ADDED.items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / source)))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 mkdocs names them
    """The page with links as the site needs them."""
    here = page.file.src_uri
    source = next((path for path, target in ADDED.items() if target == here), f"docs/{here}")

    def rewrite_link(link: re.Match[str]) -> str:
        target, anchor = link["target"], link["anchor"] or ""
        if not target or ":" in target:
            return link[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        site = ADDED.get(path) or REPLACED.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else "")
        if site:
            return f"{link['text']}({posixpath.relpath(site, posixpath.dirname(here) or '.')}{anchor})"
        # mkdocs reports what does not exist at all.
        return link["text"].strip("![]") if (ROOT / path).exists() and os.fspath(path) else link[0]

    return LINK.sub(rewrite_link, markdown)
