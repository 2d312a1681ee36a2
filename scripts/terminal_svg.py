"""Draws what a terminal shows as SVG: a still of the end, or a moving picture of the way there.

It must not know which programs run.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

# The fonts would come from another server.
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
CELL, LINE, LEFT, TOP = 8.4, 19, 18, 46  # pixels of a cell, of a line, and around the screen
LONGEST_PAUSE = 0.4  # seconds that a moving picture waits where the program took longer
SHORTEST = 0.12  # seconds that a screen is seen
KEYS = 3  # characters that are typed at once
BEFORE, AFTER, HOLD = 0.6, 0.9, 7.0  # seconds before a line is typed, after it was answered, and at the end


@dataclass(frozen=True, kw_only=True)
class Typed:
    """A line that was typed, and what the screen showed after it: seconds since then, with all text up to there."""

    line: str
    screens: Sequence[tuple[float, str]]


def screen_rows(text: str) -> list[str]:
    """The rows of the screen at the end, with their colours: follows the few movements of rich's live display."""
    rows, at = [""], 0
    for piece in re.split(r"(\x1b\[2K|\x1b\[\d*A|\x1b\[\?25[lh]|\r\n|\n|\r)", text):
        if piece in ("\r\n", "\n"):
            at += 1
            if at == len(rows):
                rows.append("")
        elif piece == "\x1b[2K":
            rows[at] = ""
        elif up := re.fullmatch(r"\x1b\[(\d*)A", piece):
            at = max(0, at - int(up[1] or 1))
        elif piece != "\r" and not piece.startswith("\x1b[?25"):
            rows[at] += piece
    while rows and not rows[-1].strip():
        rows.pop()
    return rows


def prompt(line: str) -> Text:
    return Text.assemble(("$ ", "bold green"), (line, "bold"))


def still(typed: Typed, title: str, name: str, width: int) -> str:
    """The screen at the end of one line."""
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True)
    console.print(prompt(typed.line), soft_wrap=True)
    for row in screen_rows(typed.screens[-1][1]):
        console.print(Text.from_ansi(row), overflow="fold")
    return console.export_svg(title=title, code_format=FORMAT, unique_id=name)


def frames(lines: Sequence[Typed], width: int) -> list[tuple[float, list[Text]]]:
    """The screens of all lines, one below the other, each with the second at which it appears."""
    console = Console(width=width, file=io.StringIO())
    shown: list[tuple[float, list[Text]]] = []
    now, above = 0.0, list[Text]()
    for typed in lines:
        now += BEFORE
        for end in range(0, len(typed.line) + KEYS, KEYS):
            shown.append((now, [*above, prompt(typed.line[:end])]))
            now += SHORTEST / 2
        before, rows = 0.0, list[Text]()
        for seconds, text in typed.screens:
            wrapped = [Text.from_ansi(row).wrap(console, width) for row in screen_rows(text)]
            rows = [line for row in wrapped for line in row or [Text()]]
            if seconds - before < SHORTEST and text is not typed.screens[-1][1]:
                continue
            now += min(seconds - before, LONGEST_PAUSE)
            before = seconds
            shown.append((now, [*above, prompt(typed.line), *rows]))
        above = [*above, prompt(typed.line), *rows, Text()]
        now += AFTER
    return [*shown, (now + HOLD, [])]


def moving(lines: Sequence[Typed], title: str, width: int) -> str:
    """All lines as one picture that repeats; who wants less motion sees its end."""
    shown = frames(lines, width)
    whole = shown[-1][0]
    height = max(len(rows) for _, rows in shown)
    drawn: dict[tuple[int, str], list[tuple[float, float]]] = {}
    for (begin, rows), (end, _) in pairwise(shown):
        for at, row in enumerate(rows):
            seen = drawn.setdefault((at, _row(row, at)), [])
            if seen and seen[-1][1] == begin:
                seen[-1] = (seen[-1][0], end)
            else:
                seen.append((begin, end))
    style, body = [], []
    for number, ((_at, markup), seen) in enumerate(item for item in drawn.items() if item[0][1]):
        stops = "".join(_stops(begin / whole, end / whole) for begin, end in seen)
        style.append(f"@keyframes r{number}{{0%{{opacity:0}}{stops}}}")
        last = seen[-1][1] == whole
        body.append(f'<g class="r{"" if last else " gone"}" style="animation-name:r{number}">{markup}</g>')
    pixels = (round(2 * LEFT + width * CELL), TOP + height * LINE + 16)
    return _PICTURE.format(
        width=pixels[0],
        height=pixels[1],
        middle=pixels[0] // 2,
        title=escape(title),
        seconds=f"{whole:.1f}",
        skipped=f"{whole - HOLD / 2:.1f}",
        style="\n".join(style),
        body="\n".join(body),
    )


def _stops(begin: float, end: float) -> str:
    last = "" if end >= 1 else f"{100 * end:.2f}%{{opacity:0}}"
    return f"{100 * begin:.2f}%{{opacity:1}}{last}"


def _row(row: Text, at: int) -> str:
    """One row of the screen; empty where nothing stands in it."""
    console = Console(width=1000, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    y, cell, parts = TOP + at * LINE + 14, 0, []
    for segment in row.render(console):
        text, style = segment.text.rstrip("\n"), segment.style
        size = cell_len(text)
        if text.strip():
            colour = SVG_EXPORT_THEME.foreground_color
            if style and style.color and not style.color.is_default:
                colour = style.color.get_truecolor(SVG_EXPORT_THEME)
            words = f'fill="{colour.hex}"' + (' font-weight="700"' if style and style.bold else "")
            words += ' opacity=".65"' if style and style.dim else ""
            x, length = LEFT + cell * CELL, size * CELL
            parts.append(f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}" {words}>{escape(text)}</text>')
        cell += size
    return "".join(parts)


_PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{title}">
<title>{title}</title>
<style>
text {{ font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre; }}
.r {{ animation-duration: {seconds}s; animation-timing-function: step-end; animation-iteration-count: infinite;
  animation-delay: -{skipped}s; }} /* the end is seen first, not an empty screen */
@media (prefers-reduced-motion: reduce) {{ .r {{ animation: none !important; }} .gone {{ opacity: 0; }} }}
{style}
</style>
<rect width="100%" height="100%" rx="9" fill="#292929"/>
<circle cx="20" cy="20" r="6" fill="#ff5f57"/><circle cx="40" cy="20" r="6" fill="#febc2e"/>
<circle cx="60" cy="20" r="6" fill="#28c840"/>
<text x="{middle}" y="25" text-anchor="middle" fill="#c5c8c6">{title}</text>
{body}
</svg>
"""
