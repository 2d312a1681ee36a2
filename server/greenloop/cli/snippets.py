"""Writes the configuration lines that connect an editor with the server, from the server's command.

It must not know where the lines go, nor what is already there.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

from greenloop import __version__


def _quote_words(argv: Sequence[str], separator: str = ", ") -> str:
    return separator.join(json.dumps(word, ensure_ascii=False) for word in argv)


def neovim(argv: Sequence[str]) -> str:
    return f"""\
-- greenloop: code actions on a test or a function (gra in Neovim 0.11, or vim.lsp.buf.code_action())
local config = {{ name = 'greenloop', cmd = {{ {_quote_words(argv)} }}, init_options = vim.g.greenloop }}
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


def ale(argv: Sequence[str]) -> str:
    """For Vim, which has no client of its own: through ALE, which most systems package."""
    return f"""\
" greenloop through ALE: :ALECodeAction on a test or a function, :ALEHover for the attempts
function! s:Define() abort
  if exists(':ALELint') != 2
    return
  endif
  let g:ale_linters = get(g:, 'ale_linters', {{}})
  let l:chosen = get(g:ale_linters, 'python', ['flake8', 'mypy', 'pylint', 'pyright', 'ruff'])
  if type(l:chosen) == v:t_list
    let g:ale_linters.python = l:chosen + ['greenloop']
  endif
  call ale#linter#Define('python', {{
  \\  'name': 'greenloop',
  \\  'lsp': 'stdio',
  \\  'executable': {_vim(argv[0])},
  \\  'command': {_vim(shlex.join(["%e", *argv[1:]]))},
  \\  'project_root': function('ale#python#FindProjectRoot'),
  \\  'initialization_options': {{-> get(g:, 'greenloop', {{}})}},
  \\}})
endfunction

augroup greenloop
  autocmd!
  autocmd FileType python ++once call s:Define()
augroup END
"""


def _vim(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def eglot(argv: Sequence[str]) -> str:
    return f"""\
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '((python-mode python-ts-mode) . ({_quote_words(argv, " ")}))))
"""


def lsp_mode(argv: Sequence[str]) -> str:
    return f"""\
(with-eval-after-load 'lsp-mode
  (lsp-register-client
   (make-lsp-client :new-connection (lsp-stdio-connection '({_quote_words(argv, " ")}))
                    :major-modes '(python-mode python-ts-mode) :add-on? t :server-id 'greenloop)))
"""


def helix(argv: Sequence[str]) -> str:
    servers = _quote_words(["ruff", "jedi", "pylsp", "greenloop"])
    return f"""\
[language-server.greenloop]
command = {_quote_words(argv[:1])}
args = [{_quote_words(argv[1:])}]

[[language]]
name = "python"
language-servers = [{servers}]
"""


def kate(argv: Sequence[str]) -> str:
    server = {
        "command": list(argv),
        "url": "https://pypi.org/project/greenloop/",
        "highlightingModeRegex": "^Python$",
        "rootIndicationFileNames": ["pyproject.toml", "setup.cfg", "pytest.ini"],
    }
    return as_json({"servers": {"python": server}})


def jupyter(argv: Sequence[str]) -> str:
    server = {
        "version": 2,
        "argv": list(argv),
        "languages": ["python"],
        "mime_types": ["text/x-python", "text/x-ipython"],
        "display_name": "greenloop",
    }
    return as_json({"LanguageServerManager": {"language_servers": {"greenloop": server}}})


def sublime(argv: Sequence[str]) -> str:
    server = {"enabled": True, "command": list(argv), "selector": "source.python"}
    return as_json({"clients": {"greenloop": server}})


def as_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def vscode(_argv: Sequence[str]) -> str:
    return (
        "The extension for Visual Studio Code is not published yet. In vscode-client/ of greenloop's repository:\n"
        f"npm ci && npm run package && code --install-extension greenloop-{__version__}.vsix\n"
    )


def zed(_argv: Sequence[str]) -> str:
    return "Zed starts language servers through extensions only; there is none for greenloop yet.\n"
