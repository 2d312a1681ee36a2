"""Writes SVG by hand: elements, escaped text, axes with round numbers, and the colours of light and dark.

It must not know what the numbers mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape

# Eight colours that people with any colour vision can tell apart, on white and on black, each with dashes of its own;
# then the colours again with the next dashes.
LIGHT = ("#0b62a4", "#b34700", "#00734c", "#8a2f86", "#7a5b00", "#b3203e", "#00707a", "#5c5c5c")
DARK = ("#6cb6ff", "#ffa15c", "#5fd3a2", "#df9bdb", "#e6c34a", "#ff8fa0", "#5cd2dd", "#b8b8b8")
DASHES = ("", "7 4", "2 3", "9 3 2 3", "14 5", "4 3 1 3", "1 5", "12 3 3 3 3 3")

_NEUTRAL = {
    "paper": ("#ffffff", "#16181c"),
    "ink": ("#1c1e21", "#e8e8e6"),
    "soft": ("#555b63", "#a9b0b8"),
    "rule": ("#d9dce0", "#383d44"),
    "cell": ("#0b62a4", "#6cb6ff"),
}


def style() -> str:
    """The style sheet of every picture: a variable for each colour, in a light and a dark value."""
    both = {**_NEUTRAL, **{f"arm{n}": pair for n, pair in enumerate(zip(LIGHT, DARK, strict=True))}}
    light, dark = ("".join(f"--{name}:{pair[at]};" for name, pair in both.items()) for at in (0, 1))
    arms = "".join(f".arm{n}{{stroke:var(--arm{n})}}.fill{n}{{fill:var(--arm{n})}}" for n in range(len(LIGHT)))
    return (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
        "svg text{font:13px system-ui,sans-serif;fill:var(--ink)}"
        "svg text.soft{fill:var(--soft)}svg .end{text-anchor:end}svg .middle{text-anchor:middle}"
        "svg .rule{stroke:var(--rule);stroke-width:1}svg .curve{fill:none;stroke-width:2.5;stroke-linejoin:round}"
        f"svg .cell{{fill:var(--cell)}}{arms}"
    )


def element(name: str, *content: str, **attributes: object) -> str:
    """An element; `content` is markup already. A trailing `_` and other `_` of names are read as `-` or nothing."""
    words = "".join(
        f' {key.removesuffix("_").replace("_", "-")}="{escape(_number(value), quote=True)}"'
        for key, value in attributes.items()
        if value != ""
    )
    return f"<{name}{words}>{''.join(content)}</{name}>" if content else f"<{name}{words}/>"


def text(words: str, x: float, y: float, class_: str = "") -> str:
    return element("text", escape(words), x=x, y=y, class_=class_)


def picture(name: str, title: str, description: str, width: int, height: int, *content: str) -> str:
    """A whole picture with its title and description for those who do not see it; `name` is unique on the page."""
    return element(
        "svg",
        element("title", escape(title), id=f"{name}-title"),
        element("desc", escape(description), id=f"{name}-text"),
        *content,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_labelledby=f"{name}-title {name}-text",
        style=f"max-width:{width}px",
    )


def standalone(markup: str) -> str:
    """The picture as a file of its own, with the style sheet and a background."""
    begin, _, rest = markup.partition(">")
    background = element("rect", width="100%", height="100%", style="fill:var(--paper)")
    return f"{begin}>{element('style', style())}{background}{rest}\n"


def stroke(number: int) -> dict[str, str]:
    """The class and dashes of the line of arm `number`."""
    return {
        "class_": f"curve arm{number % len(LIGHT)}",
        "stroke_dasharray": DASHES[(number // len(LIGHT) + number) % len(DASHES)],
    }


def ticks(highest: float, count: int = 8) -> Iterator[float]:
    """About `count` round numbers from 0 up to `highest`."""
    step = _round_step(highest / count) if highest > 0 else 1.0
    for index in range(math.floor(highest / step + 1e-9) + 1):
        yield round(index * step, 10)


def _round_step(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))


def _number(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
