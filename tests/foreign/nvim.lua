-- Drives the plugin in headless Neovim; quits with 1 at the first failure.
local function check(ok, what)
  if not ok then
    io.stderr:write("nvim: failed: " .. what .. "\n")
    vim.cmd("cquit 1")
  end
end

local ok, failure = pcall(function()
  local postil = require("postil")
  postil.setup({ cmd = vim.split(vim.env.POSTIL_SEARCH, " "), limit = 5 })
  check(vim.fn.exists(":Postil") == 2 and vim.fn.exists(":PostilSelect") == 2, "commands")

  local hits
  postil.find("acquire timeouts", function(found) hits = found end)
  check(vim.wait(10000, function() return hits ~= nil end), "an answer in time")
  check(#hits > 0 and hits[1].path == "04-work/pool.md", "the passage is found")

  local shown = postil.show(hits)
  local config = vim.api.nvim_win_get_config(shown.list)
  check(config.relative == "editor", "the list floats")
  local names = vim.api.nvim_buf_get_lines(shown.buffer, 0, -1, false)
  check(names[1] == "Connection pools › Timeouts", "note › heading: " .. names[1])
  local preview = table.concat(vim.api.nvim_buf_get_lines(shown.preview_buffer, 0, -1, false), "\n")
  check(preview:find("acquire_timeout", 1, true), "the passage is previewed")
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("<CR>", true, false, true), "xt", false)
  check(vim.fn.expand("%:t") == "pool.md", "<CR> opens the note: " .. vim.fn.expand("%:p"))
  check(vim.fn.line(".") == hits[1].line, "at its line")
  check(not vim.api.nvim_win_is_valid(shown.list), "the windows are gone")

  local offered
  vim.ui.select = function(items, options, pick)
    offered = options.format_item(items[1])
    pick(items[1])
  end
  vim.cmd("enew")
  vim.cmd("PostilSelect millisecond")
  check(vim.wait(10000, function() return offered ~= nil end), "vim.ui.select is offered passages")
  check(offered:find("timers.md", 1, true), "the passage is named: " .. offered)
  check(vim.fn.expand("%:t") == "timers.md", "the picked note is open")

  local said
  vim.notify = function(message) said = message end
  vim.cmd("Postil zqnothing tag:none")
  check(vim.wait(10000, function() return said ~= nil end), "nothing found is said")
end)
check(ok, tostring(failure))
print("nvim: 1 passed, 0 failed")
vim.cmd("qall!")
