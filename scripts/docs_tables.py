#!/usr/bin/env python3
"""Counts what does not fit on the pages of the documentation's site, in Chromium; the exit code is 1 if anything does.

    scripts/docs_tables.py [SITE]      a folder that scripts/docs has built; without it the site is built

Every page is laid out 1280 and 400 pixels wide. Nothing may stick out of a page; on the wide one every column of every
table has to be seen without scrolling, too. Needs `chromium` on the PATH (or CHROMIUM).
"""

from __future__ import annotations

import argparse
import functools
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WIDTHS = (1280, 400)
SECONDS = 120
# Lays out each page in a frame, one after the other, and leaves what it saw as the text of the document.
MEASURE = """<!doctype html><body><iframe id="frame" style="border:0;height:900px"></iframe><script>
const frame = document.getElementById("frame"), seen = [];
async function look(page, width) {
  frame.style.width = `${width}px`;
  await new Promise((done) => { frame.onload = done; frame.src = page; });
  await frame.contentDocument.fonts.ready;
  const top = frame.contentDocument.documentElement;
  const tables = [...frame.contentDocument.querySelectorAll('[role="main"] table')];
  const name = (table) => table.rows[0].innerText.replace(/\\s+/g, " ").trim().slice(0, 60);
  seen.push({
    page, width, tables: tables.length,
    page_wider: Math.max(0, top.scrollWidth - top.clientWidth),
    out: tables.filter((table) => table.getBoundingClientRect().right > top.clientWidth + 1).map(name),
    hidden: tables.filter((table) => table.scrollWidth > table.clientWidth + 1).map(name),
  });
}
(async () => {
  for (const width of WIDTHS) for (const page of PAGES) await look(page, width);
  document.body.innerText = "MEASURED" + JSON.stringify(seen) + "MEASURED";
})();
</script></body>"""


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *words: Any) -> None:  # noqa: A002 the name is the base class's
        """Says nothing of each request."""


class QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of a picture that the browser no longer wants, as the next page is already loading."""


def measure(site: Path) -> list[dict[str, Any]]:
    """What each page of a built site shows at each width."""
    pages = sorted(f"/{page.relative_to(site).as_posix()}" for page in site.rglob("index.html"))
    text = MEASURE.replace("WIDTHS)", f"{json.dumps(WIDTHS)})").replace("PAGES)", f"{json.dumps(pages)})")
    (site / "measure.html").write_text(text, encoding="utf-8")
    handler = functools.partial(QuietHandler, directory=str(site))
    with QuietServer(("127.0.0.1", 0), handler) as server, tempfile.TemporaryDirectory() as profile:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command = [os.environ.get("CHROMIUM", "chromium"), "--headless=new", "--no-sandbox", "--disable-gpu"]
        command += [
            f"--user-data-dir={profile}",
            "--window-size=1400,1000",
            "--virtual-time-budget=600000",
            "--dump-dom",
        ]
        command.append(f"http://127.0.0.1:{server.server_port}/measure.html")
        shown = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True).stdout
        server.shutdown()
    (site / "measure.html").unlink()
    found = re.search(r"MEASURED(\[.*\])MEASURED", html.unescape(shown), re.DOTALL)
    if found is None:
        raise RuntimeError(f"Chromium measured nothing: {shown[-500:]}")
    seen: list[dict[str, Any]] = json.loads(found[1])
    return seen


def faults(seen: list[dict[str, Any]]) -> list[str]:
    """A line for each thing that does not fit."""
    lines = []
    for each in seen:
        place = f"{each['page']} at {each['width']}"
        lines += [f"{place}: the page is {each['page_wider']} pixels too wide"] if each["page_wider"] else []
        lines += [f"{place}: sticks out: {name}" for name in each["out"]]
        lines += [f"{place}: columns are hidden: {name}" for name in each["hidden"] if each["width"] == max(WIDTHS)]
    return lines


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", nargs="?", type=Path)
    site = parser.parse_args().site
    with tempfile.TemporaryDirectory() as place:
        if site is None:
            site = Path(place)
            subprocess.run([ROOT / "scripts/docs", Path(sys.executable).parent, site], cwd=ROOT, check=True)
        seen = measure(site)
    lines = faults(seen)
    for line in lines:
        print(line)
    for width in WIDTHS:
        here = [each for each in seen if each["width"] == width]
        wider = sum(len(each["out"]) for each in here)
        hidden = sum(len(each["hidden"]) for each in here)
        tables = sum(each["tables"] for each in here)
        print(f"{width} pixels: {len(here)} pages, {tables} tables, {wider} wider than the page, {hidden} that scroll")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
