"""The editors and agents that `greenloop setup` connects: how each is detected, its lines, and the file for them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from greenloop.api import installation


class _Text(Template):
    delimiter = "@"


@dataclass(frozen=True, kw_only=True)
class EditorSetup:
    """A program of `clients.toml`, which describes the fields. `verb` is the command of greenloop that it starts."""

    name: str
    verb: str
    lines: str
    programs: Sequence[str] = ()
    file: str = ""
    others: Sequence[str] = ()
    next_step: str = ""
    tested: bool = True

    def snippet(self, argv: Sequence[str]) -> str:
        """Its lines, for the server's command."""
        quoted, shell = [json.dumps(word, ensure_ascii=False) for word in argv], shlex.join(argv)
        return _Text(self.lines).substitute(
            program=quoted[0],
            words=", ".join(quoted[1:]),
            command=", ".join(quoted),
            spaced=" ".join(quoted),
            shell=json.dumps(shell, ensure_ascii=False)[1:-1],
            vim_program=_quote_for_vim(argv[0]),
            vim_command=_quote_for_vim(shlex.join(["%e", *argv[1:]])),
        )

    def config_file(self) -> Path | None:
        """The file that takes the lines; None: they are added by hand."""
        paths = [_find_path(name) for name in self.others]
        default = _find_path(self.file) if self.file else None
        return next((path for path in paths if path.exists()), default)


def _quote_for_vim(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _find_path(name: str) -> Path:
    """The path of a file in `clients.toml`: one in the home folder, in a program's folder (`@vim/…`), or here."""
    home, on_windows = Path.home(), sys.platform == "win32"
    roaming = os.environ.get("APPDATA") or home / "AppData" / "Roaming"
    config = Path(roaming if on_windows else os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    folders = {
        "config": config,
        "neovim": (home / "AppData" / "Local" if on_windows else config) / "nvim",
        "vim": home / ("vimfiles" if on_windows else ".vim"),
        "jupyter": os.environ.get("JUPYTER_CONFIG_DIR") or home / ".jupyter",
    }
    return Path.cwd() / Path(_Text(name).substitute(folders)).expanduser()


def command(verb: str = "serve") -> list[str]:
    """The command that an editor or agent starts: the bare name if on every PATH, else a path that works anywhere."""
    if runner := installation.runner():
        # The environment's own path is that of a cache, which may be emptied.
        return [*runner.split(), "greenloop[local]", verb]
    script = shutil.which("greenloop")
    if script is None:
        return [sys.executable, "-m", "greenloop", verb]
    # On the PATH only while this virtual environment is active; an editor started elsewhere does not see it.
    in_environment = Path(script).resolve().is_relative_to(Path(sys.prefix).resolve()) and sys.prefix != sys.base_prefix
    return [script if in_environment and not Path(script).is_symlink() else "greenloop", verb]


def installed_editors() -> list[EditorSetup]:
    """The editors that are on this machine's PATH."""
    return [editor for editor in EDITORS.values() if any(shutil.which(program) for program in editor.programs)]


def _read_clients(kind: str) -> dict[str, EditorSetup]:
    values: dict[str, Any] = _CLIENTS[kind]
    shared = {key: value for key, value in values.items() if not isinstance(value, dict)}
    return {
        name: EditorSetup(name=name, **shared | fields) for name, fields in values.items() if isinstance(fields, dict)
    }


_CLIENTS = tomllib.loads(resources.files(__package__).joinpath("clients.toml").read_text(encoding="utf-8"))
EDITORS, AGENTS, GATES = map(_read_clients, ("editors", "agents", "gates"))
