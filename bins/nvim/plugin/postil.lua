-- Commands of postil; everything else is loaded when one of them runs.
if vim.g.loaded_postil then
  return
end
vim.g.loaded_postil = true

local function command(name, call, desc)
  vim.api.nvim_create_user_command(name, function(args)
    require("postil")[call](args.args ~= "" and args.args or nil)
  end, { nargs = "*", desc = desc })
end

command("Postil", "search", "Search your notes in a floating window with a preview")
command("PostilSelect", "select", "Search your notes and pick with vim.ui.select")
