#!/usr/bin/env bash
# Tests the output of scripts/release.sh in dist/ outside the repository: binaries, manual pages, completions, bundle,
# server.json, and every package, installed into an empty environment and run. Uses shells, mandoc, npm, dpkg and uv if
# installed, and reports what it skips.
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
dist=$PWD/dist

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

# An MCP client's first message to an installed command, which must answer with its name and version.
handshake() {
  local hello='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"check","version":"0"}}}'
  local home && home=$(mktemp -d -p "$work")
  echo "$hello" | env -i PATH="$PATH" HOME="$home" LYRA_DATA_DIR="$home/data" "$@" mcp 2>"$home/log" |
    python3 -c 'import json,sys; server = json.loads(sys.stdin.readline())["result"]["serverInfo"]; assert server["name"] == "lyra", server; print("MCP:", server["name"], server["version"])' ||
    { cat "$home/log" && return 1; }
}
# The models are found wherever they were installed.
judges() { env -i PATH="$PATH" HOME="$work/home" LYRA_DATA_DIR="$(mktemp -d -p "$work")" "$@" check "A short nap improves memory." --quiet | head -2; }
version=$(run lyra --version)
installed() { [ "$("$@" --version)" = "$version" ] && handshake "$@" && judges "$@"; }
cd "$work"

echo "== Python wheel"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --no-index "$dist"/*.whl
"$work/venv/bin/python" -m pip check
installed "$work/venv/bin/lyra"
[ "$("$work/venv/bin/lyra-evidence" --version)" = "$version" ]
if has uvx; then uvx --no-index --from "$dist"/*.whl lyra-evidence --version; fi

echo "== npm packages"
if has npm; then
  mkdir "$work/project" && cd "$work/project" && npm init --yes >/dev/null
  npm install --offline --no-audit --no-fund --loglevel error "$dist"/lyra-evidence-*.tgz
  installed npx --no-install lyra-evidence
  [ "$(npx --no-install lyra --version)" = "$version" ]
  # Without the package of the platform, the command says so.
  rm -r node_modules/lyra-evidence-linux-*
  said=$(npx --no-install lyra-evidence --version 2>&1) && echo "it ran without a binary" && exit 1
  grep -q 'lyra-evidence-linux-[a-z0-9]* is not installed' <<<"$said"
  cd "$work"
fi

echo "== Debian package"
if has dpkg-deb; then
  deb=$(ls "$dist"/*.deb)
  dpkg-deb --info "$deb" | grep -E '^ (Package|Version|Architecture|Depends):'
  dpkg-deb -x "$deb" "$work/root"
  installed "$work/root/usr/bin/lyra"
  [ "$("$work/root/usr/bin/lyra-ml-server" --version | cut -d' ' -f2)" = "${version#lyra }" ]
  (cd "$work/root" && dpkg-deb --ctrl-tarfile "$deb" | tar -xO ./md5sums | md5sum --check --quiet)
  # Installed by dpkg into an empty system, whose database it makes itself.
  if [ "$(id -u)" = 0 ]; then
    mkdir -p "$work/system/var/lib/dpkg/"{info,updates} && touch "$work/system/var/lib/dpkg/"{status,available}
    dpkg --root="$work/system" --log=/dev/null --force-depends --force-script-chrootless -i "$deb" >/dev/null 2>&1
    dpkg --root="$work/system" -s lyra-evidence | grep '^Status: install ok installed'
  else
    echo "skipped: dpkg -i needs root"
  fi
fi

echo "== cargo binstall"
# Where it would look in a release: the address of the archive, and of the binary within.
(cd "$repository" && cargo metadata --format-version 1 --no-deps --locked) | python3 -c '
import json, os, sys, tarfile
archive, = sys.argv[1:]
package = next(p for p in json.load(sys.stdin)["packages"] if p["name"] == "lyra")
facts = package["metadata"]["binstall"]
name = os.path.basename(archive)
target = name.removeprefix("lyra-" + package["version"] + "-").removesuffix(".tar.gz")
values = {"repo": package["repository"], "name": "lyra", "bin": "lyra", "version": package["version"], "target": target,
          "archive-suffix": ".tar.gz", "binary-ext": ""}
def filled(template):
    for key, value in values.items():
        template = template.replace("{ %s }" % key, value)
    assert "{" not in template, template
    return template
assert facts["pkg-fmt"] == "tgz" and filled(facts["pkg-url"]).endswith("/v" + package["version"] + "/" + name), facts
with tarfile.open(archive) as opened:
    assert opened.getmember(filled(facts["bin-dir"])).mode & 0o111
print(filled(facts["pkg-url"]))
' "$repository/$archive"
