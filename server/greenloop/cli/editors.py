"""The editors greenloop can be connected to: how each is recognised, what it needs to be told, and in which file.

Pure but for `found`: the texts are made here, `setup.py` puts them in place.
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

from greenloop import __version__
from greenloop.core.errors import UsageProblem


@dataclass(frozen=True, kw_only=True)
class Editor:
    """One editor. `snippet` makes its lines from the server's command; `file` is where they go (None: by hand).

    `merged` makes the file's new text from its present one (None: there is none); it raises `UsageProblem` when the
    lines cannot be put in without risk. `after` is what is left to do; `ran` says whether it was ever run.
    """

    name: str
    programs: tuple[str, ...]
    snippet: Callable[[Sequence[str]], str]
    after: str
    file: Callable[[], Path] | None = None
    merged: Callable[[str | None, Sequence[str]], str] | None = None
    ran: bool = True


def command() -> list[str]:
    """What an editor must start: the bare name where every program finds it, else a path that works from anywhere."""
    script = shutil.which("greenloop")
    if script is None:
        return [sys.executable, "-m", "greenloop", "serve"]
    # On the PATH only while this virtual environment is active, which it is not for an editor started elsewhere.
    inside = Path(script).resolve().is_relative_to(Path(sys.prefix).resolve()) and sys.prefix != sys.base_prefix
    linked = Path(script).is_symlink()
    return [script if inside and not linked else "greenloop", "serve"]


def found() -> list[Editor]:
    """The editors that are on this machine's PATH."""
    return [editor for editor in EDITORS.values() if any(shutil.which(program) for program in editor.programs)]


def _config() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


# -- the texts -----------------------------------------------------------------------------------------------------


def _words(argv: Sequence[str], separator: str = ", ") -> str:
    return separator.join(json.dumps(word, ensure_ascii=False) for word in argv)


def _neovim(argv: Sequence[str]) -> str:
    return f"""\
-- greenloop: code actions on a test or a function (gra in Neovim 0.11, or vim.lsp.buf.code_action())
local config = {{ name = 'greenloop', cmd = {{ {_words(argv)} }}, init_options = vim.g.greenloop }}
local markers = {{ 'pyproject.toml', 'setup.cfg', 'pytest.ini', '.git' }}
if vim.lsp.config then
  config.filetypes, config.root_markers = {{ 'python' }}, markers
  vim.lsp.config('greenloop', config)
  vim.lsp.enable('greenloop')
else
  local function root_of(folder)
    for _, marker in ipairs(markers) do
      local at, above = folder, vim.fn.fnamemodify(folder, ':h')
      while at ~= above do
        if vim.loop.fs_stat(at .. '/' .. marker) then return at end
        at, above = above, vim.fn.fnamemodify(above, ':h')
      end
    end
    return folder
  end
  local clients = {{}}
  vim.api.nvim_create_autocmd('FileType', {{ pattern = 'python', callback = function(event)
    local file = vim.api.nvim_buf_get_name(event.buf)
    if file == '' then return end
    local root = root_of(vim.fn.fnamemodify(file, ':p:h'))
    if not (clients[root] and vim.lsp.get_client_by_id(clients[root])) then
      clients[root] = vim.lsp.start_client(vim.tbl_extend('force', config, {{ root_dir = root }}))
    end
    if clients[root] then vim.lsp.buf_attach_client(event.buf, clients[root]) end
  end }})
end
"""


def _eglot(argv: Sequence[str]) -> str:
    return f"""\
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '((python-mode python-ts-mode) . ({_words(argv, " ")}))))
"""


def _lsp_mode(argv: Sequence[str]) -> str:
    return f"""\
(with-eval-after-load 'lsp-mode
  (lsp-register-client
   (make-lsp-client :new-connection (lsp-stdio-connection '({_words(argv, " ")}))
                    :major-modes '(python-mode python-ts-mode) :add-on? t :server-id 'greenloop)))
"""


def _helix_server(argv: Sequence[str]) -> str:
    return f"[language-server.greenloop]\ncommand = {_words(argv[:1])}\nargs = [{_words(argv[1:])}]\n"


def _helix(argv: Sequence[str]) -> str:
    servers = _words(["ruff", "jedi", "pylsp", "greenloop"])
    return f'{_helix_server(argv)}\n[[language]]\nname = "python"\nlanguage-servers = [{servers}]\n'


def _kate_value(argv: Sequence[str]) -> dict[str, Any]:
    server = {
        "command": list(argv),
        "url": "https://pypi.org/project/greenloop/",
        "highlightingModeRegex": "^Python$",
        "rootIndicationFileNames": ["pyproject.toml", "setup.cfg", "pytest.ini"],
    }
    return {"servers": {"python": server}}


def _jupyter_value(argv: Sequence[str]) -> dict[str, Any]:
    server = {
        "version": 2,
        "argv": list(argv),
        "languages": ["python"],
        "mime_types": ["text/x-python", "text/x-ipython"],
        "display_name": "greenloop",
    }
    return {"LanguageServerManager": {"language_servers": {"greenloop": server}}}


def _sublime_value(argv: Sequence[str]) -> dict[str, Any]:
    return {"clients": {"greenloop": {"enabled": True, "command": list(argv), "selector": "source.python"}}}


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _vscode(_argv: Sequence[str]) -> str:
    return (
        "The extension for Visual Studio Code is not published yet. In vscode-client/ of greenloop's repository:\n"
        f"npm ci && npm run package && code --install-extension greenloop-{__version__}.vsix\n"
    )


def _zed(_argv: Sequence[str]) -> str:
    return "Zed starts language servers through extensions only; there is none for greenloop yet.\n"


# -- into files that may hold something already ----------------------------------------------------------------------

_BEGIN, _END = "{comment} >>> greenloop for {name} >>>", "{comment} <<< greenloop for {name} <<<"


def marked(present: str | None, lines: str, comment: str, name: str) -> str:
    """The text with the lines in a marked block: the earlier block is replaced, else it goes to the end."""
    begin, end = (mark.format(comment=comment, name=name) for mark in (_BEGIN, _END))
    block = f"{begin}\n{lines}{end}\n"
    text = present or ""
    earlier = re.search(rf"^{re.escape(begin)}$.*?^{re.escape(end)}$\n?", text, re.DOTALL | re.MULTILINE)
    if earlier:
        return text[: earlier.start()] + block + text[earlier.end() :]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + block


def _own_file(make: Callable[[Sequence[str]], str]) -> Callable[[str | None, Sequence[str]], str]:
    """For a file that is greenloop's alone."""
    return lambda _present, argv: make(argv)


def _lisp(make: Callable[[Sequence[str]], str], name: str) -> Callable[[str | None, Sequence[str]], str]:
    return lambda present, argv: marked(present, make(argv), ";;", name)


def _json_merged(make: Callable[[Sequence[str]], dict[str, Any]]) -> Callable[[str | None, Sequence[str]], str]:
    def merged(present: str | None, argv: Sequence[str]) -> str:
        try:
            value = json.loads(present) if present and present.strip() else {}
        except ValueError as error:
            raise UsageProblem(f"The present file is no plain JSON ({error}).", remedy=_BY_HAND) from error
        if not isinstance(value, dict):
            raise UsageProblem("The present file holds no JSON object.", remedy=_BY_HAND)
        return _json(_laid_over(value, make(argv)))

    return merged


def _laid_over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        result[key] = _laid_over(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def _helix_merged(present: str | None, argv: Sequence[str]) -> str:
    """Adds to languages.toml; a python entry that is there gets one more server. Checked by reading it back."""
    text = present or ""
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageProblem(f"The present file is no TOML ({error}).", remedy=_BY_HAND) from error
    python = [entry for entry in before.get("language", []) if entry.get("name") == "python"]
    known = before.get("language-server", {}).get("greenloop")
    if known is not None:
        text = _helix_started(text, known, argv)
    if known is not None and "greenloop" in (python or [{}])[0].get("language-servers", []):
        result = text
    elif not python:
        result = marked(text or None, _helix(argv), "#", "helix")
    else:
        pattern = (
            r'(^\s*name\s*=\s*["\']python["\'](?:(?!^\s*\[\[?\w).)*?^\s*language-servers\s*=\s*\[)([^\]]*?)(,?\s*\])'
        )
        result, times = re.subn(pattern, r'\1\2, "greenloop"\3', text, count=1, flags=re.DOTALL | re.MULTILINE)
        if times != 1:
            raise UsageProblem("The present file has a python entry without language-servers.", remedy=_BY_HAND)
        if known is None:
            result = marked(result, _helix_server(argv), "#", "helix")
    _check_helix(before, result)
    return result


def _helix_started(text: str, known: dict[str, Any], argv: Sequence[str]) -> str:
    """The text with the command of now, where greenloop has moved; words that somebody has added stay."""
    if known.get("command") == argv[0] and known.get("args", [])[: len(argv) - 1] == list(argv[1:]):
        return text
    pattern = r"^\[language-server\.greenloop\]\ncommand = .*\nargs = \[.*\]$\n?"
    text, times = re.subn(pattern, lambda _found: _helix_server(argv), text, count=1, flags=re.MULTILINE)
    if times != 1:
        raise UsageProblem("The present file starts greenloop by another command.", remedy=_BY_HAND)
    return text


def _check_helix(before: dict[str, Any], text: str) -> None:
    """Nothing that was there may have changed but for the one server more."""
    try:
        after = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        after = {}
    servers = after.get("language-server", {})
    known = {name: value for name, value in servers.items() if name != "greenloop"}
    old = {name: value for name, value in before.get("language-server", {}).items() if name != "greenloop"}
    python = [entry for entry in after.get("language", []) if entry.get("name") == "python"]
    if (
        known != old
        or "greenloop" not in servers
        or not any("greenloop" in e.get("language-servers", []) for e in python)
    ):
        raise UsageProblem("The present file cannot be changed safely.", remedy=_BY_HAND)


_BY_HAND = "Put the lines in by hand: greenloop setup prints them without --write."


# -- where they go ---------------------------------------------------------------------------------------------------


def _neovim_file() -> Path:
    base = Path.home() / "AppData" / "Local" if sys.platform == "win32" else _config()
    return base / "nvim" / "plugin" / "greenloop.lua"


def _emacs_file() -> Path:
    """The init file Emacs reads: the first that is there, in its own order."""
    home = Path.home()
    candidates = [home / ".emacs.el", home / ".emacs", home / ".emacs.d" / "init.el", _config() / "emacs" / "init.el"]
    there = [path for path in candidates if path.exists()]
    return there[0] if there else home / ".emacs.d" / "init.el"


def _jupyter_file() -> Path:
    base = os.environ.get("JUPYTER_CONFIG_DIR")
    return (Path(base) if base else Path.home() / ".jupyter") / "jupyter_server_config.d" / "greenloop.json"


EDITORS = {
    editor.name: editor
    for editor in (
        Editor(
            name="neovim",
            programs=("nvim",),
            snippet=_neovim,
            file=_neovim_file,
            merged=_own_file(_neovim),
            after="Open a Python file, put the cursor on a red test and press gra (Neovim 0.11; earlier: "
            ":lua vim.lsp.buf.code_action()).",
        ),
        Editor(
            name="eglot",
            programs=("emacs",),
            snippet=_eglot,
            file=_emacs_file,
            merged=_lisp(_eglot, "eglot"),
            after="Open a Python file, M-x eglot, then M-x eglot-code-actions on a red test.",
        ),
        Editor(
            name="lsp-mode",
            programs=("emacs",),
            snippet=_lsp_mode,
            file=_emacs_file,
            merged=_lisp(_lsp_mode, "lsp-mode"),
            after="Open a Python file, M-x lsp, then M-x lsp-execute-code-action on a red test.",
        ),
        Editor(
            name="helix",
            programs=("hx", "helix"),
            snippet=_helix,
            file=lambda: _config() / "helix" / "languages.toml",
            merged=_helix_merged,
            after="Open a Python file, put the cursor on a red test and press space a.",
        ),
        Editor(
            name="kate",
            programs=("kate",),
            snippet=lambda argv: _json(_kate_value(argv)),
            file=lambda: _config() / "kate" / "lspclient" / "settings.json",
            merged=_json_merged(_kate_value),
            after="Kate starts one server a language: this one takes the place of pylsp. Restart Kate; the code action "
            "is in the LSP Client menu.",
        ),
        Editor(
            name="jupyterlab",
            programs=("jupyter-lab", "jupyter"),
            snippet=lambda argv: _json(_jupyter_value(argv)),
            file=_jupyter_file,
            merged=_json_merged(_jupyter_value),
            after="jupyterlab-lsp is needed; restart JupyterLab.",
        ),
        Editor(name="vscode", programs=("code", "codium", "code-server"), snippet=_vscode, after=""),
        Editor(
            name="sublime",
            programs=("subl",),
            snippet=lambda argv: _json(_sublime_value(argv)),
            after="The package LSP is needed; the lines go into Preferences > Package Settings > LSP > Settings.",
            ran=False,
        ),
        Editor(name="zed", programs=("zed", "zeditor"), snippet=_zed, after="", ran=False),
    )
}
