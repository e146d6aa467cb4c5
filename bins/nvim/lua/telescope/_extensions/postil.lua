-- `:Telescope postil`: passages of your notes, searched again as you type.
local conf = require("telescope.config").values
local finders = require("telescope.finders")
local pickers = require("telescope.pickers")
local postil = require("postil")

-- Turns a row of `search --rows` (path:line, name, date, tags) into an entry.
local function entry(row)
  local place, name, date = row:match("^([^\t]*)\t([^\t]*)\t([^\t]*)")
  local file, line = (place or ""):match("^(.*):(%d+)$")
  if not file then
    return nil
  end
  return {
    value = row,
    display = name .. "  " .. date,
    ordinal = name,
    filename = file,
    lnum = tonumber(line),
    col = 1,
  }
end

local function picker(options)
  options = options or {}
  local rows = finders.new_job(function(prompt)
    if not prompt or prompt == "" then
      return nil
    end
    local cmd = vim.deepcopy(postil.options.cmd)
    return vim.list_extend(cmd, { "--rows", "--limit", tostring(postil.options.limit), "--", prompt })
  end, entry, postil.options.limit)
  pickers.new(options, {
    prompt_title = "Notes",
    finder = rows,
    previewer = conf.grep_previewer(options),
    -- The order is the search's own.
    sorter = require("telescope.sorters").empty(),
  }):find()
end

return require("telescope").register_extension({ exports = { postil = picker } })
