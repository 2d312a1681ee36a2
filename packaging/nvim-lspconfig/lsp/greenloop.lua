---@brief
---
--- https://github.com/OWNER/greenloop
---
--- Makes failing Python tests pass, in a sandbox, and proves the pass: ask for code actions on a test or a function.
--- It runs in addition to other servers for Python. Settings are `init_options`, nested or dotted:
---
--- ```lua
--- vim.lsp.config('greenloop', { init_options = { model = 'ollama/llama3.2', attempts = 10 } })
--- ```

---@type vim.lsp.Config
return {
  cmd = { 'greenloop', 'serve' },
  filetypes = { 'python' },
  root_markers = { 'pyproject.toml', 'setup.cfg', 'pytest.ini', '.git' },
}
