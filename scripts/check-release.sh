#!/usr/bin/env bash
# Tests the output of scripts/release.sh in dist/ outside the repository: binaries, manual pages, completions, bundle,
# server.json. Uses shells, mandoc and npm if installed, and reports what it skips.
set -euo pipefail
cd "$(dirname "$0")/.."
repository=$PWD
archive=$(ls dist/lyra-*.tar.gz) bundle=$(ls dist/lyra-*.mcpb)
work=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null || true; wait; rm -rf "$work"' EXIT

has() { command -v "$1" >/dev/null || { echo "skipped: $1 is not installed"; return 1; }; }

echo "== sums"
(cd dist && sha256sum --check --quiet SHA256SUMS)
[ "$(python3 -c 'import json; print(json.load(open("dist/server.json"))["packages"][0]["fileSha256"])')" = "$(sha256sum "$bundle" | cut -d' ' -f1)" ]

echo "== binaries"
tar -C "$work" -xzf "$archive"
folder=$(ls -d "$work"/lyra-*)
# Ignore this machine's configuration, and use only the models of the release.
run() { env -i PATH="$folder/bin:/usr/bin:/bin" HOME="$work/home" "$@"; }
mkdir "$work/home" && cd "$work/home"
run lyra --version
run lyra-ml-server --version
run lyra research "Does a short daytime nap improve memory in adults?" --quiet | head -3
# Not through `run`: the process to kill is the server, not a shell around it.
env -i PATH="$folder/bin:/usr/bin:/bin" HOME="$work/home" lyra-ml-server --port 0 >"$work/ml.out" 2>"$work/ml.log" &
server=$!
for _ in $(seq 300); do grep -q ' ready' "$work/ml.log" && break; sleep 0.1; done
url=$(grep -o 'http://[0-9.:]*' "$work/ml.log" | head -1)
run lyra --ml-url "$url" check "A short nap improves memory." --json --quiet |
  python3 -c 'import json,sys; claim = json.load(sys.stdin); print("over", sys.argv[1], claim["supporting_count"], "for,", claim["refuting_count"], "against"); assert claim["evidence"]' "$url"

echo "== manual pages and completions"
if has mandoc; then
  for page in "$folder"/man/*.1; do mandoc -T lint -W error "$page" >/dev/null || { echo "$page is faulty"; exit 1; }; done
  echo "$(ls "$folder"/man | wc -l) pages"
fi
bash -n "$folder/completions/lyra.bash"
# shellcheck disable=SC2016
run bash -c 'source "$1"; COMP_WORDS=(lyra ba); COMP_CWORD=1; _lyra lyra ba lyra; [ "${COMPREPLY[*]}" = backup ]' _ "$folder/completions/lyra.bash"
if has zsh; then zsh -n "$folder/completions/lyra.zsh"; fi
if has fish; then
  fish --no-execute "$folder/completions/lyra.fish"
  fish -c "source '$folder/completions/lyra.fish'; complete -C 'lyra ba'" | grep -q '^backup'
fi

echo "== bundle"
if has npm; then
  npm install --prefix "$work/npm" --no-audit --no-fund --loglevel error @anthropic-ai/mcpb @modelcontextprotocol/sdk
  "$work/npm/node_modules/.bin/mcpb" unpack "$repository/$bundle" "$work/bundle"
  "$work/npm/node_modules/.bin/mcpb" validate "$work/bundle/manifest.json"
  cp "$repository/tests/clients/bundle.mjs" "$work/npm/"
  node "$work/npm/bundle.mjs" "$work/bundle"
fi
