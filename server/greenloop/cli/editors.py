"""Lists the editors that greenloop connects to: how each is detected, and where its configuration is.

Pure except for `installed_editors`: `snippets.py` has the texts, `commands/setup.py` writes them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.cli import snippets
from greenloop.core.errors import UsageError
from greenloop.core.tables import overlay
from greenloop.project.environment import installation


@dataclass(frozen=True, kw_only=True)
class Editor:
    """One editor. `snippet` makes its lines from the server's command; `config_file` takes them (None: by hand).

    `merge` makes the file's new text from its current one (None: no file) and the lines; it raises `UsageError` when
    they cannot be added safely. Without `merge`, the file holds the lines alone.
    `next_step` is what the user does then; `is_tested` says whether it was ever run.
    """

    name: str
    programs: tuple[str, ...]
    snippet: Callable[[Sequence[str]], str]
    next_step: str
    config_file: Callable[[], Path] | None = None
    merge: Callable[[str | None, str], str] | None = None
    is_tested: bool = True


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
    is_link = Path(script).is_symlink()
    return [script if in_environment and not is_link else "greenloop", verb]


def installed_editors() -> list[Editor]:
    """The editors that are on this machine's PATH."""
    return [editor for editor in EDITORS.values() if any(shutil.which(program) for program in editor.programs)]


def _config_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


# -- merging into files that may exist -------------------------------------------------------------------------------

_BEGIN, _END = "{comment} >>> greenloop for {name} >>>{close}", "{comment} <<< greenloop for {name} <<<{close}"


def mark_block(existing: str | None, lines: str, comment: str, name: str, close: str = "") -> str:
    """The text with the lines in a marked block: replaces an earlier block, else appends one.

    `comment` begins a comment of the file, and `close` ends it.
    """
    begin, end = (mark.format(comment=comment, name=name, close=close) for mark in (_BEGIN, _END))
    block = f"{begin}\n{lines}{end}\n"
    text = existing or ""
    earlier = re.search(rf"^{re.escape(begin)}$.*?^{re.escape(end)}$\n?", text, re.DOTALL | re.MULTILINE)
    if earlier:
        return text[: earlier.start()] + block + text[earlier.end() :]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + block


def _merge_lisp(name: str) -> Callable[[str | None, str], str]:
    return lambda existing, lines: mark_block(existing, lines, ";;", name)


def merge_json(existing: str | None, lines: str) -> str:
    try:
        value = json.loads(existing) if existing and existing.strip() else {}
    except ValueError as error:
        raise UsageError(f"The existing file is not plain JSON ({error}).", remedy=MANUAL_REMEDY) from error
    if not isinstance(value, dict):
        raise UsageError("The existing file does not hold a JSON object.", remedy=MANUAL_REMEDY)
    return snippets.as_json(overlay(value, json.loads(lines)))


def _merge_helix(existing: str | None, lines: str) -> str:
    """Adds to languages.toml; an existing python entry gets one more server. The result is parsed to check it."""
    text = existing or ""
    try:
        others, configured, python = _parse_helix(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"The existing file is not valid TOML ({error}).", remedy=MANUAL_REMEDY) from error
    server = tomllib.loads(lines)["language-server"]["greenloop"]
    argv = [server["command"], *server["args"]]
    if configured is not None:
        text = _update_helix_command(text, configured, argv)
    if not python:
        text = mark_block(text, lines, "#", "helix")
    elif "greenloop" not in python[0]:
        pattern = (
            r'(^\s*name\s*=\s*["\']python["\'](?:(?!^\s*\[\[?\w).)*?^\s*language-servers\s*=\s*\[)([^\]]*?)(,?\s*\])'
        )
        text, count = re.subn(pattern, r'\1\2, "greenloop"\3', text, count=1, flags=re.DOTALL | re.MULTILINE)
        if count != 1:
            raise UsageError("The existing file has a python entry without language-servers.", remedy=MANUAL_REMEDY)
    if python and configured is None:
        text = mark_block(text, snippets.helix_server(argv), "#", "helix")
    try:
        others_after, configured, python = _parse_helix(text)
    except tomllib.TOMLDecodeError:
        python = []
    if not any("greenloop" in servers for servers in python) or configured is None or others_after != others:
        raise UsageError("The existing file cannot be changed safely.", remedy=MANUAL_REMEDY)
    return text


def _parse_helix(text: str) -> tuple[dict[str, Any], dict[str, Any] | None, list[list[Any]]]:
    """Returns the other servers, greenloop, and the names of each python entry's servers."""
    document = tomllib.loads(text)
    servers = document.get("language-server", {})
    python = [entry for entry in document.get("language", []) if entry.get("name") == "python"]
    return servers, servers.pop("greenloop", None), [entry.get("language-servers", []) for entry in python]


def _update_helix_command(text: str, server: dict[str, Any], argv: Sequence[str]) -> str:
    """The text with the current command, if greenloop moved; arguments that the user added stay."""
    if server.get("command") == argv[0] and server.get("args", [])[: len(argv) - 1] == list(argv[1:]):
        return text
    pattern = r"^\[language-server\.greenloop\]\ncommand = .*\nargs = \[.*\]$\n?"
    text, count = re.subn(pattern, lambda _found: snippets.helix_server(argv), text, count=1, flags=re.MULTILINE)
    if count != 1:
        raise UsageError("The existing file starts greenloop with a different command.", remedy=MANUAL_REMEDY)
    return text


MANUAL_REMEDY = "Add the lines by hand: `greenloop setup NAME` prints them."


# -- their files -----------------------------------------------------------------------------------------------------


def _neovim_file() -> Path:
    base = Path.home() / "AppData" / "Local" if sys.platform == "win32" else _config_folder()
    return base / "nvim" / "plugin" / "greenloop.lua"


def _emacs_file() -> Path:
    """The init file that Emacs reads: the first that exists, in its own order."""
    home = Path.home()
    default = home / ".emacs.d" / "init.el"
    candidates = (home / ".emacs.el", home / ".emacs", default, _config_folder() / "emacs" / "init.el")
    return next((path for path in candidates if path.exists()), default)


def _jupyter_file() -> Path:
    folder = Path(os.environ.get("JUPYTER_CONFIG_DIR") or Path.home() / ".jupyter")
    return folder / "jupyter_server_config.d" / "greenloop.json"


EDITORS = {
    editor.name: editor
    for editor in (
        Editor(
            name="neovim",
            programs=("nvim",),
            snippet=snippets.neovim,
            config_file=_neovim_file,
            next_step="Open a Python file, put the cursor on a failing test and press gra (Neovim 0.11; earlier: "
            ":lua vim.lsp.buf.code_action()).",
        ),
        Editor(
            name="vim",
            programs=("vim",),
            snippet=snippets.ale,
            config_file=lambda: (
                Path.home() / ("vimfiles" if sys.platform == "win32" else ".vim") / "plugin" / "greenloop.vim"
            ),
            next_step="Install the plugin ALE, and set `let g:ale_lsp_show_message_severity = 'information'` to see "
            "how a run ends. Then open a Python file, put the cursor on a failing test and type :ALECodeAction.",
        ),
        Editor(
            name="eglot",
            programs=("emacs",),
            snippet=snippets.eglot,
            config_file=_emacs_file,
            merge=_merge_lisp("eglot"),
            next_step="Open a Python file, M-x eglot, then M-x eglot-code-actions on a failing test.",
        ),
        Editor(
            name="lsp-mode",
            programs=("emacs",),
            snippet=snippets.lsp_mode,
            config_file=_emacs_file,
            merge=_merge_lisp("lsp-mode"),
            next_step="Open a Python file, M-x lsp, then M-x lsp-execute-code-action on a failing test.",
        ),
        Editor(
            name="helix",
            programs=("hx", "helix"),
            snippet=snippets.helix,
            config_file=lambda: _config_folder() / "helix" / "languages.toml",
            merge=_merge_helix,
            next_step="Open a Python file, put the cursor on a failing test and press space a.",
        ),
        Editor(
            name="kate",
            programs=("kate",),
            snippet=snippets.kate,
            config_file=lambda: _config_folder() / "kate" / "lspclient" / "settings.json",
            merge=merge_json,
            next_step="Kate starts one server per language: this one replaces pylsp. Restart Kate; the code action is "
            "in the LSP Client menu.",
        ),
        Editor(
            name="jupyterlab",
            programs=("jupyter-lab", "jupyter"),
            snippet=snippets.jupyter,
            config_file=_jupyter_file,
            merge=merge_json,
            next_step="Install jupyterlab-lsp and restart JupyterLab.",
        ),
        Editor(name="vscode", programs=("code", "codium", "code-server"), snippet=snippets.vscode, next_step=""),
        Editor(
            name="sublime",
            programs=("subl",),
            snippet=snippets.sublime,
            next_step="Install the package LSP. The lines go into Preferences > Package Settings > LSP > Settings.",
            is_tested=False,
        ),
        Editor(name="zed", programs=("zed", "zeditor"), snippet=snippets.zed, next_step="", is_tested=False),
    )
}
