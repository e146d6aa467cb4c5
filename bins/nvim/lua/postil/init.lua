-- Searches notes with `postil search --json` and shows what it finds.
--
--   require("postil").setup({ cmd = { "postil", "search" }, limit = 20 })
--
-- Works from Neovim 0.7 on; needs no other plugin.
local M = {}

M.options = {
  -- The program and its first arguments; `--vault` and `--db` may be added.
  cmd = { "postil", "search" },
  -- Most passages.
  limit = 20,
}

function M.setup(options)
  M.options = vim.tbl_extend("force", M.options, options or {})
end

local function warn(message)
  vim.notify("postil: " .. message, vim.log.levels.WARN)
end

-- Runs the program with `args` and calls `done(code, stdout, stderr)`.
local function run(args, done)
  local out, err = {}, {}
  local cmd = vim.list_extend(vim.deepcopy(M.options.cmd), args)
  local ok, job = pcall(vim.fn.jobstart, cmd, {
    stdout_buffered = true,
    stderr_buffered = true,
    on_stdout = function(_, data) out = data end,
    on_stderr = function(_, data) err = data end,
    on_exit = function(_, code)
      vim.schedule(function() done(code, table.concat(out, "\n"), table.concat(err, "\n")) end)
    end,
  })
  if not ok or job <= 0 then
    warn(cmd[1] .. " could not be started; is postil installed?")
  end
end

local root
-- Calls `done` with the vault's folder, which the paths of passages are below.
local function with_root(done)
  if root then
    return done(root)
  end
  run({ "list", "stats", "--json" }, function(code, out, err)
    local ok, stats = pcall(vim.fn.json_decode, out)
    if code ~= 0 or not ok or type(stats.vault) ~= "string" then
      return warn(err ~= "" and vim.trim(err) or "no vault is configured")
    end
    root = stats.vault
    done(root)
  end)
end

-- Finds passages and calls `done` with them; each also has `file`, the absolute
-- path of its note.
function M.find(query, done)
  with_root(function(vault)
    run({ "--json", "--limit", tostring(M.options.limit), "--", query }, function(code, out, err)
      if code == 2 then
        return warn(vim.trim(err))
      end
      local ok, hits = pcall(vim.fn.json_decode, out)
      hits = ok and hits or {}
      for _, hit in ipairs(hits) do
        hit.file = vault .. "/" .. hit.path
      end
      done(hits)
    end)
  end)
end

-- `note › heading`, the title once.
function M.name(hit)
  if hit.heading == "" or hit.heading == hit.title then
    return hit.title
  end
  if hit.heading:sub(1, #hit.title) == hit.title then
    return hit.heading
  end
  return hit.title .. " › " .. hit.heading
end

-- Opens a passage at its line; `how` is edit, split, vsplit or tabedit.
function M.open(hit, how)
  vim.cmd((how or "edit") .. " " .. vim.fn.fnameescape(hit.file))
  local last = vim.api.nvim_buf_line_count(0)
  vim.api.nvim_win_set_cursor(0, { math.min(hit.line, last), 0 })
  vim.cmd("normal! zz")
end

local function with_query(query, done)
  if query then
    return done(query)
  end
  vim.ui.input({ prompt = "Notes: " }, function(typed)
    if typed and typed ~= "" then
      done(typed)
    end
  end)
end

local function found(query, done)
  with_query(query, function(typed)
    M.find(typed, function(hits)
      if #hits == 0 then
        return warn("nothing found for " .. typed)
      end
      done(hits, typed)
    end)
  end)
end

-- Picks with vim.ui.select, which other plugins may draw.
function M.select(query)
  found(query, function(hits, typed)
    vim.ui.select(hits, {
      prompt = "Notes: " .. typed,
      kind = "postil",
      format_item = function(hit) return M.name(hit) .. "  " .. hit.path .. ":" .. hit.line end,
    }, function(hit)
      if hit then
        M.open(hit)
      end
    end)
  end)
end

local function window(lines, config, filetype)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  vim.bo[buffer].bufhidden = "wipe"
  vim.bo[buffer].filetype = filetype
  config = vim.tbl_extend("force", { relative = "editor", style = "minimal", border = "rounded" }, config)
  return buffer, vim.api.nvim_open_win(buffer, config.focusable ~= false, config)
end

-- Shows passages in a floating window, the one under the cursor beside it.
function M.search(query)
  found(query, function(hits) M.show(hits) end)
end

function M.show(hits)
  local width, height = vim.o.columns, vim.o.lines
  local rows = math.max(math.min(height - 6, 30), 5)
  local left = math.max(math.floor(width * 0.4), 20)
  local right = math.max(width - left - 8, 20)
  local names = vim.tbl_map(function(hit) return (M.name(hit):gsub("\n", " ")) end, hits)
  local preview_buffer, preview = window({}, {
    row = 1, col = left + 4, width = right, height = rows, focusable = false,
  }, "markdown")
  vim.wo[preview].wrap = true
  local buffer, list = window(names, { row = 1, col = 1, width = left, height = rows }, "postil")
  vim.bo[buffer].modifiable = false
  vim.wo[list].cursorline = true

  local function current()
    return hits[vim.api.nvim_win_get_cursor(list)[1]]
  end
  local function update()
    local hit = current()
    local lines = { hit.path .. ":" .. hit.line, hit.date .. "  " .. table.concat(hit.tags, " "), "" }
    vim.list_extend(lines, vim.split(hit.text, "\n"))
    vim.api.nvim_buf_set_lines(preview_buffer, 0, -1, false, lines)
    pcall(vim.api.nvim_win_set_cursor, preview, { 1, 0 })
  end
  local function close()
    for _, win in ipairs({ preview, list }) do
      if vim.api.nvim_win_is_valid(win) then
        vim.api.nvim_win_close(win, true)
      end
    end
  end
  local function map(key, call)
    vim.keymap.set("n", key, call, { buffer = buffer, nowait = true })
  end
  for key, how in pairs({ ["<CR>"] = "edit", ["<C-x>"] = "split", ["<C-v>"] = "vsplit", ["<C-t>"] = "tabedit" }) do
    map(key, function()
      local hit = current()
      close()
      M.open(hit, how)
    end)
  end
  map("q", close)
  map("<Esc>", close)
  map("/", function()
    close()
    M.search()
  end)
  vim.api.nvim_create_autocmd("CursorMoved", { buffer = buffer, callback = update })
  vim.api.nvim_create_autocmd("BufWipeout", { buffer = buffer, callback = function() vim.schedule(close) end })
  update()
  return { list = list, preview = preview, buffer = buffer, preview_buffer = preview_buffer, close = close }
end

return M
