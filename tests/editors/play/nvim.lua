-- Plays what it is told in Neovim 0.7 or newer: requests come as JSON lines by a socket, each is answered in a line.
-- It uses what a user uses: the commands, the menus, the windows.
local root = vim.env.PLAY_ROOT
local new = vim.fn.has('nvim-0.11') == 1
local messages, offered, wanted = {}, nil, nil
local play = {}

local function client()
  for _, each in ipairs((vim.lsp.get_clients or vim.lsp.get_active_clients)()) do
    local stopped = new and each:is_stopped() or not new and each.is_stopped()
    if each.name == 'greenloop' and not stopped then return each end
  end
end
local function buffer(name) return vim.fn.bufnr(vim.fn.fnameescape(root .. '/' .. name)) end
local function go(name, line, column)
  vim.cmd('buffer ' .. buffer(name))
  vim.api.nvim_win_set_cursor(0, { line, column or 4 })
end
local function wait(what, holds)
  if not vim.wait(20000, holds, 10) then error('no ' .. what) end
end

-- The menu: it notes what is offered and takes what is wanted. A question of the server is noted, not answered.
vim.ui.select = function(items, options, choose)
  if options.kind == 'lsp_message' or not options.kind then
    table.insert(messages, options.prompt)
    return choose(nil, nil)
  end
  offered = {}
  local found
  for i, item in ipairs(items) do
    local title = options.format_item and options.format_item(item) or tostring(item)
    table.insert(offered, title)
    if wanted and not found and title:find(wanted, 1, true) == 1 then found = i end
  end
  if found then choose(items[found], found) else choose(nil, nil) end
end
vim.fn.inputlist = function(lines) -- the questions of 0.7
  table.insert(messages, lines[1])
  return 0
end
vim.cmd('filetype indent off | set noautoindent') -- what is typed stands as it is
vim.lsp.handlers['window/showMessage'] = function(_, params) table.insert(messages, params.message) end
vim.notify = function(text) table.insert(messages, text) end

function play.open(name)
  vim.cmd('edit ' .. vim.fn.fnameescape(root .. '/' .. name))
  wait('server', function()
    for _, each in pairs(vim.lsp.buf_get_clients and not new and vim.lsp.buf_get_clients(0)
      or vim.lsp.get_clients({ bufnr = 0 })) do
      if each.name == 'greenloop' and each.initialized then return true end
    end
  end)
end
function play.close(name) vim.cmd('bwipeout! ' .. buffer(name)) end
function play.buffers()
  local names = {}
  for _, each in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(each) then table.insert(names, vim.fn.fnamemodify(vim.api.nvim_buf_get_name(each), ':t')) end
  end
  return names
end
function play.text(name)
  if buffer(name) < 0 then return vim.NIL end
  return table.concat(vim.api.nvim_buf_get_lines(buffer(name), 0, -1, false), '\n') .. '\n'
end
function play.modified(name) return vim.bo[buffer(name)].modified end
-- Typed as by hand: in insert mode, so that it is one step of undo.
function play.type(name, line, text)
  go(name, line, 0)
  vim.api.nvim_feedkeys('O' .. text .. '\27', 'tx', false)
end
function play.append(name, text)
  vim.cmd('buffer ' .. buffer(name))
  vim.api.nvim_feedkeys('Go' .. text .. '\27', 'tx', false)
end
function play.save(name)
  vim.cmd('buffer ' .. buffer(name))
  vim.cmd('silent write')
end
function play.undo(name)
  vim.cmd('buffer ' .. buffer(name))
  vim.cmd('silent undo')
end
function play.act(name, line, title)
  go(name, line)
  wanted, offered = title, nil
  vim.lsp.buf.code_action()
  wait('menu', function() return offered ~= nil end)
  return offered
end
function play.titles(name, line) return play.act(name, line, nil) end
function play.command(name, line, which)
  go(name, line)
  vim.cmd('Greenloop ' .. which)
end
function play.diagnostics(name)
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(buffer(name))) do
    local related = {}
    local raw = each.user_data and each.user_data.lsp or {}
    for _, one in ipairs(raw.relatedInformation or each.relatedInformation or {}) do table.insert(related, one.message) end
    table.insert(found, {
      line = each.lnum + 1, text = each.message, source = each.source,
      related = table.concat(related, '\n'),
    })
  end
  return found
end
function play.hover(name, line, column)
  go(name, line, column)
  vim.lsp.buf.hover()
  local float
  wait('hover', function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then float = window end
    end
    return float ~= nil
  end)
  local text = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(float), 0, -1, false), '\n')
  vim.api.nvim_win_close(float, true)
  return text
end
function play.messages() return messages end
function play.progress() return vim.api.nvim_eval_statusline(vim.o.statusline, { maxwidth = 200 }).str end
function play.place() return { vim.fn.expand('%:t'), vim.api.nvim_win_get_cursor(0)[1] } end
function play.configure(settings)
  client().settings = { greenloop = settings }
  local params = { settings = { greenloop = settings } }
  if new then client():notify('workspace/didChangeConfiguration', params) else client().notify('workspace/didChangeConfiguration', params) end
end
function play.lenses(name, line)
  go(name, line) -- which has them shown, by the page's own lines
  local found = {}
  for _, each in ipairs(vim.lsp.codelens.get(0)) do
    table.insert(found, { line = each.range.start.line + 1, title = each.command and each.command.title or '' })
  end
  return found
end
function play.lens(name, line, title)
  go(name, line)
  wanted = title
  vim.lsp.codelens.run()
end
-- After the server is gone: what the page says.
function play.restart(names)
  wait('end of the server', function() return client() == nil end)
  for _, name in ipairs(names) do
    vim.cmd('buffer ' .. buffer(name))
    vim.cmd('set filetype=python')
    wait('server', function() return client() and client().initialized end)
  end
end
function play.stop()
  local last = client()
  if new then last:stop() else last.stop() end
  wait('end of the server', function() return client() == nil end)
end

local pipe, rest = vim.loop.new_pipe(false), ''
local function reply(line)
  local asked = vim.json.decode(line)
  local good, value = pcall(play[asked.play], unpack(asked.with))
  if value == nil then value = vim.NIL end
  pipe:write(vim.json.encode(good and { value = value } or { error = tostring(value) }) .. '\n')
end
pipe:connect(vim.env.PLAY_SOCKET, function(problem)
  assert(not problem, problem)
  pipe:read_start(function(_, chunk)
    if not chunk then return vim.schedule(function() vim.cmd('qa!') end) end
    rest = rest .. chunk
    for line in rest:gmatch('([^\n]*)\n') do vim.schedule(function() reply(line) end) end
    rest = rest:match('[^\n]*$')
  end)
end)
