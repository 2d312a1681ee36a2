#!/usr/bin/env python3
"""Takes pictures of the site's front page (light, dark, narrow) and of the README as it is rendered, to look at them.

    scripts/page_pictures.py FOLDER      front-light.png, front-dark.png, front-narrow.png, readme.png

Needs `chromium` on the PATH (or CHROMIUM).
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import markdown
from docs_tables import ROOT, QuietHandler, QuietServer

LIGHT, DARK = 1, 0  # as Chromium counts them
STYLE = """body { font: 16px/1.5 system-ui, sans-serif; max-width: 832px; margin: 24px auto; padding: 0 32px }
img { max-width: 100% } pre, code { background: #f6f8fa; font-size: 85% } pre { padding: 16px; overflow: auto }
table { border-collapse: collapse } td, th { border: 1px solid #d1d9e0; padding: 6px 13px }
h1, h2 { border-bottom: 1px solid #d1d9e0; padding-bottom: .3em } a { color: #0969da; text-decoration: none }"""


def render_readme(site: Path) -> None:
    """Writes the README as a page of the site, with its pictures."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    body = markdown.markdown(text, extensions=["tables", "fenced_code", "sane_lists"])
    (site / "readme.html").write_text(f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>{body}", "utf-8")
    (site / "docs").symlink_to(ROOT / "docs")


def take(address: str, file: Path, width: int, height: int, scheme: int) -> None:
    """Takes one picture."""
    with tempfile.TemporaryDirectory() as profile:
        command = [os.environ.get("CHROMIUM", "chromium"), "--headless=new", "--no-sandbox", "--disable-gpu"]
        command += [f"--user-data-dir={profile}", f"--window-size={width},{height}", "--hide-scrollbars"]
        command += [f"--blink-settings=preferredColorScheme={scheme}", "--virtual-time-budget=2000"]
        subprocess.run([*command, f"--screenshot={file}", address], check=True, capture_output=True, timeout=120)


def main() -> None:
    """Builds the site and takes the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        site = Path(place)
        subprocess.run([ROOT / "scripts/docs", Path(sys.executable).parent, site], cwd=ROOT, check=True)
        render_readme(site)
        handler = functools.partial(QuietHandler, directory=place)
        with QuietServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            base = f"http://127.0.0.1:{server.server_port}"
            take(f"{base}/index.html", folder / "front-light.png", 1280, 900, LIGHT)
            take(f"{base}/index.html", folder / "front-dark.png", 1280, 900, DARK)
            take(f"{base}/index.html", folder / "front-narrow.png", 500, 1200, LIGHT)
            take(f"{base}/readme.html", folder / "readme.png", 1012, 2300, LIGHT)
            server.shutdown()


if __name__ == "__main__":
    main()
