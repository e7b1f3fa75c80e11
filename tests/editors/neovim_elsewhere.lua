-- nvim --headless -u NONE -i NONE -n -l neovim_elsewhere.lua PYTHON HELPER MODEL CONFIRM
-- What Neovim shows of HELPER while only MODEL is edited, and, if CONFIRM is not empty, of MODEL after its experiments;
-- as one line of JSON. No key is pressed in the window whose findings are looked at.
local python, helper, model, confirm = arg[1], arg[2], arg[3], arg[4]
local LIMIT = 60000

local function fail(message)
  io.stderr:write(message .. '\n')
  vim.cmd('cquit 1')
end

local function wait(what, condition)
  if not vim.wait(LIMIT, condition, 20) then
    local messages = vim.tbl_map(function(one) return one.message end, vim.diagnostic.get())
    fail('this did not happen: ' .. what .. '\n' .. vim.inspect(messages))
  end
end

local function open(file)
  vim.cmd.edit(vim.fn.fnameescape(file))
  vim.bo.filetype = 'python'
  return vim.api.nvim_get_current_buf()
end

-- Each finding once for each place that shows it: what is pulled and what is pushed are different namespaces.
local function shown(buffer)
  local codes = {}
  for _, one in ipairs(vim.diagnostic.get(buffer)) do
    table.insert(codes, one.code)
  end
  table.sort(codes)
  return table.concat(codes, ' ')
end

vim.o.hidden = true
local config = { name = 'nonstrict', cmd = { python, '-m', 'nonstrict', 'server' }, root_dir = vim.fs.dirname(model) }
local buffers = { helper = open(helper) }
local id = vim.lsp.start(config)
buffers.model = open(model)
vim.lsp.start(config)
local client = vim.lsp.get_client_by_id(id)
wait('both files have findings', function()
  return shown(buffers.helper) ~= '' and shown(buffers.model) ~= ''
end)
local seen = { before = { helper = shown(buffers.helper), model = shown(buffers.model) } }

-- The model does not call the helper any more, then it does again.
local text = vim.api.nvim_buf_get_lines(buffers.model, 0, -1, true)
local without = vim.tbl_map(function(line) return (line:gsub('shifted%(x%)', 'x')) end, text)
vim.api.nvim_buf_set_lines(buffers.model, 0, -1, true, without)
wait('what the edit of the model ends is gone from the helper', function() return shown(buffers.helper) == '' end)
vim.api.nvim_buf_set_lines(buffers.model, 0, -1, true, text)
wait('the findings are back', function() return shown(buffers.helper) ~= '' end)
seen.again = { helper = shown(buffers.helper), model = shown(buffers.model) }

if confirm ~= '' then
  local function verdicts()
    local found = {}
    for _, one in ipairs(vim.diagnostic.get(buffers.model)) do
      table.insert(found, one.message:match('%[(%a+)') or '')
    end
    return found
  end
  client:exec_cmd({ title = '', command = 'nonstrict.confirmFile', arguments = { vim.uri_from_fname(model) } })
  wait('a verdict is shown', function() return vim.tbl_contains(verdicts(), 'confirmed') end)
  seen.verdicts = verdicts()
  -- The verdict is of the tensor of the helper: it does not hold for another.
  vim.api.nvim_buf_set_lines(buffers.model, 0, -1, true, without)
  wait('the verdict is gone', function() return not vim.tbl_contains(verdicts(), 'confirmed') end)
end

client:stop()
wait('the server ends', function() return client:is_stopped() end)
io.stdout:write(vim.json.encode(seen) .. '\n')
vim.cmd('qall!')
