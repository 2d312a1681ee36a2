"""Makes foreign text safe to send and show: masks known secrets, strips control characters or makes them visible."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

_SHORTEST = 6  # characters; anything shorter would mask ordinary words
MASK = "[redacted]"

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # operating system commands: titles, links, clipboard
    r"|\x1b[PX^_].*?(?:\x1b\\|$)"  # device control and other strings
    r"|[\x1b]\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]"  # colours, cursor moves
    r"|\x1b[ -/]*[0-~]",
    re.DOTALL,
)
# Control characters except tab and newline; characters that reorder or hide text; halves of surrogate pairs.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def redact(text: str, secrets: Iterable[str]) -> str:
    """Masks every known secret of at least six characters, longest first."""
    values = {value for secret in secrets for value in (secret, secret.strip()) if len(value) >= _SHORTEST}
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, MASK)
    return text


def cleaner(root: Path, secrets: Sequence[str]) -> Callable[[object], object]:
    """Returns a function that cleans every text of a JSON value. Keys only lose folders, of which they have none."""
    folders = {str(folder): word for folder, word in ((root, "."), (root.resolve(), "."), (Path.home(), "~"))}
    folders.pop("/", None)  # it is in every path

    def clean(value: object) -> object:
        if isinstance(value, str):
            for folder, word in folders.items():
                value = value.replace(folder, word)
            return redact(value, secrets)
        if isinstance(value, dict):
            # A secret in an id would make it another one: there, only the folders matter, and ids have none.
            return {key: clean(item) for key, item in value.items()}
        return [clean(item) for item in value] if isinstance(value, list) else value

    return clean


def escape_controls(text: str) -> str:
    """The text for a terminal: every control and direction character made visible; line ends and tabs stay."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n"))


def first_line(text: str, max_length: int = 120) -> str:
    """The first line that is not blank, shortened."""
    line = next((line.strip() for line in escape_controls(text).splitlines() if line.strip()), "")
    return line if len(line) <= max_length else line[: max_length - 1] + "…"


def clean_for_display(text: str) -> str:
    r"""The text for display: no terminal escapes, no control characters, `\n` as the only line end."""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)
