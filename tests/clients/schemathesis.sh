#!/usr/bin/env bash
# Sends requests that Schemathesis generates from the OpenAPI description to the JSON API of a running `lyra serve`, and
# checks every answer against the description: status, content type, shape, and that nothing is a server's defect.
# Needs Python with venv; Schemathesis is installed into target/schemathesis on first use.
#
#   LYRA_BIN             the binary; default: target/debug/lyra, which is built if it is missing
#   LYRA_API_EXAMPLES    requests that are generated for each operation; default: 10
#
# Left out: the stream of events, which does not end; what asks outside sources, starts models, or imports a file
# beside another import of its corpus, which is refused with 503; a search of several lanes, which answers for each of them
# by itself; and the check that what the description allows is taken:
# no description says which cursors, keys, and statements are valid.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
cd "$here/../.."

skip() {
  echo "skipped: $*"
  exit 0
}

command -v python3 >/dev/null || skip "python3 is not installed"
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
tools="$target/schemathesis"
suite="schemathesis==4.32.5"
if [ ! -x "$tools/bin/schemathesis" ]; then
  python3 -m venv "$tools" || skip "python3 has no venv (Debian: apt-get install python3-venv)"
  "$tools/bin/pip" install --quiet --disable-pip-version-check "$suite" ||
    { rm -rf "$tools"; skip "$suite cannot be installed"; }
fi

lyra="${LYRA_BIN:-$target/debug/lyra}"
[ -x "$lyra" ] || cargo build --workspace --features "${LYRA_FEATURES:-lyra/conformance}" --locked --bin lyra
data="$(mktemp -d)"
export LYRA_MODELS_DIR="${LYRA_MODELS_DIR:-$PWD/models}" LYRA__SOURCES__DEFAULT=corpora
"$lyra" --data-dir "$data" serve --port 0 2>"$data/log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; rm -rf "$data"' EXIT
for _ in $(seq 300); do
  address="$(grep -o 'http://[^ ]*/mcp' "$data/log" | head -1 || true)"
  [ -n "$address" ] && break
  sleep 0.1
done
[ -n "$address" ] || { echo "the server did not start:"; cat "$data/log"; exit 1; }

cd "$data"
"$tools/bin/schemathesis" run "${address%/mcp}/api/v1/openapi.json" \
  --phases coverage,fuzzing --max-examples "${LYRA_API_EXAMPLES:-10}" --seed 2026 --warnings off --no-color \
  --continue-on-failure --suppress-health-check all \
  --exclude-operation-id-regex '^(listen|examine|test_sources|create_task|queue_searches|resume_task|import_file|search_lanes)$' \
  --exclude-checks positive_data_acceptance
kill -0 "$server" || { echo "the server is gone:"; cat "$data/log"; exit 1; }
