#!/usr/bin/env bash
# Tests the workbench in a real browser, over a real server: type-checks its modules, then runs the flows.
#
#   tests/browser/run.sh [WORD...]      all flows, or those whose file names contain one of these words
#
# Needs Node 20.10 or later, npm, and Chromium; it skips with a reason without them. Packages, seeded data folders, and
# pictures of pages go into target/browser. Like the cross-process tests, it runs the `lyra` of the target folder, and
# builds one only if that is missing.
#
#   LYRA_CHROMIUM    the browser; default: chromium, chromium-browser, or google-chrome
#   LYRA_BIN         the binary; default: target/debug/lyra
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
cd "$here/../.."

skip() {
  echo "skipped: $*"
  exit 0
}

for program in node npm; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done
node -e 'const [major, minor] = process.versions.node.split("."); process.exit(major * 100 + +minor >= 2010 ? 0 : 1)' ||
  skip "Node $(node --version) is older than 20.10"
chromium="${LYRA_CHROMIUM:-}"
for name in chromium chromium-browser google-chrome; do
  [ -n "$chromium" ] || chromium="$(command -v "$name" || true)"
done
[ -n "$chromium" ] || skip "Chromium is not installed (Debian: apt-get install chromium)"
[ -x "$chromium" ] || skip "LYRA_CHROMIUM=$chromium is not a program"

target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
tools="$target/browser"
mkdir -p "$tools"
if ! cmp -s "$here/package-lock.json" "$tools/installed.json"; then
  cp "$here/package.json" "$here/package-lock.json" "$tools/"
  npm ci --prefix "$tools" --no-audit --no-fund --loglevel error || skip "npm cannot install what package.json names"
  cp "$here/package-lock.json" "$tools/installed.json"
fi

shopt -s nullglob
modules=(orchestrator/crates/workbench/assets/*.js)
if [ ${#modules[@]} -gt 0 ]; then
  echo "== types of ${#modules[@]} modules"
  "$tools/node_modules/.bin/tsc" --allowJs --checkJs --noEmit --strict --target es2023 --lib es2023,dom,dom.iterable \
    --module esnext --moduleResolution bundler "${modules[@]}"
fi

export LYRA_BIN="${LYRA_BIN:-$target/debug/lyra}"
if [ ! -x "$LYRA_BIN" ]; then
  cargo build --workspace --features "${LYRA_FEATURES:-lyra/conformance}" --locked --bin lyra
fi
export LYRA_BROWSER_TOOLS="$tools" LYRA_CHROMIUM="$chromium"
# Models are found beside the repository, wherever the target folder is.
export LYRA_MODELS_DIR="${LYRA_MODELS_DIR:-$PWD/models}"
node "$here/support/seed.mjs"

flows=("$here"/flows/*.test.mjs)
if [ $# -gt 0 ]; then
  flows=()
  for word in "$@"; do
    flows+=("$here"/flows/*"$word"*.test.mjs)
  done
  [ ${#flows[@]} -gt 0 ] || { echo "no flow is named so: $*"; exit 1; }
fi
echo "== flows"
node --test --test-concurrency=1 --test-reporter=spec "${flows[@]}"
