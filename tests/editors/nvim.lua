-- Plays the one path in Neovim 0.7 or newer: code action, diagnostics, edit, hover, undo, stop.
-- Prints one JSON object a line: {"what": ..., "value": ...}.
local function out(what, value)
  io.stdout:write(vim.json.encode({ what = what, value = value }) .. "\n")
  io.stdout:flush()
end
local seconds = 30000
local root = vim.env.PLAY_ROOT
local function wait(what, holds)
  if not vim.wait(seconds, holds, 20) then out("timeout", what); vim.cmd("cquit") end
end
local function buffer(name)
  return vim.fn.bufnr(vim.fn.fnameescape(root .. "/" .. name))
end
local function text(name)
  return table.concat(vim.api.nvim_buf_get_lines(buffer(name), 0, -1, false), "\n") .. "\n"
end

vim.opt.hidden = true
vim.opt.swapfile = false
vim.ui.select = function(items, options, choose)
  for i, item in ipairs(items) do
    local title = options.format_item and options.format_item(item) or tostring(item)
    out("offered", title)
    if title:find("Refine until tests pass", 1, true) then return choose(item, i) end
  end
end
local messages = {}
vim.lsp.handlers["window/showMessage"] = function(_, params) table.insert(messages, params.message) end
local seen_red = false
local publish = vim.lsp.handlers["textDocument/publishDiagnostics"]
vim.lsp.handlers["textDocument/publishDiagnostics"] = function(err, params, ctx, config)
  for _, item in ipairs(params.diagnostics) do
    if item.source:find("attempt 1/", 1, true) and item.range.start.line == 4 then seen_red = item.message end
  end
  return publish(err, params, ctx, config)
end

vim.cmd("edit " .. vim.fn.fnameescape(root .. "/m.py"))
vim.cmd("edit " .. vim.fn.fnameescape(root .. "/test_m.py"))
local id = vim.lsp.start_client({
  name = "greenloop",
  cmd = { vim.env.PLAY_PYTHON, "-m", "greenloop", "serve" },
  root_dir = root,
  init_options = vim.json.decode(vim.env.PLAY_SETTINGS),
})
local client
wait("initialize", function()
  client = vim.lsp.get_client_by_id(id)
  return client and client.initialized
end)
vim.lsp.buf_attach_client(buffer("m.py"), id)
vim.lsp.buf_attach_client(buffer("test_m.py"), id)
vim.api.nvim_win_set_cursor(0, { 4, 6 })
vim.lsp.buf.code_action()
wait("edit", function() return text("m.py"):find(vim.env.PLAY_WANTED, 1, true) end)
wait("message", function() return #messages > 0 end)
wait("cleared", function() return #vim.diagnostic.get(buffer("test_m.py")) == 0 end)
out("red", seen_red)
out("text", text("m.py"))
out("message", messages[#messages])
local params = { textDocument = { uri = vim.uri_from_bufnr(buffer("m.py")) }, position = { line = 0, character = 5 } }
local replies = vim.lsp.buf_request_sync(buffer("m.py"), "textDocument/hover", params, seconds)
for _, reply in pairs(replies or {}) do out("hover", reply.result and reply.result.contents.value or "nothing") end
vim.cmd("buffer " .. buffer("m.py"))
vim.cmd("silent undo")
out("undone", text("m.py"))
client.stop()
wait("stop", function() return client.is_stopped() end)
vim.cmd("qa!")
