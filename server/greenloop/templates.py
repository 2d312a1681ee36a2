"""Prompts are text files; the user may put others in their place.

`prompts/default/refine.txt` of the package is overridden by `$XDG_CONFIG_HOME/greenloop/prompts/default/refine.txt`,
`feedback/explain.txt` by `…/prompts/feedback/explain.txt`. A repository has no say in it.
A user's file that cannot be used (an unknown variable, a stray `$`, not UTF-8) is left aside; `complaints` says why.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from greenloop.settings import user_file

FOLDERS = ("feedback", "specs")  # of parts that have prompts beside them
LARGEST = 1 << 16  # bytes of a user's prompt
_MOVE = frozenset({"names", "feedback", "tried", "hint", "others"})
_OFFERED = {
    "task": frozenset({"names", "instruction", "context"}),
    "infill": frozenset({"code", "blank"}),
    "reask": frozenset({"names", "feedback"}),
}
_LITERAL = "system"  # is sent as it stands


def preset(name: str) -> dict[str, str]:
    """All templates of a folder of `prompts/`, by file name without its end."""
    return {file.name.removesuffix(".txt"): _text(f"{name}/{file.name}") for file in _texts(_built_in(name))}


def part(name: str) -> Template:
    """The template beside a part, such as `feedback/explain`."""
    return Template(_text(f"{name}.txt"))


def user_folder() -> Path:
    return user_file().parent / "prompts"


def complaints() -> list[str]:
    """One sentence for each file in the user's folder that is not used."""
    files = sorted(file for file in user_folder().rglob("*.txt") if file.is_file())
    return [said for file in files if (said := _own(file.relative_to(user_folder()).as_posix())[1])]


def _text(name: str) -> str:
    own, _why_not = _own(name) if (user_folder() / name).is_file() else (None, "")
    return _built_in(name).read_text(encoding="utf-8") if own is None else own


def _own(name: str) -> tuple[str | None, str]:
    """The text of a user's file, or None and why it is left aside."""
    file = user_folder() / name
    if not _built_in(name).is_file():
        near = difflib.get_close_matches(name, list(_names()), n=1)
        hint = f"; did you mean {near[0]}?" if near else "."
        return None, f"The prompt {file} takes the place of none{hint}"
    rest = "the built-in prompt is used."
    try:
        if file.stat().st_size > LARGEST:
            return None, f"The prompt {file} has more than {LARGEST >> 10} KiB; {rest}"
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return None, f"The prompt {file} cannot be read ({error}); {rest}"
    if name.endswith(f"/{_LITERAL}.txt"):
        return text, ""
    template = Template(text)
    if not template.is_valid():
        return None, f"The prompt {file} has a `$` that begins no variable (write `$$` for the sign itself); {rest}"
    offered = _variables(name)
    unknown = [each for each in template.get_identifiers() if each not in offered]
    if unknown:
        known = ", ".join(f"${each}" for each in sorted(offered)) or "none"
        return None, f"The prompt {file} uses the unknown variable ${unknown[0]} (known: {known}); {rest}"
    return text, ""


def _variables(name: str) -> frozenset[str]:
    """What a template may use: what its kind is offered, and what the built-in text uses."""
    used = frozenset(Template(_built_in(name).read_text(encoding="utf-8")).get_identifiers())
    folder, _, file = name.partition("/")
    return used if folder in FOLDERS else used | _OFFERED.get(file.removesuffix(".txt"), _MOVE)


def _built_in(name: str) -> Traversable:
    """The package's own file or folder: beside a part, else in `prompts/`."""
    root = files("greenloop")
    beside = name.partition("/")[0] in FOLDERS
    return root.joinpath(name) if beside else root.joinpath("prompts", name)


def _names() -> Iterator[str]:
    for folder in (*FOLDERS, *(each.name for each in files("greenloop").joinpath("prompts").iterdir())):
        yield from (f"{folder}/{file.name}" for file in _texts(_built_in(folder)))


def _texts(folder: Traversable) -> list[Traversable]:
    found = [file for file in folder.iterdir() if file.name.endswith(".txt")] if folder.is_dir() else []
    return sorted(found, key=lambda file: file.name)
