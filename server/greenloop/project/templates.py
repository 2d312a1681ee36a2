"""Loads prompt templates, which are text files that the user may override.

`prompts/default/refine.txt` of the package is overridden by `$XDG_CONFIG_HOME/greenloop/prompts/default/refine.txt`,
`feedback/explain.txt` by `…/prompts/feedback/explain.txt`. A repository cannot override them.
An installed package adds prompts by an entry point `prompts` of the group `greenloop.parts`, which
names a package with folders like those of `drafting/prompts/`; greenloop's own cannot be replaced.
A user's file that cannot be used (an unknown variable, a stray `$`, not UTF-8) is ignored; `list_unusable` says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import cycle
from pathlib import Path
from string import Template

from greenloop.core import entry_points
from greenloop.core.records.model import Message
from greenloop.core.text.similar import closest
from greenloop.project.settings import user_file

PROMPTS = "drafting/prompts"  # the folder with the presets' prompts and those of feedback
# Folders of prompts that belong to no preset.
FOLDERS = {"feedback": f"{PROMPTS}/feedback", "ranker": f"{PROMPTS}/ranker", "specs": f"{PROMPTS}/specs"}
LARGEST = 1 << 16  # bytes of a user's prompt
_MOVE = frozenset({"names", "feedback", "tried", "hint", "written"})
_OFFERED = {
    "task": frozenset({"names", "instruction", "context"}),
    "infill": frozenset({"code", "blank"}),
    "reask": frozenset({"names", "feedback"}),
}
_LITERAL = "system"  # sent unchanged, without variables


def preset_templates(name: str) -> dict[str, str]:
    """All templates of a folder of `prompts/`, and those that other packages add to it, by name without suffix."""
    folders = [_built_in(name), *(root.joinpath(name) for root in _installed_folders())]
    names = sorted({file.name for folder in folders for file in _texts(folder)})
    return {each.removesuffix(".txt"): _text(f"{name}/{each}") for each in names}


def part_template(name: str) -> Template:
    """The template of a part, such as `feedback/explain`."""
    return Template(_text(f"{name}.txt"))


def few_shot_messages(name: str, /, **values: str) -> tuple[Message, ...]:
    """The messages of a template whose turns stand between `---` lines: user and assistant, the user last.

    A small model follows a format that it seems to have used before far better than one that is only described.
    """
    roles = cycle(("user", "assistant"))
    turns = (Template(turn).substitute(values).strip() for turn in part_template(name).template.split("\n---\n"))
    return tuple(Message(role=next(roles), content=turn) for turn in turns)


def find_fault(name: str, text: str) -> str:
    """Returns why a text cannot replace the template `name`, such as `default/refine`; empty where it can.

    It needs every variable of the text that it would replace.
    """
    if not text.strip():
        return "it is empty"
    if len(text.encode()) > LARGEST:
        return f"it has more than {LARGEST >> 10} KiB"
    if name.endswith(f"/{_LITERAL}"):
        return ""
    if fault := _variable_fault(f"{name}.txt", text):
        return fault
    lacking = set(part_template(name).get_identifiers()) - set(Template(text).get_identifiers())
    return f"it lacks the variable ${min(lacking)}" if lacking else ""


def _variable_fault(name: str, text: str) -> str:
    template = Template(text)
    if not template.is_valid():
        return "it has a `$` that does not start a variable (write `$$` for a literal `$`)"
    allowed = _variables(name)
    unknown = [each for each in template.get_identifiers() if each not in allowed]
    if unknown:
        known_variables = ", ".join(f"${each}" for each in sorted(allowed)) or "none"
        return f"it uses the unknown variable ${unknown[0]} (known: {known_variables})"
    return ""


def user_folder() -> Path:
    """The folder of the user's own prompts, which need not exist."""
    return user_file().parent / "prompts"


def list_unusable() -> list[str]:
    """One sentence for each file in the user's folder that cannot be used."""
    files = sorted(file for file in user_folder().rglob("*.txt") if file.is_file())
    return [reason for file in files if (reason := _read_user_file(file.relative_to(user_folder()).as_posix())[1])]


def _text(name: str) -> str:
    user_text, _why_not = _read_user_file(name) if (user_folder() / name).is_file() else (None, "")
    return _built_in(name).read_text(encoding="utf-8") if user_text is None else user_text


def _read_user_file(name: str) -> tuple[str | None, str]:
    """The text of a user's file, or None and the reason why it is ignored."""
    file = user_folder() / name
    if not _built_in(name).is_file():
        near = closest(name, _names())
        hint = f"; did you mean {near}?" if near else "."
        return None, f"The prompt {file} does not replace any built-in prompt{hint}"
    fallback = "the built-in prompt is used."
    try:
        if file.stat().st_size > LARGEST:
            return None, f"The prompt {file} has more than {LARGEST >> 10} KiB; {fallback}"
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return None, f"The prompt {file} cannot be read ({error}); {fallback}"
    if name.endswith(f"/{_LITERAL}.txt"):
        return text, ""
    if fault := _variable_fault(name, text):
        return None, f"The prompt {file} {fault.removeprefix('it ')}; {fallback}"
    return text, ""


def _variables(name: str) -> frozenset[str]:
    """The variables that a template may use: those offered to its kind, and those of the built-in text."""
    used = frozenset(Template(_built_in(name).read_text(encoding="utf-8")).get_identifiers())
    folder, _, file = name.partition("/")
    return used if folder in FOLDERS else used | _OFFERED.get(file.removesuffix(".txt"), _MOVE)


def _built_in(name: str) -> Traversable:
    """The package's own file or folder: in the folder of its part, else in `prompts/`; else that of another package."""
    folder, _, file = name.partition("/")
    package_folder = files("greenloop").joinpath(FOLDERS.get(folder, f"{PROMPTS}/{folder}"))
    own = package_folder.joinpath(file) if file else package_folder
    if own.is_file() or own.is_dir():
        return own
    added = (installed.joinpath(name) for installed in _installed_folders())
    return next((each for each in added if each.is_file() or each.is_dir()), own)


def _installed_folders() -> list[Traversable]:
    """The folders of prompts of other packages."""
    entries = entry_points.find_entry_points(entry_points.PARTS)
    return [files(entry_points.load(entry)) for entry in entries if entry.name.partition(".")[0] == "prompts"]


def _names() -> Iterator[str]:
    own = files("greenloop")
    folders = {name: own.joinpath(path) for name, path in FOLDERS.items()}
    folders |= {each.name: each for each in own.joinpath(PROMPTS).iterdir()}
    for name, folder in [
        *folders.items(),
        *((each.name, each) for root in _installed_folders() for each in root.iterdir()),
    ]:
        yield from (f"{name}/{file.name}" for file in _texts(folder))


def _texts(folder: Traversable) -> list[Traversable]:
    text_files = [file for file in folder.iterdir() if file.name.endswith(".txt")] if folder.is_dir() else []
    return sorted(text_files, key=lambda file: file.name)
