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


@dataclass(frozen=True, kw_only=True)
class Editor:
    """One editor. `snippet` makes its lines from the server's command; `config_file` takes them (None: by hand).

    `merge` makes the file's new text from its current one (None: no file); it raises `UsageError` when the lines
    cannot be added safely. `next_step` is what the user does then; `is_tested` says whether it was ever run.
    """

    name: str
    programs: tuple[str, ...]
    snippet: Callable[[Sequence[str]], str]
    next_step: str
    config_file: Callable[[], Path] | None = None
    merge: Callable[[str | None, Sequence[str]], str] | None = None
    is_tested: bool = True


def command() -> list[str]:
    """The command that an editor starts: the bare name if it is on every PATH, else a path that works from anywhere."""
    script = shutil.which("greenloop")
    if script is None:
        return [sys.executable, "-m", "greenloop", "serve"]
    # On the PATH only while this virtual environment is active; an editor started elsewhere does not see it.
    in_environment = Path(script).resolve().is_relative_to(Path(sys.prefix).resolve()) and sys.prefix != sys.base_prefix
    is_link = Path(script).is_symlink()
    return [script if in_environment and not is_link else "greenloop", "serve"]


def installed_editors() -> list[Editor]:
    """The editors that are on this machine's PATH."""
    return [editor for editor in EDITORS.values() if any(shutil.which(program) for program in editor.programs)]


def _config_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


# -- merging into files that may exist -------------------------------------------------------------------------------

_BEGIN, _END = "{comment} >>> greenloop for {name} >>>", "{comment} <<< greenloop for {name} <<<"


def mark_block(existing: str | None, lines: str, comment: str, name: str) -> str:
    """The text with the lines in a marked block: replaces an earlier block, else appends one."""
    begin, end = (mark.format(comment=comment, name=name) for mark in (_BEGIN, _END))
    block = f"{begin}\n{lines}{end}\n"
    text = existing or ""
    earlier = re.search(rf"^{re.escape(begin)}$.*?^{re.escape(end)}$\n?", text, re.DOTALL | re.MULTILINE)
    if earlier:
        return text[: earlier.start()] + block + text[earlier.end() :]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + block


def _replace_file(make: Callable[[Sequence[str]], str]) -> Callable[[str | None, Sequence[str]], str]:
    """For a file that only greenloop writes."""
    return lambda _existing, argv: make(argv)


def _merge_lisp(make: Callable[[Sequence[str]], str], name: str) -> Callable[[str | None, Sequence[str]], str]:
    return lambda existing, argv: mark_block(existing, make(argv), ";;", name)


def _merge_json(make: Callable[[Sequence[str]], dict[str, Any]]) -> Callable[[str | None, Sequence[str]], str]:
    def merge(present: str | None, argv: Sequence[str]) -> str:
        try:
            value = json.loads(present) if present and present.strip() else {}
        except ValueError as error:
            raise UsageError(f"The existing file is not plain JSON ({error}).", remedy=_MANUAL_REMEDY) from error
        if not isinstance(value, dict):
            raise UsageError("The existing file does not hold a JSON object.", remedy=_MANUAL_REMEDY)
        return snippets.as_json(_merge_dicts(value, make(argv)))

    return merge


def _merge_dicts(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for key, value in above.items():
        below_value = result.get(key)
        result[key] = (
            _merge_dicts(below_value, value) if isinstance(below_value, dict) and isinstance(value, dict) else value
        )
    return result


def _merge_helix(existing: str | None, argv: Sequence[str]) -> str:
    """Adds to languages.toml; an existing python entry gets one more server. The result is parsed to check it."""
    text = existing or ""
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"The existing file is not valid TOML ({error}).", remedy=_MANUAL_REMEDY) from error
    python = [entry for entry in before.get("language", []) if entry.get("name") == "python"]
    configured = before.get("language-server", {}).get("greenloop")
    if configured is not None:
        text = _update_helix_command(text, configured, argv)
    if configured is not None and "greenloop" in (python or [{}])[0].get("language-servers", []):
        result = text
    elif not python:
        result = mark_block(text or None, snippets.helix(argv), "#", "helix")
    else:
        pattern = (
            r'(^\s*name\s*=\s*["\']python["\'](?:(?!^\s*\[\[?\w).)*?^\s*language-servers\s*=\s*\[)([^\]]*?)(,?\s*\])'
        )
        result, count = re.subn(pattern, r'\1\2, "greenloop"\3', text, count=1, flags=re.DOTALL | re.MULTILINE)
        if count != 1:
            raise UsageError("The existing file has a python entry without language-servers.", remedy=_MANUAL_REMEDY)
        if configured is None:
            result = mark_block(result, snippets.helix_server(argv), "#", "helix")
    _check_helix(before, result)
    return result


def _update_helix_command(text: str, server: dict[str, Any], argv: Sequence[str]) -> str:
    """The text with the current command, if greenloop moved; arguments that the user added stay."""
    if server.get("command") == argv[0] and server.get("args", [])[: len(argv) - 1] == list(argv[1:]):
        return text
    pattern = r"^\[language-server\.greenloop\]\ncommand = .*\nargs = \[.*\]$\n?"
    text, count = re.subn(pattern, lambda _found: snippets.helix_server(argv), text, count=1, flags=re.MULTILINE)
    if count != 1:
        raise UsageError("The existing file starts greenloop with a different command.", remedy=_MANUAL_REMEDY)
    return text


def _check_helix(before: dict[str, Any], text: str) -> None:
    """Checks that nothing changed except for the added server. Raises `UsageError`."""
    try:
        after = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        after = {}
    servers = after.get("language-server", {})
    other_servers = {name: value for name, value in servers.items() if name != "greenloop"}
    previous_servers = {name: value for name, value in before.get("language-server", {}).items() if name != "greenloop"}
    python = [entry for entry in after.get("language", []) if entry.get("name") == "python"]
    if (
        other_servers != previous_servers
        or "greenloop" not in servers
        or not any("greenloop" in e.get("language-servers", []) for e in python)
    ):
        raise UsageError("The existing file cannot be changed safely.", remedy=_MANUAL_REMEDY)


_MANUAL_REMEDY = "Add the lines by hand: `greenloop setup EDITOR` prints them."


# -- their files -----------------------------------------------------------------------------------------------------


def _neovim_file() -> Path:
    base = Path.home() / "AppData" / "Local" if sys.platform == "win32" else _config_folder()
    return base / "nvim" / "plugin" / "greenloop.lua"


def _emacs_file() -> Path:
    """The init file that Emacs reads: the first that exists, in its own order."""
    home = Path.home()
    candidates = [
        home / ".emacs.el",
        home / ".emacs",
        home / ".emacs.d" / "init.el",
        _config_folder() / "emacs" / "init.el",
    ]
    existing = [path for path in candidates if path.exists()]
    return existing[0] if existing else home / ".emacs.d" / "init.el"


def _jupyter_file() -> Path:
    config_folder = os.environ.get("JUPYTER_CONFIG_DIR")
    return (
        (Path(config_folder) if config_folder else Path.home() / ".jupyter")
        / "jupyter_server_config.d"
        / "greenloop.json"
    )


EDITORS = {
    editor.name: editor
    for editor in (
        Editor(
            name="neovim",
            programs=("nvim",),
            snippet=snippets.neovim,
            config_file=_neovim_file,
            merge=_replace_file(snippets.neovim),
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
            merge=_replace_file(snippets.ale),
            next_step="Install the plugin ALE, and set `let g:ale_lsp_show_message_severity = 'information'` to see "
            "how a run ends. Then open a Python file, put the cursor on a failing test and type :ALECodeAction.",
        ),
        Editor(
            name="eglot",
            programs=("emacs",),
            snippet=snippets.eglot,
            config_file=_emacs_file,
            merge=_merge_lisp(snippets.eglot, "eglot"),
            next_step="Open a Python file, M-x eglot, then M-x eglot-code-actions on a failing test.",
        ),
        Editor(
            name="lsp-mode",
            programs=("emacs",),
            snippet=snippets.lsp_mode,
            config_file=_emacs_file,
            merge=_merge_lisp(snippets.lsp_mode, "lsp-mode"),
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
            snippet=lambda argv: snippets.as_json(snippets.kate_value(argv)),
            config_file=lambda: _config_folder() / "kate" / "lspclient" / "settings.json",
            merge=_merge_json(snippets.kate_value),
            next_step="Kate starts one server per language: this one replaces pylsp. Restart Kate; the code action is "
            "in the LSP Client menu.",
        ),
        Editor(
            name="jupyterlab",
            programs=("jupyter-lab", "jupyter"),
            snippet=lambda argv: snippets.as_json(snippets.jupyter_value(argv)),
            config_file=_jupyter_file,
            merge=_merge_json(snippets.jupyter_value),
            next_step="Install jupyterlab-lsp and restart JupyterLab.",
        ),
        Editor(name="vscode", programs=("code", "codium", "code-server"), snippet=snippets.vscode, next_step=""),
        Editor(
            name="sublime",
            programs=("subl",),
            snippet=lambda argv: snippets.as_json(snippets.sublime_value(argv)),
            next_step="Install the package LSP. The lines go into Preferences > Package Settings > LSP > Settings.",
            is_tested=False,
        ),
        Editor(name="zed", programs=("zed", "zeditor"), snippet=snippets.zed, next_step="", is_tested=False),
    )
}
