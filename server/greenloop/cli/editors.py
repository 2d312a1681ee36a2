"""Lists the editors that greenloop connects to: how each is detected, and where its configuration is.

Pure except for `installed_editors`: `snippets.py` has the texts, `commands/setup.py` writes them.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.api import installation
from greenloop.cli import snippets


@dataclass(frozen=True, kw_only=True)
class EditorSetup:
    """One editor. `snippet` makes its lines from the server's command; `config_file` takes them (None: by hand).

    `next_step` is what the user does then; `is_tested` says whether it was ever run.
    """

    name: str
    programs: tuple[str, ...]
    snippet: Callable[[Sequence[str]], str]
    next_step: str = ""
    config_file: Callable[[], Path] | None = None
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


def installed_editors() -> list[EditorSetup]:
    """The editors that are on this machine's PATH."""
    return [editor for editor in EDITORS.values() if any(shutil.which(program) for program in editor.programs)]


def _config_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


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
        EditorSetup(
            name="neovim",
            programs=("nvim",),
            snippet=snippets.neovim,
            config_file=_neovim_file,
            next_step="Open a Python file, put the cursor on a failing test and press gra (Neovim 0.11; earlier: "
            ":lua vim.lsp.buf.code_action()).",
        ),
        EditorSetup(
            name="vim",
            programs=("vim",),
            snippet=snippets.ale,
            config_file=lambda: (
                Path.home() / ("vimfiles" if sys.platform == "win32" else ".vim") / "plugin" / "greenloop.vim"
            ),
            next_step="Install the plugin ALE, and set `let g:ale_lsp_show_message_severity = 'information'` to see "
            "how a run ends. Then open a Python file, put the cursor on a failing test and type :ALECodeAction.",
        ),
        EditorSetup(
            name="eglot",
            programs=("emacs",),
            snippet=snippets.eglot,
            config_file=_emacs_file,
            next_step="Open a Python file, M-x eglot, then M-x eglot-code-actions on a failing test.",
        ),
        EditorSetup(
            name="lsp-mode",
            programs=("emacs",),
            snippet=snippets.lsp_mode,
            config_file=_emacs_file,
            next_step="Open a Python file, M-x lsp, then M-x lsp-execute-code-action on a failing test.",
        ),
        EditorSetup(
            name="helix",
            programs=("hx", "helix"),
            snippet=snippets.helix,
            config_file=lambda: _config_folder() / "helix" / "languages.toml",
            next_step="Open a Python file, put the cursor on a failing test and press space a.",
        ),
        EditorSetup(
            name="kate",
            programs=("kate",),
            snippet=snippets.kate,
            config_file=lambda: _config_folder() / "kate" / "lspclient" / "settings.json",
            next_step="Kate starts one server per language: this one replaces pylsp. Restart Kate; the code action is "
            "in the LSP Client menu.",
        ),
        EditorSetup(
            name="jupyterlab",
            programs=("jupyter-lab", "jupyter"),
            snippet=snippets.jupyter,
            config_file=_jupyter_file,
            next_step="Install jupyterlab-lsp and restart JupyterLab.",
        ),
        EditorSetup(name="vscode", programs=("code", "codium", "code-server"), snippet=snippets.vscode),
        EditorSetup(
            name="sublime",
            programs=("subl",),
            snippet=snippets.sublime,
            next_step="Install the package LSP. The lines go into Preferences > Package Settings > LSP > Settings.",
            is_tested=False,
        ),
        EditorSetup(name="zed", programs=("zed", "zeditor"), snippet=snippets.zed, is_tested=False),
    )
}
