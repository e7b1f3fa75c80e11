-- nvim --headless -u NONE -i NONE -n -l neovim.lua PYTHON FILE ACTION
-- What a user of Neovim does and sees, as one line of JSON; ACTION is a pattern of the code action that is taken.
-- Fails with a message after LIMIT milliseconds of waiting.
local python, file, wanted = arg[1], arg[2], arg[3]
local LIMIT = 30000

local function fail(message)
  io.stderr:write(message .. '\n')
  vim.cmd('cquit 1')
end

local function wait(what, condition)
  if not vim.wait(LIMIT, condition, 20) then
    fail('this did not happen: ' .. what .. '\n' .. vim.inspect(vim.diagnostic.get(0)))
  end
end

vim.cmd('filetype on')
vim.cmd.edit(vim.fn.fnameescape(file))
local buffer = vim.api.nvim_get_current_buf()
local id = vim.lsp.start({
  name = 'nonstrict',
  cmd = { python, '-m', 'nonstrict', 'server' },
  root_dir = vim.fs.dirname(file),
})
local client = vim.lsp.get_client_by_id(id)
wait('the session begins', function() return client.initialized end)
wait('a finding is shown', function() return #vim.diagnostic.get(buffer) > 0 end)

local function shown()
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(buffer)) do
    local words = vim.api.nvim_buf_get_text(buffer, one.lnum, one.col, one.end_lnum, one.end_col, {})
    table.insert(found, {
      code = one.code,
      source = one.source,
      severity = vim.diagnostic.severity[one.severity],
      row = one.lnum + 1,
      words = table.concat(words, '\n'),
    })
  end
  return found
end

local function ask(method, params)
  local answer = client:request_sync(method, params, LIMIT, buffer)
  if not answer or answer.err then
    fail(method .. ': ' .. vim.inspect(answer))
  end
  return answer.result
end

local seen = { encoding = client.offset_encoding, before = shown() }
local document = vim.lsp.util.make_text_document_params(buffer)
local marker = vim.fn.search('nonstrict_trace', 'cw')
seen.hover = ask('textDocument/hover', {
  textDocument = document,
  position = { line = marker - 1, character = vim.fn.col('.') - 1 },
}).contents.value
seen.lenses = vim.tbl_map(function(lens)
  return (lens.command or ask('codeLens/resolve', lens).command).title
end, ask('textDocument/codeLens', { textDocument = document }))

vim.api.nvim_win_set_cursor(0, { seen.before[1].row, vim.diagnostic.get(buffer)[1].col })
vim.lsp.buf.code_action({
  apply = true,
  filter = function(action) return action.title:find(wanted) ~= nil end,
})
wait('the text is changed', function() return vim.bo[buffer].modified end)
wait('the finding is gone', function() return #vim.diagnostic.get(buffer) == 0 end)
vim.cmd.wall()
seen.after = shown()

-- Taken back, and made again by hand.
vim.cmd('silent undo')
wait('the finding is back', function() return #vim.diagnostic.get(buffer) > 0 end)
seen.undone = shown()

client:stop()
wait('the server ends', function() return client:is_stopped() end)
io.stdout:write(vim.json.encode(seen) .. '\n')
vim.cmd('qall!')
