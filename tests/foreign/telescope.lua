-- Drives `:Telescope postil` with the real Telescope in headless Neovim.
local function check(ok, what)
  if not ok then
    io.stderr:write("telescope: failed: " .. what .. "\n")
    vim.cmd("cquit 1")
  end
end

local ok, failure = pcall(function()
  vim.o.columns, vim.o.lines = 160, 40
  require("postil").setup({ cmd = vim.split(vim.env.POSTIL_SEARCH, " "), limit = 5 })
  require("telescope").load_extension("postil")
  vim.cmd("Telescope postil default_text=acquire\\ timeouts")
  local state = require("telescope.actions.state")
  local picker
  check(vim.wait(10000, function()
    picker = state.get_current_picker(vim.api.nvim_get_current_buf())
    return picker and picker.manager and picker.manager:num_results() > 0 and state.get_selected_entry() ~= nil
  end, 50), "passages are listed")
  local entry = state.get_selected_entry()
  check(entry.filename:match("04%-work/pool%.md$"), "the passage is first: " .. entry.filename)
  check(entry.lnum == 14, "at its line: " .. entry.lnum)
  local function preview()
    local status = require("telescope.state").get_status(picker.prompt_bufnr)
    local buffer = status.preview_win and vim.api.nvim_win_get_buf(status.preview_win)
    return buffer and table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n") or ""
  end
  check(vim.wait(10000, function() return preview():find("acquire_timeout", 1, true) ~= nil end, 50), "the note is previewed")

  -- Typing searches again.
  picker:set_prompt("millisecond")
  check(vim.wait(10000, function()
    local selected = state.get_selected_entry()
    return selected ~= nil and selected.filename:match("timers%.md$") ~= nil
  end, 50), "typing searches again")
  local selected = state.get_selected_entry()
  require("telescope.actions").select_default(picker.prompt_bufnr)
  check(vim.fn.expand("%:t") == "timers.md", "the picked note is open: " .. vim.fn.expand("%:p"))
  check(vim.fn.line(".") == selected.lnum, "at its line")
end)
check(ok, tostring(failure))
print("telescope: 1 passed, 0 failed")
vim.cmd("qall!")
