#!/usr/bin/env bash
# Builds a release into dist/: an archive with static binaries of lyra and lyra-ml-server, models, completions and
# manual pages; a Python wheel, npm packages, a Debian package, and an .mcpb bundle; and a server.json for the MCP
# registry that names them. Prints the sizes.
#
#   scripts/release.sh [--binaries FOLDER] [TARGET]
#
# TARGET is x86_64-unknown-linux-musl where the toolchain has it, else this machine's. With --binaries, nothing is
# built: FOLDER holds both binaries, built for TARGET before, which is this machine's unless named.
#
# A binary of this machine's target needs at least this machine's glibc; build it on an old distribution.
# The musl target needs: rustup target add x86_64-unknown-linux-musl, and musl-gcc (Debian: apt-get install musl-tools).
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
musl=${host%-gnu}-musl
built=
if [ "${1:-}" = --binaries ]; then built=$(realpath "${2:?--binaries needs a folder}") && shift 2; fi
target=${1:-}
if [ -z "$target" ] && [ -n "$built" ]; then
  target=$host
elif [ -z "$target" ]; then
  target=$host
  if command -v musl-gcc >/dev/null && [ -d "$(rustc --print sysroot)/lib/rustlib/$musl" ]; then
    target=$musl
  else
    echo "note: no musl toolchain (see the head of this script); the binaries will need the glibc of this machine" >&2
  fi
fi
case $target in *-musl) export CC_x86_64_unknown_linux_musl=${CC_x86_64_unknown_linux_musl:-musl-gcc} ;; esac

out=$built
if [ -z "$built" ]; then
  cargo build --release --locked --target "$target" -p lyra -p lyra-ml-server
  out=$(cargo metadata --format-version 1 --no-deps --locked | python3 -c 'import json,sys; print(json.load(sys.stdin)["target_directory"])')/$target/release
fi
version=$("$out/lyra" --version | cut -d' ' -f2)
name=lyra-$version-$target
rm -rf dist && mkdir -p "dist/$name"/{bin,models,man,completions}

for binary in lyra lyra-ml-server; do
  cp "$out/$binary" "dist/$name/bin/"
  strip "dist/$name/bin/$binary"
done
cp models/lite-{embed,verify}.{gguf,md} models/README.md "dist/$name/models/"
cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE config/lyra.toml "dist/$name/"
cp -r docs "dist/$name/"
lyra=dist/$name/bin/lyra
"$lyra" man "dist/$name/man" 2>/dev/null
for shell in bash zsh fish elvish powershell; do "$lyra" completions "$shell" >"dist/$name/completions/lyra.$shell"; done
tar -C dist -czf "dist/$name.tar.gz" "$name"

scripts/mcpb.sh "$lyra" "$version" "dist/$name.mcpb"
scripts/wheel.py "dist/$name" dist
scripts/npm.py "dist/$name" dist
scripts/deb.sh "dist/$name" dist
# The registry requires the bundle's URL and hash; the packages of other registries go by their versions.
python3 - "$version" "$name" <<'PY'
import hashlib, json, sys
version, name = sys.argv[1:]
server = json.load(open("packaging/server.json"))
server["version"] = version
with open(f"dist/{name}.mcpb", "rb") as bundle:
    digest = hashlib.sha256(bundle.read()).hexdigest()
for package in server["packages"]:
    package["version"] = version
server["packages"].insert(0, {
    "registryType": "mcpb",
    "identifier": f"{server['repository']['url']}/releases/download/v{version}/{name}.mcpb",
    "fileSha256": digest,
    "transport": {"type": "stdio"},
})
json.dump(server, open("dist/server.json", "w"), indent=2)
PY
(cd dist && sha256sum ./*.tar.gz ./*.whl ./*.tgz ./*.deb ./*.mcpb >SHA256SUMS)

echo "== $target"
for binary in lyra lyra-ml-server; do
  linked=$(ldd "dist/$name/bin/$binary" 2>&1 | grep -qE 'not a dynamic|statically' && echo static || echo "needs glibc $(objdump -T "dist/$name/bin/$binary" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1 | cut -d_ -f2)")
  printf '%-16s %6.1f MB, %s\n' "$binary" "$(stat -c %s "dist/$name/bin/$binary" | awk '{print $1/1e6}')" "$linked"
done
for file in dist/*.tar.gz dist/*.whl dist/*.tgz dist/*.deb dist/*.mcpb; do
  printf '%-80s %6.1f MB\n' "$(basename "$file")" "$(stat -c %s "$file" | awk '{print $1/1e6}')"
done
