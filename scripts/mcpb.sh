#!/usr/bin/env bash
# Packs a binary of lyra, the lite models and packaging/mcpb/manifest.json into an .mcpb bundle, which clients such as Claude
# Desktop install by opening it.
#
#   scripts/mcpb.sh BINARY VERSION OUT.mcpb
set -euo pipefail
cd "$(dirname "$0")/.."
binary=${1:?usage: scripts/mcpb.sh BINARY VERSION OUT.mcpb} version=${2:?} out=${3:?}
python3 - "$binary" "$version" "$out" <<'PY'
import json, sys, zipfile
binary, version, out = sys.argv[1:]
manifest = json.load(open("packaging/mcpb/manifest.json"))
manifest["version"] = version
def entry(name, data, mode=0o644):
    info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))  # reproducible: the same contents give the same file
    info.external_attr = (0o100000 | mode) << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    bundle.writestr(info, data)
with zipfile.ZipFile(out, "w") as bundle:
    entry("manifest.json", json.dumps(manifest, indent=2))
    entry("icon.png", open("packaging/icon.png", "rb").read())
    entry("server/lyra", open(binary, "rb").read(), 0o755)
    for name in ["lite-embed.gguf", "lite-verify.gguf", "lite-embed.md", "lite-verify.md"]:
        entry(f"models/{name}", open(f"models/{name}", "rb").read())
    for name in ["LICENSE-MIT", "LICENSE-APACHE"]:
        entry(name, open(name, "rb").read())
PY
